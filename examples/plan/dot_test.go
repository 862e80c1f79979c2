// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/golden"
)

func TestDot_Golden(t *testing.T) {
	out := call("", "-dot")
	require.Equal(t, decided, out.status, out.stderr)
	golden.Compare(t, "testdata/demo-dot.golden", out.stdout)
}

func TestDotQuote(t *testing.T) {
	for _, test := range []struct {
		lines []string
		want  string
	}{
		{[]string{"a"}, `"a"`},
		{[]string{"a", "b c"}, `"a\nb c"`},
		{[]string{`"x"`}, `"\"x\""`},
		{[]string{`\N`, `\`}, `"\\N\n\\"`},
		{[]string{"<b>"}, `"<b>"`},
	} {
		require.Equal(t, test.want, dotQuote(test.lines...))
	}
}

// checkDot holds that nothing that is named gets out of its quotes.
func checkDot(t require.TestingT, s *scene) {
	var b strings.Builder
	writeDot(&b, s)
	var outside strings.Builder
	quoted := false
	text := b.String()
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++ // whatever follows belongs to it
		case c == '"':
			quoted = !quoted
		case quoted:
			if c < ' ' {
				require.Fail(t, "within quotes", "%q", c)
			}
		default:
			outside.WriteByte(c)
		}
	}
	require.False(t, quoted)
	require.Regexp(t, `^digraph plan \{[a-z0-9A-Z_ =,;.\[\]{}>\n-]*\}\n$`, outside.String())
	edges := len(s.victims) + len(s.comes)
	if !s.places {
		edges = 0
	}
	require.Equal(t, edges, strings.Count(outside.String(), "[color=,")+strings.Count(outside.String(), "[color=];"))
}
