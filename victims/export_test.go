// SPDX-License-Identifier: Apache-2.0

package victims

// Hasten has planners decide about small clusters as about large ones.
func (o *Options) Hasten() { o.hasty = true }

// CompareBy returns [Cost.Compare] by levels.
func CompareBy(l []string) func(a, b *Cost) int {
	return func(a, b *Cost) int { return compareInSequence(levels(l).sequence(nil), a, b) }
}

// Exhaust has planners search all nodes, or not.
func (o *Options) Exhaust(all bool) *Options {
	o.exhaustive = all
	return o
}
