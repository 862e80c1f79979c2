package storm

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// The laws of this package are those of the library: in a random state of a
// random universe, the plans that are lawful here are those that the auditor
// finds nothing to say against.
func TestLawsOfTheLibrary(t *testing.T) { rapid.Check(t, propertyLaws) }

func FuzzLawsOfTheLibrary(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertyLaws)) }

func propertyLaws(t *rapid.T) {
	u := drawUniverse(t)
	w := u.world()
	valid := func(state int) bool { return w.set(state) }
	state := rapid.IntRange(0, w.states()-1).Filter(valid).Draw(t, "state")
	w.set(state)
	ask := slices.Index(w.place, -1)
	if ask < 0 {
		return
	}
	c := clusterOf(t, w)
	for _, second := range []bool{false, true} {
		if second && u.Rules.OwnLeaf == Never {
			continue
		}
		q := w.ask(ask)
		q.second = second
		for node := range u.Nodes {
			var got []string
			q.there = where{}
			q.there[node] = 1 << ask
			if !q.refused() {
				for _, p := range q.plans(nil) {
					got = append(got, fmt.Sprintf("%b", p.victims))
				}
			}
			want := c.lawful(t, w, ask, node, second)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%+v: state %v, task %d on node %d, second %t: lawful plans (-library +here):\n%s",
					*u, w.place, ask, node, second, diff)
			}
		}
	}
}

// drawUniverse draws a universe with a little of everything.
func drawUniverse(t *rapid.T) *Universe {
	few := func(label string, least, most int) int { return rapid.IntRange(least, most).Draw(t, label) }
	types := few("types", 1, 2)
	bounds := func(label string, least, most int) (list []int) {
		for range types {
			list = append(list, few(label, least, most))
		}
		return list
	}
	u := &Universe{
		Queues: []Queue{{}, {}, {Parent: 1}, {Parent: 1}, {}},
		Rules:  Rules{OwnLeaf: OwnLeaf(few("own leaf", 0, 2))},
	}
	for q := range u.Queues {
		u.Queues[q].Guaranteed = bounds("guaranteed", -2, 5)
		if few("bounded", 0, 2) == 0 {
			u.Queues[q].Max = bounds("max", 3, 9)
			for i, m := range u.Queues[q].Max { // the library takes no larger guarantee
				u.Queues[q].Guaranteed[i] = min(u.Queues[q].Guaranteed[i], m)
			}
		}
		u.Queues[q].Fence = few("fence", 0, 3) == 0
		u.Queues[q].Offset = few("offset", -1, 1)
	}
	for range few("nodes", 1, 2) {
		u.Nodes = append(u.Nodes, bounds("capacity", 1, 8))
	}
	for range few("tasks", 2, 6) {
		u.Tasks = append(u.Tasks, Task{
			Leaf: few("leaf", 2, 4), Size: bounds("size", 0, 3), Priority: few("priority", 0, 2),
			Job: max(0, few("job", -2, 2)),
		})
	}
	u.Minimum = []int{0, few("minimum", 0, 3), few("minimum", 0, 3)}
	u.Together = make([]bool, 3)
	return u
}

// drawLowered lets the max of a queue be lowered, or of two.
func (u *Universe) drawLowered(t *rapid.T) {
	for range rapid.IntRange(0, 2).Draw(t, "quotas") {
		q := &u.Queues[rapid.IntRange(0, len(u.Queues)-1).Draw(t, "lowered queue")]
		q.Lowered = nil
		for i := range u.Tasks[0].Size {
			q.Lowered = append(q.Lowered, max(0, amount(q.Guaranteed, i, 0), rapid.IntRange(-1, 4).Draw(t, "lowered to")))
		}
	}
}

// together makes the first job one whose members start together: of one leaf and
// one priority.
func (u *Universe) together() {
	u.Together[1] = true
	for i := range u.Tasks {
		for j := range i {
			if u.Tasks[i].Job == 1 && u.Tasks[j].Job == 1 {
				u.Tasks[i].Leaf, u.Tasks[i].Priority = u.Tasks[j].Leaf, u.Tasks[j].Priority
			}
		}
	}
}

// library is a state of a universe as a cluster.
type library struct{ auditor victims.Auditor }

// treeOf returns the queues of a universe as the library has them. Weights are by
// queue; nil: all are 1.
func treeOf(t *rapid.T, u *Universe, weights []int) *queue.Tree {
	schema, err := resources.NewSchema([]string{"a", "b"}[:max(1, len(u.Nodes[0]))]...)
	if err != nil {
		t.Fatal(err)
	}
	limit := func(list []int) (l resources.Limit) {
		l.Value = make(resources.Vector, schema.Len())
		for i, v := range list {
			if v >= 0 {
				l.Value[i], l.Defined = int64(v), l.Defined.With(i)
			}
		}
		return l
	}
	var config func(q int) queue.Config
	config = func(q int) queue.Config {
		of := &u.Queues[q]
		c := queue.Config{
			Name: strconv.Itoa(q), Guaranteed: limit(of.Guaranteed), Max: limit(of.Max),
			Properties: map[string]string{"priority.offset": strconv.Itoa(of.Offset)},
		}
		if of.Fence {
			c.Properties["priority.policy"] = "fence"
		}
		if weights != nil {
			c.Properties[queue.PropertyFairWeight] = strconv.Itoa(weights[q])
		}
		for child := q + 1; child < len(u.Queues); child++ {
			if u.Queues[child].Parent == q {
				c.Children = append(c.Children, config(child))
			}
		}
		if q == 0 {
			c.Name = "root"
		}
		return c
	}
	tree, err := queue.New(schema, config(0), queue.Lenient)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func clusterOf(t *rapid.T, w *world) *library {
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	tree := treeOf(t, w.Universe, nil)
	c := victims.NewCluster(tree)
	for n, capacity := range w.Nodes {
		_, err := c.AddNode(&victims.Node{Name: strconv.Itoa(n), Capacity: amountsOf(capacity)})
		must(err)
	}
	for i, task := range w.Tasks {
		if n := w.place[i]; n >= 0 {
			_, err := c.AddTask(&victims.Task{
				Key: strconv.Itoa(i), Queue: leafOf(w, tree, task.Leaf), Node: victims.NodeID(n), Size: amountsOf(task.Size),
				Priority: int32(task.Priority), Job: jobOf(task.Job),
			})
			must(err)
		}
	}
	return &library{victims.Auditor{Cluster: c, Minimum: func(job string) int {
		n, _ := strconv.Atoi(job)
		return w.Minimum[n]
	}}}
}

func jobOf(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func amountsOf(list []int) (v resources.Vector) {
	for _, n := range list {
		v = append(v, int64(n))
	}
	return v
}

func leafOf(w *world, tree *queue.Tree, q int) queue.ID {
	path := ""
	for _, up := range w.above[q] {
		if up > 0 {
			path = "." + strconv.Itoa(up) + path
		}
	}
	id, _ := tree.Lookup("root" + path)
	return id
}

// lawful returns the lawful plans with victims, as sets of tasks.
func (l *library) lawful(t *rapid.T, w *world, ask, node int, second bool) (sets []string) {
	l.auditor.OwnLeaf = victims.OwnNever
	if second {
		l.auditor.OwnLeaf = map[OwnLeaf]victims.OwnLeaf{Met: victims.OwnMet, Any: victims.OwnAny}[w.Rules.OwnLeaf]
	}
	c := l.auditor.Cluster
	task := &w.Tasks[ask]
	for set := uint64(1); set < 1<<len(w.Tasks); set++ {
		if set&^w.running != 0 {
			continue
		}
		p := &victims.Plan{Node: victims.NodeID(node), Ask: victims.Ask{
			Key: "ask", Queue: leafOf(w, c.Tree(), task.Leaf), Size: amountsOf(task.Size), Priority: int32(task.Priority),
		}}
		for left := set; left != 0; left &= left - 1 {
			key := strconv.Itoa(bits.TrailingZeros64(left))
			id, ok := c.Lookup(key)
			if !ok {
				t.Fatalf("no task %s", key)
			}
			p.Victims = append(p.Victims, victims.Victim{Task: id, Key: key})
		}
		if l.auditor.Audit(nil, p, time.Unix(0, 0)) == nil {
			sets = append(sets, fmt.Sprintf("%b", set))
		}
	}
	return sets
}
