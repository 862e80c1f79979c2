// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/jobs/moves"
	"github.com/go-preempt/preempt/victims"
)

// movers is what is known of tasks that may move.
type movers struct {
	selectors []map[string]string // by class: that of the first is -1
	classes   map[string]int      // by the text of a selector
	ports     [][]string          // by tag: that of the first is 1
}

// mark makes a task one that may move. Its class and tag go with it.
func (m *movers) mark(task *victims.Task, t *Task) {
	if !t.Movable {
		return
	}
	if m.classes == nil {
		m.classes = make(map[string]int)
	}
	text := fmt.Sprintf("%q", t.NodeSelector) // sorted
	class, known := m.classes[text]
	if !known {
		m.selectors = append(m.selectors, t.NodeSelector)
		class = -len(m.selectors)
		m.classes[text] = class
	}
	if len(t.Ports) > 0 {
		m.ports = append(m.ports, t.Ports)
		task.Tag = uint64(len(m.ports))
	}
	task.Movable, task.Class = true, class
}

// moveOptions returns for whom tasks may move.
func (r *runner) moveOptions() moves.Options {
	return moves.Options{Any: r.doc.Options.Moves == movesAny, MaxMoved: r.doc.Options.MaxMoved}
}

// aimMovers lets movers run on the nodes that they select, beside those who hold none of
// their ports; asks and members as the functions of the planner say.
func (r *runner) aimMovers(p *victims.Planner) {
	p.Filter = r.filterMovers(p.Filter)
	blockers := p.Blockers
	p.Blockers = func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
		switch {
		case q.Ask.Class < 0:
			return r.blockers(dst, r.portsOf(q.Ask.Key, q.Ask.Tag), q.Node)
		case blockers == nil:
			return dst
		}
		return blockers(dst, q)
	}
}

// filterMovers lets movers run on the nodes that they select, and others as a filter says.
func (r *runner) filterMovers(filter func(*victims.Question) bool) func(*victims.Question) bool {
	return func(q *victims.Question) bool {
		if q.Member.Class < 0 {
			return r.selects(r.movers.selectors[-1-q.Member.Class], q.Node)
		}
		return filter == nil || filter(q)
	}
}

// decideWithMoves decides an ask, and says who moves for it.
func (r *runner) decideWithMoves(asked *Asked, ask *victims.Ask) (err error) {
	m := moves.Planner{Asks: &r.planner, Options: r.moveOptions()}
	asked.Moves, err = m.Decide(&asked.Decision, ask, r.now)
	return err
}

// decideJob decides a job, and who moves for it if tasks may.
func (r *runner) decideJob(placed *Placed, p *jobs.Planner, job *victims.Ask) (err error) {
	if !r.doc.Options.moves() {
		return p.Decide(&placed.Decision, job, r.now)
	}
	m := moves.Planner{Jobs: p, Options: r.moveOptions()}
	placed.Moves, err = m.DecideJob(&placed.Decision, job, r.now)
	return err
}

// portsOf returns the ports of a task or a grant.
func (r *runner) portsOf(key string, tag uint64) []string {
	if tag > 0 {
		return r.movers.ports[tag-1]
	}
	return r.ports[key]
}

// startMoved has those who move run where they go, under their new keys.
func (r *runner) startMoved(p *moves.Plan) error {
	for i := range p.Moves {
		old, key := p.Moves[i].Key, p.Moves[i].Ask.Key
		policy := r.policies[old]
		if err := r.remove(old); err != nil {
			return err
		}
		if err := r.startGrant(key); err != nil {
			return err
		}
		r.keep(key, policy, nil)
	}
	return nil
}

// movesOf returns the nodes to which tasks move, by their keys.
func (r *runner) movesOf(p *moves.Plan) map[string]string {
	if len(p.Moves) == 0 {
		return nil
	}
	to := make(map[string]string)
	for i := range p.Moves {
		to[p.Moves[i].Key] = r.cluster.NodeName(p.Moves[i].To)
	}
	return to
}
