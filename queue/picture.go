package queue

import (
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/resources"
)

// String draws the tree, a line per queue: its name, what it uses, what of
// that leaves, and its bounds, each where there is any.
//
//	root used cpu=12 leaving cpu=2
//	  a  used cpu=8 leaving cpu=2 guaranteed cpu=5
//	  b  used cpu=4 guaranteed cpu=10 max cpu=20
func (t *Tree) String() string {
	width := 0
	for q := range t.All() {
		width = max(width, 2*t.Depth(q)+len(t.Name(q)))
	}
	var b strings.Builder
	for q := range t.All() {
		indent := strings.Repeat("  ", t.Depth(q))
		fmt.Fprintf(&b, "%-*s used %s", width, indent+t.Name(q), t.schema.Format(t.Usage(q)))
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
