// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"fmt"

	"github.com/go-preempt/preempt/internal/judge/world"
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
	Blocker   Law = "blocker"    // nobody holds a port of the ask on the node
	Gang      Law = "gang"       // no running job is left below its minimum: then all of it goes
	Budget    Law = "budget"     // no hard budget loses more than it has left
	Minimal   Law = "minimality" // no part of the plan would do
)

// caps are the options that say how many of something a plan may have, each a law and a reason.
var caps = []struct {
	law   Law
	most  func(*world.Options) *int
	count func(victims []*world.Task) int
}{
	{"max-victims", func(o *world.Options) *int { return &o.MaxVictims }, func(victims []*world.Task) int { return len(victims) }},
}

// A Break is a law that a plan does not hold to.
type Break struct {
	Law  Law
	Text string
}

// Breaks returns what is wrong with running the ask on the node once the
// victims have gone: nothing, if it is a lawful plan. It asks for no
// precondition but law 4, and not whether there is a cheaper plan.
//
// A plan that needs the option of the own leaf is judged by the laws of that
// option, also if there would be a plan without it.
func Breaks(c *world.Case, node string, victims []string) []Break {
	j := newJudge(&c.World, &c.Ask, &c.Options)
	found := j.breaks(node, victims)
	if len(found) == 0 || !j.mayTakeOwn() {
		return found
	}
	own := j.again().breaks(node, victims)
	if len(own) == 0 || j.takesOwn(j.named(victims)) {
		return own
	}
	return found
}

// docket collects the breaks of one plan.
type docket struct {
	*judge
	node    string
	victims []*world.Task
	found   []Break
	quiet   bool // only whether there is anything
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
	d.room()
	d.gangs()
	d.limits()
	if j.ask.RequiredNode == "" {
		d.trigger()
		for _, v := range d.victims {
			d.gives(v)
		}
	}
	d.minimal()
	return d.found
}

// limits checks what more victims can only make worse.
func (d *docket) limits() {
	d.budgets()
	if law := d.beyondCap(d.victims); law != "" {
		d.report(law, "of %d victims", len(d.victims))
	}
	if d.ask.RequiredNode == "" {
		d.guarantees()
	}
}

// beyondCap returns the first cap that forbids a plan of some victims, or "".
func (j *judge) beyondCap(victims []*world.Task) Law {
	for _, c := range caps {
		if most := *c.most(j.o); most > 0 && c.count(victims) > most {
			return c.law
		}
	}
	return ""
}

// obstacle returns the reason why no lawful set of victims is a plan: the option without which there is one, if there
// is. may says whether there is a plan by the judge that it is given.
func (j *judge) obstacle(may func(*judge) bool) string {
	for _, c := range caps {
		free, o := *j, *j.o
		free.o, *c.most(&o) = &o, 0
		if *c.most(j.o) > 0 && may(&free) {
			return string(c.law)
		}
	}
	return NoVictims
}

func (d *docket) report(law Law, format string, args ...any) {
	b := Break{Law: law}
	if !d.quiet {
		b.Text = fmt.Sprintf(format, args...)
	}
	d.found = append(d.found, b)
}

// holds reports whether a check finds nothing wrong with victims for a node.
func (j *judge) holds(node string, victims []*world.Task, checks ...func(*docket)) bool {
	d := &docket{judge: j, node: node, victims: victims, quiet: true}
	for _, check := range checks {
		if check(d); len(d.found) > 0 {
			return false
		}
	}
	return true
}

// minimal checks that no part of the plan would do. Of victims that go alone only one
// is left out at a time: fewer victims make less room. Laws are not the question:
// fewer victims break none that more hold to, but for who may go from another node.
func (d *docket) minimal() {
	for _, part := range d.parts(d.victims) {
		if d.holds(d.node, part, (*docket).room, (*docket).gangs) {
			d.report(Minimal, "%v would do", keysOf(part))
		}
	}
}
