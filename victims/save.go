// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/saved"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// The lines of a saved cluster, in the order in which they come. Rows of nodes and tasks
// come back, for callers have them. Sums, indexes and the numbers of names do not:
// nobody sees these, and a load makes them anew and checks the parts on the way.

// clusterLine has the counters, and the free rows, the next one to be given last.
type clusterLine struct {
	Version  uint64 `json:"version"`
	Versions uint64 `json:"versions"`         // see history
	Foreign  bool   `json:"foreign,omitzero"` // the version is one of another cluster
	Nodes    uint64 `json:"nodes"`            // how many were added so far
	Grants   int64  `json:"grants"`           // how many were given so far

	FreeNodes []NodeID `json:"freeNodes,omitempty"`
	FreeTasks []TaskID `json:"freeTasks,omitempty"`
}

type budgetLine struct {
	Name string `json:"name"`
	Left int64  `json:"left"`
	Hard bool   `json:"hard,omitzero"`
	// Unset: nobody set it, and tasks name it.
	Unset bool `json:"unset,omitzero"`
}

type nodeLine struct {
	Row NodeID `json:"row"`
	savedNode
	Order   uint64           `json:"order,omitzero"`
	Unknown resources.Vector `json:"unknown,omitempty"`
	Absent  bool             `json:"absent,omitzero"`
	Blind   bool             `json:"blind,omitzero"`
}

// A savedNode is a [Node], with the words of a text.
type savedNode struct {
	Name          string           `json:"name"`
	Capacity      resources.Vector `json:"capacity"`
	Unschedulable bool             `json:"unschedulable,omitzero"`
	ReservedFor   string           `json:"reservedFor,omitzero"`
	Penalty       int64            `json:"penalty,omitzero"`
	Domains       []string         `json:"domains,omitempty"`
	Tag           uint64           `json:"tag,omitzero"`
}

type taskLine struct {
	Row TaskID `json:"row"`
	savedTask
	Leaf string     `json:"queue"`
	Is   savedState `json:"state,omitzero"`
	Told time.Time  `json:"told,omitzero"` // when it was marked
}

// A savedTask is a [Task], with the words of a text. What has none is told by the line, or is not saved.
type savedTask struct {
	Key            string           `json:"key"`
	Name           string           `json:"name,omitzero"`
	Tag            uint64           `json:"tag,omitzero"`
	Application    string           `json:"application,omitzero"`
	Queue          queue.ID         `json:"-"`
	Node           NodeID           `json:"-"`
	NodeName       string           `json:"node"`
	Size           resources.Vector `json:"size"`
	Priority       int32            `json:"priority,omitzero"`
	Created        time.Time        `json:"created,omitzero"`
	Scheduled      time.Time        `json:"scheduled,omitzero"`
	Checkpoint     time.Time        `json:"checkpoint,omitzero"`
	State          State            `json:"-"`
	SparedUntil    time.Time        `json:"refused,omitzero"`
	Originator     bool             `json:"originator,omitzero"`
	OptedOut       bool             `json:"optedOut,omitzero"`
	RequiredNode   bool             `json:"requiredNode,omitzero"`
	Movable        bool             `json:"movable,omitzero"`
	Class          int              `json:"class,omitzero"`
	MovesTo        string           `json:"-"`
	Job            string           `json:"job,omitzero"`
	NonPreemptible bool             `json:"nonPreemptible,omitzero"`
	Cost           int64            `json:"cost,omitzero"`
	Preemptions    int              `json:"preemptions,omitzero"`
	Budgets        []string         `json:"budgets,omitempty"`
}

// A savedState is a state, written as its word.
type savedState State

func (s savedState) MarshalText() ([]byte, error) { return []byte(State(s).String()), nil }

func (s *savedState) UnmarshalText(text []byte) error {
	i := slices.Index(stateWords.Words, string(text))
	if i < 0 {
		return fmt.Errorf("state %q: %w", text, ErrState)
	}
	*s = savedState(i)
	return nil
}

// minimumLine is how many members a job needs.
type minimumLine struct {
	Job     string `json:"job"`
	Members int32  `json:"members"`
	Placed  bool   `json:"placed,omitzero"` // nobody set it: it goes with the last task
}

// spreadLine is an application that has, or had, tasks in several leaves.
type spreadLine struct {
	Application string `json:"application"`
}

// orderLine is the tasks of a node, a queue or a job, if they are not in the order of
// their rows.
type orderLine struct {
	Node  string   `json:"node,omitzero"`
	Queue string   `json:"queue,omitzero"`
	Job   string   `json:"job,omitzero"`
	Tasks []TaskID `json:"tasks"`
}

// waitLine is the victims that the grants wait for that say so, by the number of the line
// among its like, from 1 on.
type waitLine struct {
	Victims []TaskID `json:"victims,omitempty"` // those that make room where they run
	Must    []TaskID `json:"must,omitempty"`    // those that must go wherever they run
}

// askLine is an ask that holds the grants that say so, as waitLine.
type askLine struct {
	Key   string    `json:"key"`
	Since time.Time `json:"since,omitzero"`
	Needs int32     `json:"needs,omitzero"`
}

type grantLine struct {
	Task   TaskID    `json:"task"`
	Number int64     `json:"number"`
	Since  time.Time `json:"since,omitzero"` // in texts of 0.1.0, which have no asks
	Ask    int32     `json:"ask,omitzero"`
	Wait   int32     `json:"wait,omitzero"`
	Mover  string    `json:"mover,omitzero"`
}

// Save writes all that the cluster knows as text, for [Load]. What could be undone becomes final. It may run
// beside decisions. Errors are a name that is not UTF-8, and those of w. The text may then be incomplete.
func (c *Cluster) Save(w io.Writer) error {
	c.made()
	x := saved.NewWriter(w)
	start := x.Begin("cluster")
	x.Line("cluster", clusterLine{
		Version: c.version.number, Versions: c.versions, Foreign: c.version.line != c.line, Nodes: c.nodeSeq, Grants: c.granting,
		FreeNodes: c.freeNodes, FreeTasks: c.freeTasks,
	})
	err := trees.Save(x, c.tree)
	if err == nil {
		c.saveNodes(x)
		c.saveTasks(x)
		c.saveOrders(x)
		c.saveGrants(x)
		err = x.End(start)
	}
	if err != nil {
		return fmt.Errorf("victims: save: %w", err)
	}
	return nil
}

func (x *index) saveNodes(w *saved.Writer) {
	for name, b := range x.Budgets() {
		w.Check("budget", name)
		row, _ := x.findBudget(name)
		w.Line("budget", budgetLine{name, b.Left, b.Hard, x.budgets[row].unset})
	}
	for i := range x.nodes {
		n := &x.nodes[i]
		if !n.live {
			continue
		}
		w.Check("node", n.name, n.reservedFor)
		w.Check("domain", n.domains...)
		w.Line("node", nodeLine{NodeID(i), savedNode(x.NodeView(NodeID(i))), n.seq, n.unknown, n.absent, n.blind})
	}
}

func (x *index) saveTasks(w *saved.Writer) {
	for id := range x.Tasks() {
		t := x.TaskView(id)
		w.Check("task", t.Key, t.Name, t.Application, t.Job)
		t.NodeName = x.nodes[t.Node].name
		w.Line("task", taskLine{id, savedTask(t), x.tree.Path(t.Queue), savedState(t.State), x.toldOf(id)})
	}
	for _, name := range slices.Sorted(maps.Keys(x.jobs.ids)) {
		if n := x.jobs.ids[name]; x.minimumOf(n) > 0 {
			w.Check("job", name)
			w.Line("minimum", minimumLine{name, x.minimumOf(n), !x.minimums[n].set})
		}
	}
	// All the same if its tasks are in one leaf by now: searches go by it, and
	// must count the same steps.
	var names []string
	for app, uses := range x.apps.uses {
		if uses > 0 && x.homes[app] == noLeaf {
			names = append(names, x.apps.names[app])
		}
	}
	slices.Sort(names) // numbers do not come back
	for _, name := range names {
		w.Line("spread", spreadLine{name})
	}
}

// saveOrders writes the lists that are not in the order of rows. No answer depends on
// them, but [Cluster.TasksOn] and its like show them.
func (x *index) saveOrders(w *saved.Writer) {
	line := func(l orderLine) {
		if !slices.IsSorted(l.Tasks) {
			w.Line("order", l)
		}
	}
	for i := range x.nodes {
		line(orderLine{Node: x.nodes[i].name, Tasks: x.nodes[i].tasks})
	}
	for q := range x.leaves {
		line(orderLine{Queue: x.tree.Path(queue.ID(q)), Tasks: x.leaves[q]})
	}
	// By name, for numbers do not come back.
	for _, name := range slices.Sorted(maps.Keys(x.jobs.ids)) {
		line(orderLine{Job: name, Tasks: x.members[x.jobs.ids[name]]})
	}
}

func (x *index) saveGrants(w *saved.Writer) {
	// In the order of the grants, since rows of waits and asks do not come back.
	waits, last := make([]int32, max(1, len(x.waits))), int32(0)
	for i := range x.grants {
		if wait := x.grants[i].wait; wait != 0 && waits[wait] == 0 {
			last++
			waits[wait] = last
			var l waitLine
			for _, v := range x.waits[wait].victims {
				if v.must {
					l.Must = append(l.Must, v.task)
				} else {
					l.Victims = append(l.Victims, v.task)
				}
			}
			w.Line("wait", l)
		}
	}
	asks := make([]int32, max(1, len(x.asks)))
	last = 0
	for i := range x.grants {
		ask := x.grants[i].ask
		if asks[ask] != 0 {
			continue
		}
		last++
		asks[ask] = last
		l := askLine{Key: x.asks[ask].key, Needs: x.asks[ask].needs}
		if x.asks[ask].dated {
			l.Since = time.Unix(0, x.asks[ask].since).UTC()
		}
		w.Check("ask", l.Key)
		w.Line("ask", l)
	}
	for i := range x.grants {
		g := &x.grants[i]
		w.Check("task", g.mover)
		w.Line("grant", grantLine{Task: g.task, Number: g.number, Ask: asks[g.ask], Wait: waits[g.wait], Mover: g.mover})
	}
}
