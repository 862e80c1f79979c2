// SPDX-License-Identifier: Apache-2.0

package internal

import (
	"go/ast"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// homes has, for each law, the files of the library that enforce it, beside the
// audits. Comments there begin with the law: "// Law 2: …", or "// law 2: …" at
// the end of a line. CONTRIBUTING.md, Where things are, tells the same.
var homes = map[string][]string{
	"law 1":         {"internal/eligible/rules.go"},
	"law 2":         {"internal/eligible/rooms.go", "quota/enforcer.go"},
	"law 3":         {"internal/eligible/rules.go", "jobs/case_rule.go"},
	"law 4":         {"internal/trigger/guarantees.go"},
	"law 5":         {"victims/plan_search.go"},
	"law 6":         {"internal/eligible/rules.go"},
	"law 7":         {"internal/eligible/rules.go"},
	"storm freedom": {"internal/eligible/rules.go"},
}

// lawMarker is a law at the beginning of a comment or of a sentence.
var lawMarker = regexp.MustCompile(`(?:^|[.:;] )((?i:law [0-9]|storm freedom)):`)

// markersOf returns the laws whose marker a file has, sorted.
func markersOf(s *source) (laws []string) {
	for _, group := range s.Comments {
		for _, c := range group.List {
			text := strings.TrimSpace(strings.TrimPrefix(c.Text, "//"))
			for _, m := range lawMarker.FindAllStringSubmatch(text, -1) {
				laws = append(laws, strings.ToLower(m[1]))
			}
		}
	}
	slices.Sort(laws)
	return slices.Compact(laws)
}

// base returns the name of a file without its folder.
func (s *source) base() string { return filepath.Base(s.fset.Position(s.Pos()).Filename) }

// judges reports whether a file is of the court, or of an auditor.
func (s *source) judges() bool {
	return strings.HasPrefix(s.base(), "audit") || strings.HasPrefix(s.base(), "court")
}

// TestLaws_Homes: each law is enforced where homes says, and nowhere else but in
// the audits.
func TestLaws_Homes(t *testing.T) {
	found := make(map[string][]string)
	for dir, files := range readModule(t) {
		for _, s := range files {
			if roleOf(dir) != library || s.test || s.base() == "doc.go" || s.judges() {
				continue
			}
			for _, law := range markersOf(s) {
				found[law] = append(found[law], dir+"/"+s.base())
			}
		}
	}
	for _, files := range found {
		slices.Sort(files)
	}
	if diff := cmp.Diff(homes, found); diff != "" {
		t.Errorf("files that enforce a law (-listed +found):\n%s", diff)
	}
}

// TestLaws_Map: the code map of CONTRIBUTING.md names the home of each law.
func TestLaws_Map(t *testing.T) {
	page := readPage(t, "CONTRIBUTING.md")
	for law, files := range homes {
		row := regexp.MustCompile(`(?mi)^\| Where is ` + law + ` kept.*$`).FindString(page)
		require.NotEmpty(t, row, "CONTRIBUTING.md has no row for %s", law)
		for _, file := range files {
			require.Contains(t, row, "("+file+")", "CONTRIBUTING.md, %s", law)
		}
	}
}

// judged has the files of the planners whose names auditors and the oracle do
// not use: whoever judges the rules does not go by the code that it judges.
var judged = map[string][]string{
	"internal/eligible": {"*.go"},
	"victims":           {"eligible.go", "guarantee.go", "gang.go", "plan.go", "plan_*.go", "refusal*.go"},
	"jobs":              {"case*.go", "search*.go", "refuse*.go"},
	"quota":             {"roster.go", "search.go", "walk.go", "rounds.go", "report.go"},
}

// declared returns the types and functions of some files of a package, and the
// exported ones by themselves.
func declared(files []*source, patterns []string) (names, exported []string) {
	for _, s := range files {
		matches := func(p string) bool { ok, _ := filepath.Match(p, s.base()); return ok }
		if s.test || !slices.ContainsFunc(patterns, matches) {
			continue
		}
		for _, d := range s.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && !slices.Contains(helpers, d.Name.Name) {
					names = append(names, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if ts, ok := spec.(*ast.TypeSpec); ok {
						names = append(names, ts.Name.Name)
					}
				}
			}
		}
	}
	for _, name := range names {
		if ast.IsExported(name) {
			exported = append(exported, name)
		}
	}
	return names, exported
}

// locals returns the names that a file gives to variables and parameters.
func locals(s *source) (names []string) {
	add := func(list ...ast.Expr) {
		for _, e := range list {
			if id, ok := e.(*ast.Ident); ok {
				names = append(names, id.Name)
			}
		}
	}
	ast.Inspect(s.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				add(n.Lhs...)
			}
		case *ast.RangeStmt:
			add(n.Key, n.Value)
		case *ast.Field:
			for _, name := range n.Names {
				add(name)
			}
		}
		return true
	})
	return names
}

// uses returns the places where a file names one of its own package's
// identifiers, or pkg.Name of another, that are listed. Selectors, keys of
// literals and local names may be spelled alike and do not count.
func uses(s *source, own []string, foreign map[string][]string) (complaints []string) {
	fields, local := make(map[*ast.Ident]bool), locals(s)
	ast.Inspect(s.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			fields[n.Sel] = true
			if pkg, ok := n.X.(*ast.Ident); ok && slices.Contains(foreign[pkg.Name], n.Sel.Name) {
				s.complain(&complaints, n, "%s names %s.%s", s.base(), pkg.Name, n.Sel.Name)
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok {
				fields[key] = true
			}
		case *ast.FuncDecl:
			fields[n.Name] = true
		case *ast.Ident:
			if !fields[n] && !slices.Contains(local, n.Name) && slices.Contains(own, n.Name) {
				s.complain(&complaints, n, "%s names %s", s.base(), n.Name)
			}
		}
		return true
	})
	return complaints
}

// helpers have nothing to do with any rule.
var helpers = []string{"zeros"}

// TestJudgesStandAlone: auditors and the oracle use nothing of the planners that
// they judge.
func TestJudgesStandAlone(t *testing.T) {
	packages := readModule(t)
	own, foreign := make(map[string][]string), make(map[string][]string)
	for dir, patterns := range judged {
		own[dir], foreign[path.Base(dir)] = declared(packages[dir], patterns)
		require.NotEmpty(t, own[dir], dir)
	}
	require.Subset(t, foreign["eligible"], []string{"Rules", "Rooms"})
	require.Contains(t, own["victims"], "shortage")
	for dir, files := range packages {
		for _, s := range files {
			audit := judged[dir] != nil && s.judges()
			if s.test || !audit && dir != "internal/judge/oracle" {
				continue
			}
			for _, complaint := range uses(s, own[dir], foreign) {
				t.Error(complaint)
			}
		}
	}
}

func TestUses(t *testing.T) {
	list := parse(t, "victims", `func f(x T, a eligible.Rooms, gangs int) { x.Rules(); var b Rules; _ = u{Rules: gangs}; Rules.Reset(b) }`)
	got := uses(list[0], []string{"Rules", "gangs"}, map[string][]string{"eligible": {"Rooms"}})
	require.Equal(t, []string{
		"f0.go:1: f0.go names eligible.Rooms", "f0.go:1: f0.go names Rules", "f0.go:1: f0.go names Rules",
	}, got)
}
