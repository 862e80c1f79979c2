// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/golden"
	"github.com/go-preempt/preempt/victims"
)

// The texts of explanations, to be read: testdata/explain.golden has one for
// each cluster of the tables of explanations.
func TestDescribeExplanation_Golden(t *testing.T) {
	var b strings.Builder
	write := func(name string, f *fixture, e *victims.Explanation) {
		e.Decision.Plan.Steps = min(e.Decision.Plan.Steps, 2) // how many is the search's affair
		fmt.Fprintf(&b, "== %s\n%s%s", name, e.Decision.String(), e.String())
	}
	f, p, ask := everyRule(t)
	write("every rule", f, f.explain(p, ask))
	for _, c := range nodeCases {
		f, e := c.explain(t)
		write(c.name, f, e)
	}
	for _, o := range obstacles {
		f, p, ask := o.build(t)
		write(o.name, f, f.explain(p, ask))
	}
	golden.Compare(t, "testdata/explain.golden", b.String())
	for line := range strings.Lines(b.String()) {
		require.Equal(t, strings.TrimRight(line, " \n")+"\n", line, "blanks at the end of a line")
	}
}
