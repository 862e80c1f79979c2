package queue

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/resources"
)

// String draws the tree, a line per queue: its name, what it uses, what of that
// leaves, and its bounds. What a queue does not have is left out.
//
//	root used cpu=12 leaving cpu=2
//	  a  used cpu=8 leaving cpu=2 guaranteed cpu=5
//	  b  used cpu=4 guaranteed cpu=10 max cpu=20
func (t *Tree) String() string {
	name := func(q ID) string { return strings.Repeat("  ", t.Depth(q)) + plain.Name(t.Name(q)) }
	width := 0
	for q := range t.All() {
		width = max(width, utf8.RuneCountInString(name(q)))
	}
	var b strings.Builder
	for q := range t.All() {
		fmt.Fprintf(&b, "%-*s used %s", width, name(q), t.schema.Format(t.Usage(q)))
		if p := t.Preempting(q); !resources.IsZero(p) {
			fmt.Fprintf(&b, " leaving %s", t.schema.Format(p))
		}
		if g := t.Guaranteed(q); g.Defined != 0 {
			fmt.Fprintf(&b, " guaranteed %s", t.schema.FormatLimit(g))
		}
		if m := t.Max(q); m.Defined != 0 {
			fmt.Fprintf(&b, " max %s", t.schema.FormatLimit(m))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
