// SPDX-License-Identifier: Apache-2.0

package internal

import (
	"fmt"
	"go/ast"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mostParameters is how many parameters an exported function has beside its
// receiver. A call with more has to be read beside the declaration.
const mostParameters = 3

// signed has the exported functions that may be otherwise, and why.
var signed = map[string]string{
	"internal/wide.CmpRatio":              "two fractions are four numbers, and it is called in the innermost loops",
	"internal/least.Search.Solve":         "a limit, some rows and a number of steps: each call has others of them",
	"internal/units.Worker.Keys":          "of least.Keyer: a unit is two numbers, and what it is of",
	"victims.decision.Keys":               "likewise",
	"internal/judge/svg.Canvas.Text":      "a point is two numbers of one meaning",
	"internal/judge/oracle.FurtherPlaces": "a case, and an outcome in three parts that tests have by themselves",
	"internal/judge/exam.Rest.Add":        "a document, its name, its peer and a limit: nothing else has these in common",
	"internal/judge/exam.Facts.Flag":      "a fact that may not hold: seventeen callers would each say if",
	"internal/judge/world.World.Usage":    "with or without what is leaving: both are one sum",
	"internal/judge/world.World.Free":     "likewise",
}

// checkSignatures returns the exported functions of a package with more parameters
// than mostParameters, or with a bool among them: at the call it is a word that
// says nothing. It crosses what it finds in signed off the list that it is given.
func checkSignatures(files []*source, rest map[string]string) (complaints []string) {
	for _, s := range files {
		if s.test {
			continue
		}
		for _, d := range s.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() {
				continue
			}
			n, bools := parameters(f)
			if n <= mostParameters && bools == 0 {
				continue
			}
			name := s.dir + "." + f.Name.Name
			if f.Recv != nil {
				name = fmt.Sprintf("%s.%s.%s", s.dir, receiver(f), f.Name.Name)
			}
			if _, ok := rest[name]; ok {
				delete(rest, name)
				continue
			}
			s.complain(&complaints, f, "func %s has %d parameters, %d of them bool", name, n, bools)
		}
	}
	return complaints
}

// parameters counts the parameters of a function, and the bools among them.
func parameters(f *ast.FuncDecl) (n, bools int) {
	for _, field := range f.Type.Params.List {
		names := max(len(field.Names), 1)
		n += names
		if id, ok := field.Type.(*ast.Ident); ok && id.Name == "bool" {
			bools += names
		}
	}
	return n, bools
}

// TestSignatures: exported functions can be read where they are called.
func TestSignatures(t *testing.T) {
	rest := maps.Clone(signed)
	for name, why := range rest {
		require.NotEmpty(t, why, name)
	}
	for dir, files := range readModule(t) {
		if r := roleOf(dir); r == library || r == kernel || strings.HasPrefix(dir, "internal/") {
			for _, complaint := range checkSignatures(files, rest) {
				t.Error(complaint)
			}
		}
	}
	require.Empty(t, rest, "exceptions that nobody needs")
}

func TestCheckSignatures(t *testing.T) {
	rest := map[string]string{"victims.T.Listed": "a reason", "victims.Unused": "a reason"}
	require.Equal(t, []string{
		"f0.go:1: func victims.F has 4 parameters, 0 of them bool",
		"f0.go:1: func victims.T.G has 4 parameters, 0 of them bool",
		"f0.go:1: func victims.H has 1 parameters, 1 of them bool",
	}, checkSignatures(parse(t, "victims",
		"func F(a, b int, c string, d ...any) {}; func (t *T[X]) G(int, int, int, int) {}; func H(now bool) {}",
		"func Three(a, b, c int) bool { return true }; func (t T) Listed(a, b, c, d int) {}; func small(a, b, c, d int, e bool) {}",
		"_test func Helper(a, b, c, d, e bool) {}",
	), rest))
	require.Equal(t, map[string]string{"victims.Unused": "a reason"}, rest)
}
