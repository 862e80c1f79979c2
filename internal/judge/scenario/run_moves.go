// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"strings"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/jobs/moves"
	"github.com/go-preempt/preempt/victims"
)

// moved ends the keys of tasks that have moved.
const moved = "+"

// moveOptions returns who may move, and for whom. The class of a mover is negative.
func (r *runner) moveOptions() moves.Options {
	return moves.Options{
		Movable: func(id victims.TaskID) (class int, ok bool) {
			_, ok = r.movable[r.cluster.Key(id)]
			return -1 - int(id), ok
		},
		Key: func(key string) string { return key + moved },
		Any: r.doc.Options.Moves == movesAny, MaxMoved: r.doc.Options.MaxMoved,
	}
}

// aimMovers lets movers run on the nodes that they select, beside those who hold none of
// their ports; asks and members as the functions of the planner say.
func (r *runner) aimMovers(p *victims.Planner) {
	p.Filter = r.filterMovers(p.Filter)
	blockers := p.Blockers
	p.Blockers = func(dst []victims.TaskID, a *victims.Ask, n victims.NodeID) []victims.TaskID {
		switch {
		case a.Class < 0:
			return r.blockers(dst, r.portsOf(a.Key), n)
		case blockers == nil:
			return dst
		}
		return blockers(dst, a, n)
	}
}

// filterMovers lets movers run on the nodes that they select, and others as a filter says.
func (r *runner) filterMovers(filter func(int, victims.NodeID) bool) func(int, victims.NodeID) bool {
	return func(class int, n victims.NodeID) bool {
		if class < 0 {
			return r.selects(r.movable[r.cluster.Key(victims.TaskID(-1-class))], n)
		}
		return filter == nil || filter(class, n)
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

// portsOf returns the ports of a task, or of a grant of one that moves.
func (r *runner) portsOf(key string) []string {
	if ports, known := r.ports[key]; known {
		return ports
	}
	return r.ports[strings.TrimSuffix(key, moved)]
}

// startMoved has those who move run where they go, under their new keys.
func (r *runner) startMoved(p *moves.Plan) error {
	for i := range p.Moves {
		old, key := p.Moves[i].Key, p.Moves[i].Ask.Key
		policy, ports, selector := r.policies[old], r.ports[old], r.movable[old]
		if err := r.remove(old); err != nil {
			return err
		}
		if err := r.startGrant(key); err != nil {
			return err
		}
		r.keep(key, policy, ports)
		r.movable[key] = selector
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
