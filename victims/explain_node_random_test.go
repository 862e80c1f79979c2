// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// What an explanation says of a node is so: with all others unschedulable the
// ask has a plan of that cost, or none.
func TestExplain_NodesAreTrue(t *testing.T) { rapid.Check(t, propertyNodes) }

func FuzzExplainNodes(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(propertyNodes))
}

func propertyNodes(t *rapid.T) {
	c := world.Cases(world.Small).Draw(t, "case")
	if _, held := grantOf(&c.World, c.Ask.Key); held {
		return // its node is judged whether it is schedulable or not
	}
	e, _ := explain(t, c)
	for i := range e.Nodes {
		alone := copyCase(c)
		for j := range alone.World.Nodes {
			alone.World.Nodes[j].Unschedulable = alone.World.Nodes[j].Unschedulable || j != i
		}
		d, _ := decide(t, alone)
		n := nodeTruth{c, e, i, &e.Nodes[i], alone, d}
		if why := n.contradiction(t); why != "" {
			t.Fatalf("%s is %v at %v, but %s; alone it is %v, %v at %v\n%v", n.f.Node, n.f.Verdict,
				&n.f.Cost, why, d.Outcome, d.Refusal.Reason, &d.Plan.Cost, c)
		}
	}
}

// A nodeTruth is what is found of a node, and what is decided about the ask
// where that node is the only one that can be used.
type nodeTruth struct {
	c     *world.Case
	e     *victims.Explanation
	at    int // of e.Nodes
	f     *victims.NodeFinding
	alone *world.Case
	d     *victims.Decision // of alone
}

// placed returns where in e.Nodes that of the place is.
func (n *nodeTruth) placed() int {
	return slices.IndexFunc(n.e.Nodes, func(f victims.NodeFinding) bool { return f.Node == n.e.Decision.Plan.Places[0].NodeName })
}

// contradiction returns why the finding is not true, or "". There is no
// predicate, and there are enough steps.
func (n *nodeTruth) contradiction(t *rapid.T) string {
	f, d, out := n.f, n.d, &n.e.Decision
	_, held := grantOf(&n.c.World, n.c.Ask.Key)
	placed := out.Outcome == victims.Fits || out.Outcome == victims.Waits
	chosen := out.Outcome != victims.Refused && out.Plan.Places[0].NodeName == f.Node
	same := d.Outcome != victims.Refused && d.Plan.Cost.Compare(&f.Cost) == 0
	ok := false
	switch f.Verdict {
	case "chosen":
		ok = chosen && same && d.Outcome == out.Outcome
	case "not-needed":
		ok = held || placed && n.at > n.placed()
	case "no-room":
		ok = placed && n.at < n.placed() && d.Outcome != out.Outcome && d.Outcome != victims.Fits
	case "costlier":
		ok = same && d.Outcome == victims.Preempts && f.Cost.Compare(&out.Plan.Cost) > 0
	case "withheld":
		return n.notWithheld(t)
	case "lacks", "headroom", "no-legal-set":
		return n.notRefused()
	case "unschedulable", "reserved":
		ok = n.c.Ask.RequiredNode == "" && d.Outcome == victims.Refused
	case "not-required":
		ok = n.c.Ask.RequiredNode != ""
	case "held":
		ok = held && d.Outcome == victims.Refused
	}
	switch {
	case chosen != (f.Verdict == "chosen"):
		return "it is chosen, or another is"
	case !ok:
		return "it is not"
	}
	return ""
}

// notWithheld checks a plan that the reason of the refusal forbids: where that
// can be changed, it is the plan.
func (n *nodeTruth) notWithheld(t *rapid.T) string {
	free := copyCase(n.alone)
	free.Ask.MayNot, free.Ask.PendingSince, free.Options.Interval = false, n.c.Options.Now.AddDate(-1, 0, 0), 0
	switch d, _ := decide(t, free); {
	case n.d.Outcome != victims.Refused:
		return "alone it is not"
	case d.Outcome == victims.Preempts && d.Plan.Cost.Compare(&n.f.Cost) != 0:
		return "its plan costs something else"
	case d.Outcome == victims.Refused && d.Refusal.Reason == "no-victims":
		return "there is no plan"
	}
	return ""
}

// notRefused checks a node for which there is no plan, and what it lacks.
func (n *nodeTruth) notRefused() string {
	short := slices.ContainsFunc(n.e.Queues, func(q victims.QueueFinding) bool { return q.Lacks != nil })
	switch {
	case n.d.Outcome != victims.Refused:
		return "alone it is not refused"
	case resources.IsZero(n.f.Lacks) == (n.f.Verdict == "lacks"):
		return "that is not what it lacks"
	case !short && n.f.Verdict == "headroom":
		return "no headroom is needed"
	case !short && n.d.Refusal.Reason == "no-victims" && !resources.Equal(n.d.Refusal.Lacks, n.f.Lacks):
		return "alone it lacks something else"
	}
	return ""
}
