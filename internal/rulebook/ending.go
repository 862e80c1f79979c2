// SPDX-License-Identifier: Apache-2.0

package rulebook

import (
	"fmt"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// An Ending is a queue of the path of an ask or a job that ends below its guarantee, and below
// what it had, in a type whose guarantees count. Work of its own may bring that about, and who
// can run on one node only.
type Ending struct {
	Queue      string `json:"queue"`
	Type       string `json:"type"`
	Amount     string `json:"amount"`     // that it ends at; quantities
	Guaranteed string `json:"guaranteed"` // to it
}

// String returns the ending as "root.prod ends at 1 of 20 gpu".
func (e *Ending) String() string {
	return fmt.Sprintf("%s ends at %s of %s %s", plain.Name(e.Queue), e.Amount, e.Guaranteed, plain.Name(e.Type))
}

// A Shift is what a plan does to a queue of the path: amounts arrive, and those of victims go.
type Shift struct {
	Tree           *queue.Tree
	Queue          queue.ID
	Arriving, Gone resources.Vector
}

// Endings appends to dst those of the queue, in the order of types.
func (x *Shift) Endings(dst []Ending) []Ending {
	tree, q := x.Tree, x.Queue
	used, leaving, g, s := tree.Usage(q), tree.Preempting(q), tree.Guaranteed(q), tree.Schema()
	for t := range g.Defined.All() {
		before := used[t] - leaving[t]
		if after := before - x.Gone.At(t) + x.Arriving.At(t); after < min(before, g.Value[t]) {
			dst = append(dst, Ending{Queue: tree.Path(q), Type: s.Name(t), Amount: s.Amount(t, after), Guaranteed: s.Amount(t, g.Value[t])})
		}
	}
	return dst
}
