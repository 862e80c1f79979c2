// SPDX-License-Identifier: Apache-2.0

package world

import "slices"

// remaining returns what the members that have no place ask for.
func (g *jobGenerator) remaining() Amounts {
	rem := make(Amounts)
	for i := range g.job.Members {
		m := &g.job.Members[i]
		if slices.ContainsFunc(g.w.Tasks, func(t Task) bool { return t.Key == m.Key }) ||
			slices.ContainsFunc(g.w.Grants, func(h Grant) bool { return h.Ask.Key == m.Key }) {
			continue
		}
		for t, v := range m.Size {
			rem[t] += v
		}
	}
	return rem
}

// drawJobBounds draws guarantees and maxes. On the path of the job a max may be
// a little too low; elsewhere it is no matter.
func (g *jobGenerator) drawJobBounds() {
	usage, rem := g.w.Usage(true), g.remaining()
	if !g.odd {
		delete(g.queue(g.job.Queue).Properties, "preemption.policy") // a fence there leaves its own only
	}
	for _, t := range g.w.Types {
		for _, q := range g.w.Queues() {
			used := usage[q.Path][t]
			switch {
			case !Inside(g.job.Queue, q.Path):
				g.drawOffPath(q, t, used)
			case !g.jc.ByPriority && rem[t] > 0 && g.chance("promised", 9):
				q.guarantee(t, used+rem[t]+g.amount("promise", 8)-2) // the job is about entitled
			case g.chance("guaranteed", 3):
				q.guarantee(t, used+g.amount("guarantee", 8)-4)
			}
			switch {
			case !Inside(g.job.Queue, q.Path):
			case g.tight && rem[t] > 0 && g.chance("tight max", 6):
				q.bound(t, used+rem[t]-1-g.amount("max", 4))
				g.short = true
			case g.chance("loose max", 3):
				q.bound(t, used+rem[t]+g.amount("max", 3))
			}
		}
	}
}

// drawQuotas draws quotas of queues, most of them on the path of the job. The
// min of a job that is not preemptible mostly has room for it, its max often
// not without victims.
func (g *jobGenerator) drawQuotas() {
	g.jc.Quotas = make(map[string]Quota)
	usage, rem := g.w.Usage(true), g.remaining()
	fixed := g.fixed()
	for _, q := range g.w.Queues() {
		on := Inside(g.job.Queue, q.Path)
		if !on && !g.chance("quota", 2) || on && !g.chance("quota", g.quotasOf10()) {
			continue
		}
		quota := Quota{Min: make(Amounts), Max: make(Amounts), Waiting: make(Amounts)}
		for _, t := range g.w.Types {
			u, n := usage[q.Path][t], fixed[q.Path][t]
			if g.chance("waiting", 4) {
				quota.Waiting[t] = g.amount("waiting", 4)
			}
			if g.job.NonPreemptible {
				if rem[t] > 0 || g.chance("min", 8) {
					quota.Min[t] = max(n+rem[t]+g.amount("min", 5)-1, 0)
				}
				if g.chance("max", 12) {
					quota.Max[t] = max(u+rem[t]+2-g.amount("max", 6), 0)
					g.short = g.short || quota.Max[t] < u+rem[t]
				}
				continue
			}
			if g.chance("min", 8) {
				quota.Min[t] = max(n+g.amount("min", 6)-2, 0)
			}
			if g.chance("max", 10) {
				withheld := min(quota.Min[t], n+quota.Waiting[t])
				quota.Max[t] = max(withheld+u-n+rem[t]+g.amount("max", 6)-1, 0)
			}
		}
		g.jc.Quotas[q.Path] = quota
	}
}

// fixed returns what every queue uses that is not preemptible.
func (g *jobGenerator) fixed() map[string]Amounts {
	w := World{Types: g.w.Types, Root: g.w.Root, Nodes: g.w.Nodes}
	for _, t := range g.w.Tasks {
		if t.NonPreemptible {
			w.Tasks = append(w.Tasks, t)
		}
	}
	return w.Usage(true)
}

// quotasOf10 returns how many of ten queues of the path have a quota. By guarantee they
// are few, for a job that its quotas forbid tells nothing of law 4.
func (g *jobGenerator) quotasOf10() int {
	if g.jc.ByPriority {
		return 6
	}
	return 1
}
