// SPDX-License-Identifier: Apache-2.0

package queue_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// company is the tree of the examples: two teams share a cluster of 20 cpu, and
// a third one takes what is left.
func company(schema *resources.Schema) *queue.Tree {
	tree, err := queue.New(schema, queue.Config{
		Name: "root", Max: limit(schema, "20"),
		Children: []queue.Config{
			{Name: "web", Guaranteed: limit(schema, "10"), Children: []queue.Config{
				{Name: "shop"},
				{Name: "blog", Guaranteed: limit(schema, "2"), Max: limit(schema, "4")},
			}},
			{Name: "data", Guaranteed: limit(schema, "8")},
			{Name: "spare"},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	return tree
}

func cpu() *resources.Schema {
	schema, err := resources.NewSchema("cpu")
	if err != nil {
		log.Fatal(err)
	}
	return schema
}

func limit(schema *resources.Schema, amount string) resources.Limit {
	l, err := schema.ParseLimit("cpu=" + amount)
	if err != nil {
		log.Fatal(err)
	}
	return l
}

func use(tree *queue.Tree, path, amount string) {
	leaf, ok := tree.Lookup(path)
	if !ok {
		log.Fatal("no queue ", path)
	}
	size, err := tree.Schema().Parse("cpu=" + amount)
	if err != nil {
		log.Fatal(err)
	}
	if err := tree.Add(leaf, size); err != nil {
		log.Fatal(err)
	}
}

// What runs, what leaves, and what that means at every level.
func Example() {
	tree := company(cpu())
	use(tree, "root.web.shop", "7")
	use(tree, "root.spare", "6500m")

	spare, _ := tree.Lookup("root.spare")
	if err := tree.Mark(spare, resources.Vector{500}); err != nil {
		log.Fatal(err)
	}
	fmt.Print(tree)
	// Output:
	// root     used cpu=13.5 leaving cpu=0.5 max cpu=20
	//   web    used cpu=7 guaranteed cpu=10
	//     shop used cpu=7
	//     blog used none guaranteed cpu=2 max cpu=4
	//   data   used none guaranteed cpu=8
	//   spare  used cpu=6.5 leaving cpu=0.5
}

// Properties are spelled as YuniKorn's configuration spells them. The tree warns
// of a value that it cannot read, and of guarantees that cannot all be kept.
func ExampleNew() {
	schema := cpu()
	tree, err := queue.NewLenient(schema, queue.Config{
		Name: "root", Guaranteed: limit(schema, "10"),
		Children: []queue.Config{
			{
				Name: "tenant", Guaranteed: limit(schema, "8"),
				Properties: map[string]string{
					"preemption.policy":       "fence",
					"preemption.delay":        "5m",
					"priority.policy":         "fence",
					"priority.offset":         "100",
					"application.sort.policy": "fifo",
				},
				Children: []queue.Config{{Name: "batch", Guaranteed: limit(schema, "8"), Properties: map[string]string{
					"preemption.delay": "soon",
				}}},
			},
			{
				Name: "system", Guaranteed: limit(schema, "4"),
				Properties: map[string]string{"preemption.policy": "disabled"},
			},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	for q := range queue.ID(tree.Len()) {
		p := tree.Policies(q)
		fmt.Printf("%s: preemption %s after %v, priority %s %+d\n", tree.Path(q),
			p.Preemption, *p.PreemptionDelay, p.PriorityFence, *p.PriorityOffset)
	}
	for _, warning := range tree.Warnings() {
		fmt.Println(warning)
	}
	// Output:
	// root: preemption default after 30s, priority default +0
	// root.tenant: preemption fence after 5m0s, priority fence +100
	// root.tenant.batch: preemption default after 30s, priority default +0
	// root.system: preemption disabled after 30s, priority default +0
	// queue: root: over-committed: cpu: children are guaranteed 12 of the guaranteed 10
	// queue: root.tenant.batch: bad property: preemption.delay "soon": want a duration, 0 or above; it counts as 30s
}

// All problems are reported at once, and each names its queue.
func ExampleNew_problems() {
	schema := cpu()
	_, err := queue.New(schema, queue.Config{
		Name: "root", Max: limit(schema, "20"),
		Children: []queue.Config{
			{Name: "web", Guaranteed: limit(schema, "12"), Max: limit(schema, "10")},
			{Name: "data.lake", Max: limit(schema, "30")},
		},
	})
	fmt.Println(err)

	fmt.Println(errors.Is(err, queue.ErrConfig))
	// Output:
	// queue: root: over-committed: cpu: max 30 of child "data.lake" is above the max 20
	// queue: root.web: guaranteed above max: cpu: guaranteed 12, max 10
	// queue: root.data.lake: bad name: "data.lake" contains a dot
	// true
}

// The surplus of a queue is what others may ask back.
func ExampleTree_Surplus() {
	tree := company(cpu())
	use(tree, "root.web.blog", "3")
	use(tree, "root.data", "6")
	use(tree, "root.spare", "5")
	for q := range tree.Children(queue.Root) {
		fmt.Println(tree.Path(q), tree.Schema().Format(tree.Surplus(nil, q)))
	}
	blog, _ := tree.Lookup("root.web.blog")
	fmt.Println(tree.Path(blog), tree.Schema().Format(tree.Surplus(nil, blog)))
	// Output:
	// root.web none
	// root.data none
	// root.spare cpu=5
	// root.web.blog cpu=1
}

// The headroom of a queue is the least room under a max of its path.
func ExampleTree_Headroom() {
	tree := company(cpu())
	use(tree, "root.web.blog", "1")
	use(tree, "root.data", "17500m")
	for _, path := range []string{"root.web.shop", "root.web.blog", "root.data"} {
		q, _ := tree.Lookup(path)
		room := tree.Headroom(resources.Limit{}, q)
		fmt.Println(path, tree.Schema().FormatLimit(room))
	}

	// Once a max is lowered below what is used, there is less than no room.
	blog, _ := tree.Lookup("root.web.blog")
	if err := tree.SetGuaranteed(blog, resources.Limit{}); err != nil {
		log.Fatal(err)
	}
	if err := tree.SetMax(blog, limit(tree.Schema(), "500m")); err != nil {
		log.Fatal(err)
	}
	fmt.Println("lowered:", tree.Schema().FormatLimit(tree.Headroom(resources.Limit{}, blog)))
	// Output:
	// root.web.shop cpu=1.5
	// root.web.blog cpu=1.5
	// root.data cpu=1.5
	// lowered: cpu=-0.5
}

// The governing queue of a type is the nearest one upwards that guarantees it.
func ExampleTree_Governing() {
	tree := company(cpu())
	for leaf := range tree.Leaves(queue.Root) {
		if q, ok := tree.Governing(leaf, 0); ok {
			fmt.Println(tree.Path(leaf), "is governed by", tree.Path(q))
		} else {
			fmt.Println(tree.Path(leaf), "is guaranteed nothing")
		}
	}
	// Output:
	// root.web.shop is governed by root.web
	// root.web.blog is governed by root.web.blog
	// root.data is governed by root.data
	// root.spare is guaranteed nothing
}

// Only leaves hold tasks.
func ExampleTree_Leaves() {
	tree := company(cpu())
	web, _ := tree.Lookup("root.web")
	for leaf := range tree.Leaves(web) {
		fmt.Println(leaf, tree.Path(leaf))
	}
	// Output:
	// 2 root.web.shop
	// 3 root.web.blog
}

// What leaves is usage until it is gone, and no longer counts as effective.
func ExampleTree_Mark() {
	tree := company(cpu())
	use(tree, "root.data", "9")
	data, _ := tree.Lookup("root.data")
	size := resources.Vector{2000}

	if err := tree.Mark(data, size); err != nil {
		log.Fatal(err)
	}
	show := func(when string) {
		s := tree.Schema()
		fmt.Printf("%s: used %s, effective %s\n", when, s.Format(tree.Usage(data)), s.Format(tree.Effective(nil, data)))
	}
	show("leaving")
	if err := tree.Remove(data, tree.Usage(data)); err != nil {
		fmt.Println(err)
	}
	if err := errors.Join(tree.Unmark(data, size), tree.Remove(data, size)); err != nil {
		log.Fatal(err)
	}
	show("gone")
	// Output:
	// leaving: used cpu=9, effective cpu=7
	// queue: root.data: bad amount: cpu 9 where 9 are used and 2 of them leave
	// gone: used cpu=7, effective cpu=7
}

// Iterators follow the path up and the tree down.
func ExampleTree_Ancestors() {
	tree := company(cpu())
	blog, _ := tree.Lookup("root.web.blog")
	for q := range tree.Ancestors(blog) {
		fmt.Println(tree.Path(q))
	}
	// Output:
	// root.web.blog
	// root.web
	// root
}

func ExampleTree_CommonAncestor() {
	tree := company(cpu())
	shop, _ := tree.Lookup("root.web.shop")
	for _, path := range []string{"root.web.blog", "root.data"} {
		q, _ := tree.Lookup(path)
		fmt.Println(path, tree.Path(tree.CommonAncestor(shop, q)))
	}
	// Output:
	// root.web.blog root.web
	// root.data root
}

// A max may be lowered below what is used, but not below what is guaranteed. An
// error leaves the tree as it was.
func ExampleTree_SetMax() {
	tree := company(cpu())
	use(tree, "root.web.blog", "4")
	blog, _ := tree.Lookup("root.web.blog")
	for _, amount := range []string{"3", "1"} {
		err := tree.SetMax(blog, limit(tree.Schema(), amount))
		fmt.Println(amount, err == nil, tree.Schema().FormatLimit(tree.Max(blog)))
	}
	// Output:
	// 3 true cpu=3
	// 1 false cpu=3
}
