package victims

import (
	"fmt"
	"math/bits"
	"strings"
	"unicode/utf8"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// Names come from callers, and are made plain where they are printed: see
// package plain.

func (c *Cluster) queueName(q queue.ID) string { return plain.Name(c.tree.Path(q)) }

func (c *Cluster) nodeName(n NodeID) string { return plain.Name(c.nodes[n].name) }

// amounts writes amounts with their units.
func (c *Cluster) amounts(v resources.Vector) string { return plain.Line(c.Schema().Format(v)) }

// bound writes the bound of a limit on one type.
func (c *Cluster) bound(l resources.Limit, t int) string {
	v, _ := l.Bound(t)
	return plain.Line(c.Schema().Name(t) + "=" + c.Schema().Amount(t, v))
}

// counted writes a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// portion writes a share of a thing for people: in per cent, rounded half up to
// tenths, and from 10 on as so many times the thing.
func portion(s resources.Share, thing string) string {
	amount, of := uint64(max(s.Amount, 0)), uint64(max(s.Of, 1))
	whole, rest := amount/of, amount%of
	if whole >= 10 {
		return fmt.Sprintf("%d times %s", whole, thing)
	}
	hi, lo := bits.Mul64(rest, 2000)
	lo, carry := bits.Add64(lo, of, 0)
	half, _ := bits.Div64(hi+carry, lo, of) // twice the thousandths, and one
	switch thousandths := whole*1000 + half/2; {
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
	widths := make([]int, len(t[0]))
	for _, row := range t {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t {
		blanks := 2
		for i, cell := range row {
			if cell != "" {
				fmt.Fprintf(b, "%*s%s", blanks, "", cell)
				blanks = 0
			}
			blanks += widths[i] + 2
			if cell != "" {
				blanks -= utf8.RuneCountInString(cell)
			}
		}
		b.WriteByte('\n')
	}
}
