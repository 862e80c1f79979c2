package oracle

import (
	"fmt"

	"github.com/go-preempt/preempt/internal/world"
)

// A Law is what a plan must hold to. Laws 2 to 7 have their numbers; law 1 is a
// matter of the cheapest plan, see [Fewest].
type Law string

// The laws (DESIGN.md, The seven laws), and what else makes a plan one.
const (
	Law2      Law = "law 2"      // no queue ends below its guarantee
	Law3      Law = "law 3"      // never the same application
	Law4      Law = "law 4"      // only a queue under its guarantee triggers
	Law5      Law = "law 5"      // only a queue over its guarantee gives
	Law6      Law = "law 6"      // lower or equal effective priority only
	Law7      Law = "law 7"      // never outside the fence
	Disabled  Law = "disabled"   // never from a disabled queue
	Storm     Law = "storm"      // never from inside the starving queue
	Candidate Law = "candidate"  // running, once, and not bound to its node
	Exempt    Law = "exempt"     // never before its time
	Node      Law = "node"       // a node that may take the ask, and fits it
	Headroom  Law = "headroom"   // no queue of the path goes over its max
	Minimal   Law = "minimality" // no victim can be given back
)

// A Break is a law that a plan does not hold to.
type Break struct {
	Law  Law
	Text string
}

// Breaks returns what is wrong with running the ask on the node once the
// victims have gone: nothing, if it is a lawful plan.
func Breaks(c *world.Case, node string, victims []string) []Break {
	return newJudge(&c.World, &c.Ask, &c.Options).breaks(node, victims)
}

// docket collects the breaks of one plan.
type docket struct {
	*judge
	node    string
	victims []*world.Task
	found   []Break
}

func (j *judge) breaks(node string, victims []string) []Break {
	d := &docket{judge: j, node: node}
	seen := make(map[string]bool)
	for _, key := range victims {
		t, ok := j.tasks[key]
		if !ok || seen[key] {
			d.report(Candidate, "%s: unknown, or twice", key)
			continue
		}
		seen[key] = true
		d.victims = append(d.victims, t)
	}
	for _, v := range d.victims {
		d.victim(v)
	}
	d.room(node, d.victims)
	if j.ask.RequiredNode == "" {
		d.trigger()
		d.guarantees()
		for _, v := range d.victims {
			d.gives(v)
		}
	}
	d.minimal()
	return d.found
}

func (d *docket) report(law Law, format string, args ...any) {
	d.found = append(d.found, Break{law, fmt.Sprintf(format, args...)})
}

// victim checks what can be told of one victim by itself.
func (d *docket) victim(v *world.Task) {
	if v.State.Leaving() || v.RequiredNode {
		d.report(Candidate, "%s", v)
	}
	if v.Application == d.ask.Application {
		d.report(Law3, "%s is of the application of the ask", v)
	}
	if rank := d.rank(v); rank > 0 || d.o.StrictPriority && rank == 0 {
		d.report(Law6, "%s has rank %d", v, rank)
	}
	if until, exempt := d.o.Exempts(v.Key); exempt {
		d.report(Exempt, "%s until %v", v, until)
	}
	if d.ask.RequiredNode != "" {
		if v.Node != d.ask.RequiredNode {
			d.report(Law7, "%s is not on the required node", v)
		}
		return
	}
	if !d.inReach(v.Queue) {
		d.report(Law7, "%s is not below %s", v, d.fenceRoot(d.ask.Queue))
	}
	if d.disabled(v.Queue) {
		d.report(Disabled, "%s", v)
	}
	if d.insideStarving(v.Queue) {
		d.report(Storm, "%s is inside the starving queue", v)
	}
}

// insideStarving reports whether a queue is in the subtree of E.
func (j *judge) insideStarving(queue string) bool {
	e, ok := j.starving()
	return ok && world.Inside(queue, e)
}

// trigger checks law 4: each type of the ask that has a governing queue must be
// under there before the plan, and at least one type must be governed.
func (d *docket) trigger() {
	if _, ok := d.starving(); !ok {
		d.report(Law4, "no type is governed")
	}
	for _, t := range d.wants {
		if q, ok := d.governing(t); ok && d.coming[q][t] >= d.queues[q].Guaranteed[t] {
			d.report(Law4, "%s has %d of %s and is guaranteed %d", q, d.coming[q][t], t, d.queues[q].Guaranteed[t])
		}
	}
}

// guarantees checks law 2: for every queue and every type it guarantees, usage
// after the plan, with the victims gone and the ask counted, is at least the
// smaller of the guarantee and usage before.
func (d *docket) guarantees() {
	for _, q := range d.w.Queues() {
		for t, g := range q.Guaranteed {
			before := d.coming[q.Path][t]
			after := before - freedBelow(d.victims, q.Path, t)
			if world.Inside(d.ask.Queue, q.Path) {
				after += d.ask.Size[t]
			}
			if after < min(g, before) {
				d.report(Law2, "%s of %s goes from %d to %d of guaranteed %d", t, q.Path, before, after, g)
			}
		}
	}
}

// gives checks law 5 of one victim: in a type that is short its leaf, and each
// queue above it and below the common ancestor, is over its guarantee before
// the plan; without a guarantee all usage is over.
func (d *docket) gives(v *world.Task) {
	c := commonAncestor(v.Queue, d.ask.Queue)
	short := d.needed(d.node)
	for _, t := range d.wants {
		if short[t] == 0 || v.Size[t] == 0 {
			continue
		}
		over := true
		for _, q := range world.Up(v.Queue) {
			if q == c {
				break
			}
			over = over && d.coming[q][t] > d.queues[q].Guaranteed[t] // 0 where there is none
		}
		if over {
			return
		}
	}
	d.report(Law5, "%s gives what its queues do not have over", v)
}

// room checks that the ask fits the node and every headroom.
func (d *docket) room(node string, victims []*world.Task) {
	for _, n := range d.w.Nodes {
		if n.Name == node && !d.usable(&n) {
			d.report(Node, "%s takes no ask", node)
		}
	}
	if _, ok := d.comingFree[node]; !ok {
		d.report(Node, "%s is unknown", node)
	}
	for t, short := range d.nodeNeed(node) {
		if freed := freedOn(victims, node, t); freed < short {
			d.report(Node, "%s is short of %d of %s", node, short-freed, t)
		}
	}
	for _, q := range d.path {
		for t, short := range d.headroomNeed(q) {
			if freed := freedBelow(victims, q, t); freed < short {
				d.report(Headroom, "%s is short of %d of %s", q, short-freed, t)
			}
		}
	}
}

// minimal checks that without any one victim there would be no room. Laws are
// not the question: fewer victims break none that more hold to.
func (d *docket) minimal() {
	for i, v := range d.victims {
		others := append(append([]*world.Task(nil), d.victims[:i]...), d.victims[i+1:]...)
		less := &docket{judge: d.judge}
		less.room(d.node, others)
		if len(less.found) == 0 {
			d.report(Minimal, "%s can be given back", v)
		}
	}
}

// freedOn is how much of a type the victims free on a node, freedBelow how much
// below a queue.
func freedOn(victims []*world.Task, node, t string) (sum int64) {
	for _, v := range victims {
		if v.Node == node {
			sum += v.Size[t]
		}
	}
	return sum
}

func freedBelow(victims []*world.Task, queue, t string) (sum int64) {
	for _, v := range victims {
		if world.Inside(v.Queue, queue) {
			sum += v.Size[t]
		}
	}
	return sum
}
