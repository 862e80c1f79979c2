// SPDX-License-Identifier: Apache-2.0

package storm

import (
	"math/bits"
	"slices"
)

// Storm explores all states and returns a shortest storm, or nil if there is
// none, and the number of states that it looked at.
func (u *Universe) Storm() (*Cycle, int) {
	g := &graph{world: u.world()}
	g.next = make([][]plan, g.states())
	g.look()
	if !g.cyclic() {
		return nil, g.looked
	}
	return g.shortest(), g.looked
}

// A graph has the valid states of a world, and what can happen in each.
type graph struct {
	*world
	next   [][]plan // by state
	looked int
}

func (g *graph) look() {
	for state := range g.next {
		if g.set(state) {
			g.looked++
			g.next[state] = g.successors()
		}
	}
}

// successors returns all that can happen in the present state.
func (g *graph) successors() (all []plan) {
	highest := 0
	for task := range g.Tasks {
		first := len(all)
		all = g.acts(all, task)
		if !g.Rules.HighestFirst || len(all) == first {
			continue
		}
		switch priority := g.Tasks[task].Priority; {
		case first == 0 || priority > highest:
			highest = priority
			all = append(all[:0], all[first:]...)
		case priority < highest:
			all = all[:first]
		}
	}
	return g.quotaActs(all)
}

// to returns the state to which an act leads.
func (g *graph) to(state int, p *plan) int {
	g.set(state)
	return g.after(p)
}

// cyclic reports whether there is a cycle: a depth-first search comes back to a
// state that it has not left yet.
func (g *graph) cyclic() bool {
	const (
		entered = 1 + iota
		left
	)
	type frame struct{ state, at int }
	seen := make([]uint8, len(g.next))
	for start := range g.next {
		if seen[start] != 0 || g.next[start] == nil {
			continue
		}
		seen[start] = entered
		for stack := []frame{{start, 0}}; len(stack) > 0; {
			top := &stack[len(stack)-1]
			if top.at == len(g.next[top.state]) {
				seen[top.state] = left
				stack = stack[:len(stack)-1]
				continue
			}
			state := g.to(top.state, &g.next[top.state][top.at])
			top.at++
			switch seen[state] {
			case entered:
				return true
			case 0:
				seen[state] = entered
				stack = append(stack, frame{state, 0})
			}
		}
	}
	return false
}

// shortest returns a shortest cycle; there is one. It searches breadth-first
// from each state.
func (g *graph) shortest() *Cycle {
	var best []plan
	from := 0
	for start := range g.next {
		if len(g.next[start]) > 0 {
			if c := g.shortestFrom(start, len(best)); c != nil {
				best, from = c, start
			}
		}
	}
	c := &Cycle{}
	g.set(from)
	c.Running = append(c.Running, g.place...)
	for i := range best {
		c.Steps = append(c.Steps, best[i].step())
	}
	return c
}

// step returns an act as others see it.
func (p *plan) step() Step {
	var s Step
	if p.begins != 0 {
		return Step{Tasks: numbers(p.begins)}
	}
	var placed uint64
	for _, there := range p.there {
		placed |= there
	}
	s.Tasks, s.Victims, s.Movers = numbers(placed&^p.movers), numbers(p.victims), numbers(p.movers)
	if p.quota > 0 {
		s.Quota, s.Queue = true, p.quota-1
	}
	s.Nodes, s.To = p.there.of(s.Tasks), p.there.of(s.Movers)
	return s
}

// of returns the nodes of tasks.
func (w *where) of(tasks []int) (nodes []int) {
	for _, task := range tasks {
		nodes = append(nodes, slices.IndexFunc(w[:], func(there uint64) bool { return there>>task&1 == 1 }))
	}
	return nodes
}

// numbers returns the tasks of a set.
func numbers(set uint64) (list []int) {
	for ; set != 0; set &= set - 1 {
		list = append(list, bits.TrailingZeros64(set))
	}
	return list
}

// shortestFrom returns the acts of a shortest cycle through a state, or nil if
// there is none of fewer acts than a limit; 0 is no limit.
func (g *graph) shortestFrom(start, limit int) []plan {
	type visit struct{ before, act, depth int }
	seen := map[int]visit{start: {}}
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		state := queue[0]
		depth := seen[state].depth + 1
		if limit > 0 && depth >= limit {
			return nil
		}
		for act := range g.next[state] {
			to := g.to(state, &g.next[state][act])
			if to == start {
				acts := []plan{g.next[state][act]}
				for state != start {
					v := seen[state]
					acts = append(acts, g.next[v.before][v.act])
					state = v.before
				}
				for i, j := 0, len(acts)-1; i < j; i, j = i+1, j-1 {
					acts[i], acts[j] = acts[j], acts[i]
				}
				return acts
			}
			if _, ok := seen[to]; !ok {
				seen[to] = visit{state, act, depth}
				queue = append(queue, to)
			}
		}
	}
	return nil
}
