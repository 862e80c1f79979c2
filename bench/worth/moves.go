// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// A tally counts what became of work that did not fit.
type tally struct {
	refused, stops, moves int // no plan, a plan that stops others, and one that does not
	victims, moved        int
}

// mover asks the library about the same work once more, with all tasks movable. The state goes
// on without moves.
type mover struct {
	x       *library
	planner jobs.Planner
	without tally
	with    [2]tally // for those who are entitled, and for all
	gangs   int
}

func newMover(x *library) *mover {
	return &mover{x: x, planner: jobs.Planner{Cluster: x.cluster, Options: x.planner.Options}}
}

// compare decides work that does not fit, without moves and with.
func (m *mover) compare(a *work) error {
	ask := m.x.asked(a)
	if a.minimum > 0 {
		m.gangs++
	}
	for i, t := range []*tally{&m.without, &m.with[0], &m.with[1]} {
		m.planner.Moves = []victims.Moves{"", victims.MovesEntitled, victims.MovesAny}[i]
		var d victims.Decision
		if err := m.planner.Decide(&d, &ask, instant(m.x.w.now)); err != nil {
			return err
		}
		switch {
		case d.Outcome == victims.Refused:
			t.refused++
		case len(d.Plan.Victims) > 0:
			t.stops++
		case len(d.Plan.Moves) > 0:
			t.moves++
		}
		t.victims += len(d.Plan.Victims)
		t.moved += len(d.Plan.Moves)
	}
	return nil
}

// tell writes a table of what moves change in a load.
func (m *mover) tell(w io.Writer, load string) {
	asked := m.without.refused + m.without.stops + m.without.moves
	if asked == 0 {
		fmt.Fprintf(w, "**%s**, left out: all of it fitted\n\n", load)
		return
	}
	fmt.Fprintf(w, "**%s**, %s decisions about work that did not fit, %s of them about gangs\n\n", load, count(asked), count(m.gangs))
	fmt.Fprintln(w, "| | no plan | stops others | only moves | victims | moved |\n|---|--:|--:|--:|--:|--:|")
	for i, t := range []tally{m.without, m.with[0], m.with[1]} {
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", []string{"without moves", "for the entitled", "for all"}[i],
			count(t.refused), count(t.stops), count(t.moves), count(t.victims), count(t.moved))
	}
	fmt.Fprintln(w)
}
