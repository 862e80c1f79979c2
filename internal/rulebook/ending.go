// SPDX-License-Identifier: Apache-2.0

package rulebook

import (
	"fmt"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// An Ending is a queue of the path of an ask or a job that ends below its guarantee, and below
// what it had, in a type whose guarantees count. Work of its own may bring that about, and who
// can run on one node only.
type Ending struct {
	Queue, Type        string
	Amount, Guaranteed int64 // what it ends at, and what is guaranteed to it
}

// An EndingReport is an [Ending] for machines.
type EndingReport struct {
	Queue      string `json:"queue"`
	Type       string `json:"type"`
	Amount     string `json:"amount"`
	Guaranteed string `json:"guaranteed"`
}

// Report returns the ending with quantities.
func (e *Ending) Report(s *resources.Schema) EndingReport {
	t, ok := s.Index(e.Type)
	if !ok {
		return EndingReport{Queue: e.Queue, Type: e.Type} // not the schema of the decision
	}
	return EndingReport{e.Queue, e.Type, vectors.Text(s, t, e.Amount), vectors.Text(s, t, e.Guaranteed)}
}

// Describe returns the ending as "root.prod ends at 1 of 20 gpu".
func (e *Ending) Describe(s *resources.Schema) string {
	r := e.Report(s)
	return fmt.Sprintf("%s ends at %s of %s %s", plain.Name(r.Queue), r.Amount, r.Guaranteed, plain.Name(r.Type))
}

// DescribeEndings writes a line for each.
func DescribeEndings(s *resources.Schema, ends []Ending) (text string) {
	for i := range ends {
		text += ends[i].Describe(s) + "\n"
	}
	return text
}

// ReportEndings returns the reports of endings.
func ReportEndings(s *resources.Schema, ends []Ending) (reports []EndingReport) {
	for i := range ends {
		reports = append(reports, ends[i].Report(s))
	}
	return reports
}

// A Shift is what a plan does to the queues of a path: amounts arrive in its leaf, and those
// of victims go.
type Shift struct {
	Tree           *queue.Tree
	Leaf           queue.ID
	Arriving, Gone resources.Vector // Gone is scratch, with all types
}

// Endings appends to dst those of the path, from its leaf up and in the order of types.
// There are so many victims, each of a leaf and a size. The cost is that of a look at each of
// them for each queue with a guarantee.
func (x *Shift) Endings(dst []Ending, victims int, victim func(i int) (queue.ID, resources.Vector)) []Ending {
	tree := x.Tree
	for q := range tree.Ancestors(x.Leaf) {
		g := tree.Guaranteed(q)
		if g.Defined == 0 {
			continue
		}
		clear(x.Gone)
		for i := range victims {
			if leaf, size := victim(i); tree.Contains(q, leaf) {
				resources.Add(x.Gone, x.Gone, size)
			}
		}
		used, leaving := tree.Usage(q), tree.Leaving(q)
		for t := range g.Defined.All() {
			before := used[t] - leaving[t]
			if after := before - x.Gone[t] + x.Arriving.At(t); after < min(before, g.Value[t]) {
				dst = append(dst, Ending{Queue: tree.Path(q), Type: tree.Schema().Name(t), Amount: after, Guaranteed: g.Value[t]})
			}
		}
	}
	return dst
}
