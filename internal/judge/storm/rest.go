// SPDX-License-Identifier: Apache-2.0

package storm

// Rest returns a longest series of steps from a placement, given like
// [Cycle.Running], to one in which nothing can happen. It takes a universe
// without a storm that is reached from there; otherwise it returns nil and false.
func (u *Universe) Rest(running []int) ([]Step, bool) {
	w := u.world()
	copy(w.place, running)
	from := w.after(&plan{})
	r := &rest{world: w, best: make(map[int]ending)}
	if !w.set(from) || !r.from(from) {
		return nil, false
	}
	var steps []Step
	for state := from; r.best[state].length > 0; {
		e := r.best[state]
		steps = append(steps, e.first.step())
		state = e.to
	}
	return steps, true
}

// rest looks for the longest way to rest from each state that it meets. States
// that come after each other cannot form a cycle, so each is looked at once.
type rest struct {
	*world
	best map[int]ending
}

// An ending is a longest way to rest: its first act, and where that leads. An
// open one is a state on the way that is being followed.
type ending struct {
	open   bool
	length int
	first  plan
	to     int
}

// from finds the longest way from a state, and reports whether there is one: a
// way back to a state on the way has no end.
func (r *rest) from(state int) bool {
	r.best[state] = ending{open: true}
	var e ending
	for _, p := range r.next(state) {
		r.set(state)
		to := r.after(&p)
		if seen, ok := r.best[to]; ok && seen.open || !ok && !r.from(to) {
			return false
		}
		if length := r.best[to].length + 1; length > e.length {
			e = ending{length: length, first: p, to: to}
		}
	}
	r.best[state] = e
	return true
}

// next returns all that can happen in a state.
func (r *rest) next(state int) []plan {
	r.set(state)
	g := graph{world: r.world}
	return g.successors()
}
