// SPDX-License-Identifier: Apache-2.0

package koordinator_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "github.com/go-preempt/preempt/internal/judge/law" // draws the same cases in every run
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
	}})
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
func evictionPlan(t require.TestingT) (*victims.Cluster, *victims.Plan) {
	c := victims.NewCluster(tree(t))
	var nodes []victims.NodeID
	for _, name := range []string{"n1", "n2"} {
		id, err := c.AddNode(&victims.Node{Name: name})
		require.NoError(t, err)
		nodes = append(nodes, id)
	}
	p := &victims.Plan{
		Ask: victims.Ask{
			Key: "j", Application: "app-j", Queue: leaf(t, c, "root.b"), Priority: 100,
			Members: []victims.Member{{Key: "j-0"}, {Key: "j-1"}, {Key: "j-2"}, {Key: "j-3"}, {Key: "j-4"}},
		},
		// j-0 runs already, and j-4 is beyond the minimum.
		Places: []victims.Place{
			{Member: 1, Node: nodes[0]}, {Member: 2, Node: nodes[1]}, {Member: 3, Node: nodes[0]},
			{Member: 4, Node: nodes[0], Extra: true},
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

// TestEviction_JSON holds the names of fields to what others read.
func TestEviction_JSON(t *testing.T) {
	c, p := evictionPlan(t)
	for i, want := range []string{
		`{"task":"g-0","queue":"root.a.1","node":"n1","priority":-1,"job":"g","preemptor":{"job":"j","application":"app-j",` +
			`"queue":"root.b","priority":100,"members":["j-1","j-3"]},"causes":["node","job"],"way":"label"}`,
		`{"task":"g-1","queue":"root.a.1","node":"n2","priority":-1,"job":"g","preemptor":{"job":"j","application":"app-j",` +
			`"queue":"root.b","priority":100},"causes":["job"],"way":"label"}`,
		`{"task":"h-2","queue":"root.a.1","node":"n2","priority":0,"job":"h","preemptor":{"job":"j","application":"app-j",` +
			`"queue":"root.b","priority":100,"members":["j-2"]},"causes":["node","headroom","quota"],"way":"label"}`,
		`{"task":"x","queue":"root.a.1","node":"n1","priority":7,"preemptor":{"job":"j","application":"app-j",` +
			`"queue":"root.b","priority":100},"causes":["quota"],"way":"label"}`,
	} {
		require.Equal(t, want, koordinator.Options{}.Evictions(p, c)[i].Text)
	}
}

func TestEviction_AnyName(t *testing.T) { rapid.Check(t, evictionHolds) }

func FuzzEviction(f *testing.F) {
	seedBytes(f)
	f.Fuzz(rapid.MakeFuzz(evictionHolds))
}

// evictionHolds: whatever names are, the text has them, and the sentence is one line.
func evictionHolds(t *rapid.T) {
	c, p := evictionPlan(t)
	name := rapid.StringOf(rapid.Rune().Filter(utf8.ValidRune))
	p.Ask.Key, p.Ask.Application, p.Ask.Priority = name.Draw(t, "job"), name.Draw(t, "application"), rapid.Int32().Draw(t, "priority")
	for i := range p.Ask.Members {
		p.Ask.Members[i].Key = name.Draw(t, "member")
	}
	for i := range p.Victims {
		p.Victims[i].Key, p.Victims[i].Job = name.Draw(t, "task"), name.Draw(t, "its job")
	}
	deleted := rapid.Bool().Draw(t, "deleted")
	way := map[bool]string{false: "label", true: "delete"}[deleted]
	for i, e := range (koordinator.Options{PodShouldBeDeletedWhenPreempted: deleted}).Evictions(p, c) {
		var back struct {
			Task, Job, Way string
			Preemptor      struct {
				Job, Application string
				Priority         int32
				Members          []string
			}
		}
		require.NoError(t, json.Unmarshal([]byte(e.Text), &back))
		require.Equal(t, []string{p.Victims[i].Key, p.Victims[i].Job, way}, []string{back.Task, back.Job, back.Way})
		require.Equal(t, e.Task, back.Task)
		require.Equal(t, []string{p.Ask.Key, p.Ask.Application}, []string{back.Preemptor.Job, back.Preemptor.Application})
		require.Equal(t, p.Ask.Priority, back.Preemptor.Priority)
		if i == 0 {
			require.Equal(t, []string{p.Ask.Members[1].Key, p.Ask.Members[3].Key}, back.Preemptor.Members)
		}
		require.NotContains(t, e.Why, "\n")
		require.Equal(t, -1, strings.IndexFunc(e.Why, func(r rune) bool { return r < ' ' }), "%q", e.Why)
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
		require.Equal(t, want, koordinator.Options{}.Evictions(p, c)[i].Why)
	}
}

func ExampleOptions_Evictions() {
	cluster, plan := evictionPlan(check{})
	for _, e := range (koordinator.Options{}).Evictions(plan, cluster)[3:] {
		fmt.Printf("scheduling.koordinator.sh/soft-eviction: %s\n%s\n", e.Text, e.Why)
	}
	// Output:
	// scheduling.koordinator.sh/soft-eviction: {"task":"x","queue":"root.a.1","node":"n1","priority":7,"preemptor":{"job":"j","application":"app-j","queue":"root.b","priority":100},"causes":["quota"],"way":"label"}
	// x is preempted by job j of root.b (priority 100): room under the max of a quota
}

// check stands in for a test where there is none.
type check struct{}

func (check) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (check) FailNow()                          { panic("failed") }
