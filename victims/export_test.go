// SPDX-License-Identifier: Apache-2.0

package victims

// Hasten has a planner decide about small clusters as about large ones.
func Hasten(p *Planner) { p.hasty = true }

// CompareBy returns [Cost.Compare] by levels.
func CompareBy(l []string) func(a, b *Cost) int {
	return func(a, b *Cost) int { return compareInSequence(levels(l).sequence(nil), a, b) }
}

// Exhaust has a planner search all nodes, or not.
func (p *Planner) Exhaust(all bool) *Planner {
	p.exhaustive = all
	return p
}
