// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"slices"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// best returns the cost of the cheapest lawful plan, looking at every node and
// every set of candidates that could be one.
func (j *judge) best() (best Cost, ok bool) {
	for _, n := range j.w.Nodes {
		if !j.usable(&n) {
			continue
		}
		j.sets(n.Name, nil, j.candidates(n.Name), func(victims []*world.Task) {
			cost := j.cost(n.Name, victims)
			if !ok || cost.Compare(j.o.Levels, &best) < 0 {
				best, ok = cost, true
			}
		})
	}
	return best, ok
}

// sets calls consider with every set of the chosen and some of the rest that is
// a plan, except those of which a part is one: these cost more.
func (j *judge) sets(node string, chosen, rest []*world.Task, consider func([]*world.Task)) {
	if !j.holds(node, chosen, (*docket).limits) {
		return // nor does any larger set
	}
	if j.holds(node, chosen, (*docket).room, (*docket).gangs) {
		consider(chosen)
		return
	}
	for i, v := range rest {
		j.sets(node, append(slices.Clone(chosen), v), rest[i+1:], consider)
	}
}

// candidates returns the tasks that could be in a plan for the node: those that
// no law about a single victim forbids, if they are on it, or anywhere below a
// queue that is short of headroom, or of a job with such a member.
func (j *judge) candidates(node string) (list []*world.Task) {
	for i := range j.w.Tasks {
		v := &j.w.Tasks[i]
		counts := func(t *world.Task) bool {
			if j.ask.RequiredNode != "" || j.o.VictimsOnNode {
				return t.Node == node
			}
			return t.Node == node || j.givesHeadroom(t)
		}
		if j.lawful(v) && (counts(v) || j.bound(v) && slices.ContainsFunc(staff(j.w, v.Job), counts)) {
			list = append(list, v)
		}
	}
	return list
}

// lawful reports whether no law about a single victim forbids a task.
func (j *judge) lawful(v *world.Task) bool {
	d := &docket{judge: j, quiet: true}
	d.victim(v)
	return len(d.found) == 0
}
