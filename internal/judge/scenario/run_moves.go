// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"

	"github.com/go-preempt/preempt/jobs"
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

// aimMovers lets movers run on the nodes that they select, beside those who hold none of
// their ports; asks and members as the functions of the planner say.
func (r *runner) aimMovers(p *jobs.Planner) {
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

// portsOf returns the ports of a task or a grant.
func (r *runner) portsOf(key string, tag uint64) []string {
	if tag > 0 {
		return r.movers.ports[tag-1]
	}
	return r.ports[key]
}

// startMoved has those who move run where they go, under their new keys.
func (r *runner) startMoved(p *victims.Plan) error {
	for i := range p.Moves {
		old, key := p.Moves[i].Key, p.Moves[i].Grant
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
func movesOf(p *victims.Plan) map[string]string {
	if len(p.Moves) == 0 {
		return nil
	}
	to := make(map[string]string)
	for i := range p.Moves {
		to[p.Moves[i].Key] = p.Moves[i].ToName
	}
	return to
}
