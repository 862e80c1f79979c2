// SPDX-License-Identifier: Apache-2.0

package rulebook

import (
	"encoding/json"
	"fmt"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// An Ending is a queue of the path of an ask or a job that ends below its guarantee, and below
// what it had, in a type whose guarantees count. Work of its own may bring that about, and who
// can run on one node only.
type Ending struct {
	Queue, Type        string
	Amount, Guaranteed int64 // what it ends at, and what is guaranteed to it

	schema *resources.Schema
	index  int // of the type
}

// texts returns the amounts as quantities.
func (e *Ending) texts() (amount, guaranteed string) {
	return e.schema.Amount(e.index, e.Amount), e.schema.Amount(e.index, e.Guaranteed)
}

// String returns the ending as "root.prod ends at 1 of 20 gpu".
func (e *Ending) String() string {
	amount, guaranteed := e.texts()
	return fmt.Sprintf("%s ends at %s of %s %s", plain.Name(e.Queue), amount, guaranteed, plain.Name(e.Type))
}

// DescribeEndings writes a line for each.
func DescribeEndings(ends []Ending) (text string) {
	for i := range ends {
		text += ends[i].String() + "\n"
	}
	return text
}

// MarshalJSON writes queue, type, amount and guaranteed, with quantities.
func (e Ending) MarshalJSON() ([]byte, error) {
	amount, guaranteed := e.texts()
	return json.Marshal(struct {
		Queue      string `json:"queue"`
		Type       string `json:"type"`
		Amount     string `json:"amount"`
		Guaranteed string `json:"guaranteed"`
	}{e.Queue, e.Type, amount, guaranteed})
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
			dst = append(dst, Ending{Queue: tree.Path(q), Type: s.Name(t), Amount: after, Guaranteed: g.Value[t], schema: s, index: t})
		}
	}
	return dst
}
