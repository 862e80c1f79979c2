package victims

import (
	"fmt"
	"math/bits"
	"strings"
	"text/tabwriter"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A writer writes what happened to a cluster for people. Names come from callers,
// who may have put anything into them: they are made plain here, and nowhere
// before, so that what is compared stays what it was. See package plain.
type writer struct{ c *Cluster }

func (w writer) queueName(q queue.ID) string { return plain.Name(w.c.tree.Path(q)) }

func (w writer) nodeName(n NodeID) string { return plain.Name(w.c.nodes[n].name) }

// amounts writes amounts with their units.
func (w writer) amounts(v resources.Vector) string { return plain.Line(w.c.Schema().Format(v)) }

// bound writes the bound of a limit on one type.
func (w writer) bound(l resources.Limit, t int) string {
	v, _ := l.Bound(t)
	return plain.Line(w.c.Schema().Name(t) + "=" + w.c.Schema().Amount(t, v))
}

// counted writes a number of things.
func counted[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// portion writes a share of a thing for people: in per cent, rounded half up to
// tenths, and from 10 on as so many times the thing.
func portion(s resources.Share, thing string) string {
	amount, of := uint64(max(s.Amount, 0)), uint64(max(s.Of, 1))
	// In whole numbers, as everything else: a float might round differently on
	// another machine, and golden files would tell.
	whole, rest := amount/of, amount%of
	if whole >= 10 {
		return fmt.Sprintf("%d times %s", whole, thing)
	}
	hi, lo := bits.Mul64(rest, 2000)
	lo, carry := bits.Add64(lo, of, 0)
	half, _ := bits.Div64(hi+carry, lo, of) // twice the thousandths, and one
	switch thousandths := whole*1000 + half/2; {
	// "0%" would say that there is none.
	case thousandths == 0 && amount > 0:
		return "less than 0.1% of " + thing
	case thousandths%10 == 0:
		return fmt.Sprintf("%d%% of %s", thousandths/10, thing)
	default:
		return fmt.Sprintf("%d.%d%% of %s", thousandths/10, thousandths%10, thing)
	}
}

// A table is rows of cells, of which the last column takes what is left.
type table [][]string

func (t *table) row(cells ...string) { *t = append(*t, cells) }

// writeTo writes the rows on a line each, columns aligned and no blanks at the
// end.
func (t table) writeTo(b *strings.Builder) {
	var lines strings.Builder
	w := tabwriter.NewWriter(&lines, 0, 0, 2, ' ', 0)
	for _, row := range t {
		// Columns are aligned by what the longest cell needs. The last one is
		// not padded, for it is a sentence.
		fmt.Fprintf(w, "  %s\n", strings.Join(row, "\t")) // which cannot fail, nor can Flush
	}
	w.Flush()
	for line := range strings.Lines(lines.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}
