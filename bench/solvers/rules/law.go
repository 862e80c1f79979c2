// SPDX-License-Identifier: Apache-2.0

package rules

import "slices"

// Lack is what a node lacks for the ask, by type.
func (f *Facts) Lack(node int) []int64 {
	need := make([]int64, f.Types)
	for _, t := range f.Wanted {
		need[t] = max(0, f.Asked[t]-f.Free[node][t])
	}
	return need
}

// In reports whether a task is in a queue or below it.
func (f *Facts) In(i, q int) bool { return f.inside(f.Tasks[i].Queue, q) }

// Below returns what some tasks have of a type in a queue and below it.
func (f *Facts) Below(set []int, q, t int) (sum int64) {
	for _, i := range set {
		if f.inside(f.Tasks[i].Queue, q) {
			sum += f.Tasks[i].Size[t]
		}
	}
	return sum
}

// Helps reports whether a task makes headroom that is needed.
func (f *Facts) Helps(i int) bool {
	for _, h := range f.Head {
		for t, v := range h.Need {
			if v > 0 && f.Tasks[i].Size[t] > 0 && f.inside(f.Tasks[i].Queue, h.Queue) {
				return true
			}
		}
	}
	return false
}

// Whole returns the members of a gang if all of them may go.
func (f *Facts) Whole(gang int) (members []int, ok bool) {
	for _, i := range f.Gangs[gang].Members {
		if !f.Tasks[i].Eligible {
			return nil, false
		}
	}
	return f.Gangs[gang].Members, true
}

// Broken says what is wrong with victims for an ask on a node, or "".
func (f *Facts) Broken(node int, set []int) string {
	if !f.Open[node] {
		return "node"
	}
	if why := f.brokenEach(set); why != "" {
		return why
	}
	for _, b := range f.Blockers[node] {
		if !slices.Contains(set, b) {
			return "blocker"
		}
	}
	need := f.Lack(node)
	for _, i := range set {
		if f.Tasks[i].Node == node {
			for t, v := range f.Tasks[i].Size {
				need[t] -= v
			}
		}
	}
	for _, t := range f.Wanted {
		if need[t] > 0 {
			return "node short"
		}
	}
	return f.BrokenSum(set)
}

// brokenEach says what is wrong with victims one by one.
func (f *Facts) brokenEach(set []int) string {
	seen := make(map[int]bool)
	for _, i := range set {
		if seen[i] {
			return "twice"
		}
		seen[i] = true
		if !f.Tasks[i].Eligible {
			return "not eligible"
		}
	}
	return ""
}

// HeadShort is what [Facts.BrokenSum] says of headroom. More victims can mend it.
const HeadShort = "headroom short"

// BrokenSum says what is wrong with victims together, wherever they are, or "".
func (f *Facts) BrokenSum(set []int) string {
	gangs, budgets := make(map[int]int), make(map[int]int64)
	for _, i := range set {
		if g := f.Tasks[i].Gang; g != NoGang {
			gangs[g]++
		}
		for _, b := range f.Tasks[i].Budgets {
			budgets[b]++
		}
	}
	for _, r := range f.Rooms {
		if f.Below(set, r.Queue, r.Type) > r.Amount {
			return "law 2"
		}
	}
	for g, n := range gangs {
		if n > f.Gangs[g].Surplus() && n < len(f.Gangs[g].Members) {
			return "part of a gang"
		}
	}
	for b, n := range budgets {
		if f.Budgets[b].Hard && n > f.Budgets[b].Left {
			return "hard budget"
		}
	}
	for _, h := range f.Head {
		for t, v := range h.Need {
			if v > 0 && f.Below(set, h.Queue, t) < v {
				return HeadShort
			}
		}
	}
	return ""
}
