// SPDX-License-Identifier: Apache-2.0

package koordinator_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "github.com/go-preempt/preempt/internal/law" // draws the same cases in every run
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/jobs/koordinator"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// tree has the queues root, root.a, root.a.1 and root.b, and the type gpu.
func tree(t require.TestingT) *queue.Tree {
	schema, err := resources.NewSchema("gpu")
	require.NoError(t, err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "a", Children: []queue.Config{{Name: "1"}}}, {Name: "b"},
	}}, queue.Strict)
	require.NoError(t, err)
	return tree
}

// leaf returns the queue of a path.
func leaf(t require.TestingT, c *victims.Cluster, path string) queue.ID {
	q, ok := c.Tree().Lookup(path)
	require.True(t, ok, path)
	return q
}

// seedBytes gives a fuzzer enough bytes to draw whole cases from.
func seedBytes(f *testing.F) {
	for i := range byte(4) {
		seed := make([]byte, 1<<14)
		rand.NewChaCha8([32]byte{i}).Read(seed)
		f.Add(seed)
	}
}

// evictionPlan is a plan with a victim of each kind, and the cluster it is for:
// job j of root.b places j-1 and j-3 on n1, and j-2 on n2.
func evictionPlan(t require.TestingT) (*victims.Cluster, *jobs.Plan) {
	c := victims.NewCluster(tree(t))
	var nodes []victims.NodeID
	for _, name := range []string{"n1", "n2"} {
		id, err := c.AddNode(&victims.Node{Name: name})
		require.NoError(t, err)
		nodes = append(nodes, id)
	}
	p := &jobs.Plan{
		Job: jobs.Job{
			Name: "j", Application: "app-j", Queue: leaf(t, c, "root.b"), Priority: 100,
			Members: []jobs.Member{{Key: "j-0"}, {Key: "j-1"}, {Key: "j-2"}, {Key: "j-3"}, {Key: "j-4"}},
		},
		// j-0 runs already, and j-4 is beyond the minimum.
		Placements: []jobs.Placement{
			{Member: 1, Node: nodes[0]}, {Member: 2, Node: nodes[1]}, {Member: 3, Node: nodes[0]},
			{Member: 4, Node: nodes[0], Further: true},
		},
	}
	for _, v := range []struct {
		victims.Victim
		node     int
		priority int32
	}{
		{Victim: victims.Victim{Key: "g-0", Job: "g", Whole: true, ForNode: true}, node: 0, priority: -1},
		{Victim: victims.Victim{Key: "g-1", Job: "g", Whole: true}, node: 1, priority: -1},
		{Victim: victims.Victim{Key: "h-2", Job: "h", ForNode: true, ForHeadroom: true, ForQuota: true}, node: 1},
		{Victim: victims.Victim{Key: "x", ForQuota: true}, node: 0, priority: 7},
	} {
		id, err := c.AddTask(&victims.Task{
			Key: v.Key, Queue: leaf(t, c, "root.a.1"), Node: nodes[v.node], Size: resources.Vector{1}, Priority: v.priority, Job: v.Job,
		})
		require.NoError(t, err)
		v.Task = id
		p.Victims = append(p.Victims, v.Victim)
	}
	return c, p
}

func TestEvictions(t *testing.T) {
	c, p := evictionPlan(t)
	job := koordinator.Preemptor{Job: "j", Application: "app-j", Queue: "root.b", Priority: 100}
	with := func(members ...string) koordinator.Preemptor {
		p := job
		p.Members = members
		return p
	}
	want := []koordinator.Eviction{
		{
			Task: "g-0", Queue: "root.a.1", Node: "n1", Priority: -1, Job: "g", Preemptor: with("j-1", "j-3"),
			Causes: []string{"node", "job"},
		},
		{
			Task: "g-1", Queue: "root.a.1", Node: "n2", Priority: -1, Job: "g", Preemptor: job,
			Causes: []string{"job"},
		},
		{
			Task: "h-2", Queue: "root.a.1", Node: "n2", Job: "h", Preemptor: with("j-2"),
			Causes: []string{"node", "headroom", "quota"},
		},
		{Task: "x", Queue: "root.a.1", Node: "n1", Priority: 7, Preemptor: job, Causes: []string{"quota"}},
	}
	got := koordinator.Evictions(p, c, "")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
}

// TestEviction_JSON holds the names of fields to what others read.
func TestEviction_JSON(t *testing.T) {
	c, p := evictionPlan(t)
	for i, want := range []string{
		`{"task":"g-0","queue":"root.a.1","node":"n1","priority":-1,"job":"g","preemptor":{"job":"j","application":"app-j",` +
			`"queue":"root.b","priority":100,"members":["j-1","j-3"]},"causes":["node","job"]}`,
		`{"task":"g-1","queue":"root.a.1","node":"n2","priority":-1,"job":"g","preemptor":{"job":"j","application":"app-j",` +
			`"queue":"root.b","priority":100},"causes":["job"]}`,
		`{"task":"h-2","queue":"root.a.1","node":"n2","priority":0,"job":"h","preemptor":{"job":"j","application":"app-j",` +
			`"queue":"root.b","priority":100,"members":["j-2"]},"causes":["node","headroom","quota"]}`,
		`{"task":"x","queue":"root.a.1","node":"n1","priority":7,"preemptor":{"job":"j","application":"app-j",` +
			`"queue":"root.b","priority":100},"causes":["quota"]}`,
	} {
		text, err := json.Marshal(koordinator.Evictions(p, c, "")[i])
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}
}

func TestEviction_RoundTrip(t *testing.T) { rapid.Check(t, evictionComesBack) }

func FuzzEviction(f *testing.F) {
	seedBytes(f)
	f.Fuzz(rapid.MakeFuzz(evictionComesBack))
}

// evictionComesBack: what was written is read back as it was, and prints on one
// line.
func evictionComesBack(t *rapid.T) {
	name := rapid.StringOf(rapid.Rune().Filter(utf8.ValidRune))
	e := koordinator.Eviction{
		Task: name.Draw(t, "task"), Queue: name.Draw(t, "queue"), Node: name.Draw(t, "node"),
		Priority: rapid.Int32().Draw(t, "priority"), Job: name.Draw(t, "job"),
		Preemptor: koordinator.Preemptor{
			Job: name.Draw(t, "preemptor"), Application: name.Draw(t, "application"), Queue: name.Draw(t, "its queue"),
			Priority: rapid.Int32().Draw(t, "its priority"),
		},
		Causes: rapid.SliceOfN(rapid.SampledFrom([]string{
			"node", "headroom", "quota", "job",
		}), 1, 4).Draw(t, "causes"),
		Way: rapid.SampledFrom([]string{"", "label", "delete"}).Draw(t, "way"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		e.Preemptor.Members = append(e.Preemptor.Members, name.Draw(t, "member"))
	}
	text, err := json.Marshal(&e)
	if err != nil {
		t.Fatal(err)
	}
	var back koordinator.Eviction
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e, back); diff != "" {
		t.Fatalf("%s comes back as (-want +got):\n%s", text, diff)
	}
	for _, r := range e.String() {
		if r < ' ' {
			t.Fatalf("%q has a control character", e.String())
		}
	}
}

func TestEviction_String(t *testing.T) {
	c, p := evictionPlan(t)
	for i, want := range []string{
		"g-0 is preempted by job j of root.b (priority 100): room on node n1 for j-1, j-3; its job g goes whole",
		"g-1 is preempted by job j of root.b (priority 100): its job g goes whole",
		"h-2 is preempted by job j of root.b (priority 100): room on node n2 for j-2; room under the max of a queue; room under the max of a quota",
		"x is preempted by job j of root.b (priority 100): room under the max of a quota",
	} {
		require.Equal(t, want, koordinator.Evictions(p, c, "")[i].String())
	}
	foreign := koordinator.Eviction{Task: "t", Preemptor: koordinator.Preemptor{Job: "j", Queue: "root"}, Causes: []string{"moon phase"}}
	require.Equal(t, `t is preempted by job j of root (priority 0): "moon phase"`, foreign.String())
}

func ExampleEvictions() {
	cluster, plan := evictionPlan(check{})
	for _, e := range koordinator.Evictions(plan, cluster, koordinator.Options{}.Way())[3:] {
		text, err := json.MarshalIndent(e, "", "  ")
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: %s\n%s\n", koordinator.LabelSoftEviction, text, &e)
	}
	// Output:
	// scheduling.koordinator.sh/soft-eviction: {
	//   "task": "x",
	//   "queue": "root.a.1",
	//   "node": "n1",
	//   "priority": 7,
	//   "preemptor": {
	//     "job": "j",
	//     "application": "app-j",
	//     "queue": "root.b",
	//     "priority": 100
	//   },
	//   "causes": [
	//     "quota"
	//   ],
	//   "way": "label"
	// }
	// x is preempted by job j of root.b (priority 100): room under the max of a quota
}

// check stands in for a test where there is none.
type check struct{}

func (check) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (check) FailNow()                          { panic("failed") }
