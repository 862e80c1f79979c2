// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A Guarantees is what guarantees say to asks of a leaf: whether they may preempt.
type Guarantees struct {
	// Governed: some type of the ask is governed. Else Needy means nothing.
	Governed bool
	// Needy is the lowest queue that governs the ask. Victims come from outside its
	// subtree; see DESIGN.md, Storm freedom.
	Needy queue.ID
	// Met are the types whose governing queue has its guarantee, or would have it before
	// the last member of a job.
	Met resources.Mask
}

// Hold reports whether law 4 lets the ask preempt: a type is governed, and every
// governing queue is under its guarantee.
func (x Guarantees) Hold() bool { return x.Governed && x.Met == 0 }

// Guarantees returns what guarantees say to the case. Its last member must find the queue
// under its guarantee. The cost is depth·types.
func (c *Case) Guarantees() (x Guarantees) {
	t := c.Tree
	// Law 4: only a queue under its guarantee triggers.
	for i := range resources.Positive(c.Arriving).All() {
		q, ok := t.Governing(c.Leaf, i)
		if !ok {
			continue
		}
		// On a path the lower queue has the larger number.
		x.Governed, x.Needy = true, max(x.Needy, q)
		if g, _ := t.Guaranteed(q).Bound(i); t.Usage(q)[i]-t.Leaving(q)[i] >= g-c.Before.At(i) {
			x.Met |= 1 << i
		}
	}
	return x
}
