// SPDX-License-Identifier: Apache-2.0

package world

// drawGangs makes members of gangs of some tasks, and returns what each must
// keep. Most of a gang run in one queue; what it must keep is anything from
// nothing to more than it has.
func (g *generator) drawGangs(shares ...int) map[string]int {
	minimums := make(map[string]int)
	size := make(map[string]int)
	first := make(map[string]*Task)
	share := of(g, "share of gangs", shares...)
	for i := range g.w.Tasks {
		if !g.chance("in a gang", share) {
			continue
		}
		t := &g.w.Tasks[i]
		if share > 10 && g.chance("plain", 12) {
			t.NonPreemptible, t.RequiredNode, t.State = false, false, Running
		}
		t.Job = of(g, "gang", "g", "g", "h")
		if first[t.Job] == nil {
			first[t.Job] = t
		} else if g.chance("in its queue", 8) {
			t.Queue, t.Application = first[t.Job].Queue, first[t.Job].Application
		}
		size[t.Job]++
	}
	for _, gang := range []string{"g", "h"} {
		if size[gang] > 0 && g.chance("keeps", 13) {
			minimums[gang] = size[gang] + 1 - g.below("keeps", size[gang]+2)
		}
	}
	return minimums
}
