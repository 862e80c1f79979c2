// SPDX-License-Identifier: Apache-2.0

package internal

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mostSources is how many source files a folder has at most, tests not counted. A
// reader who lists a folder finds what it is about.
const mostSources = 35

// leastComments is how much of their lines the packages of the library give to
// comments at least, in per cent. What code does can be read off it. Why it is right
// cannot.
const leastComments = 20

// mostEngine is how many lines the search for asks should have at most, comments and
// blank lines counted, tests not. A reader has to keep all of it in mind.
const mostEngine = 5500

// engine has the files of the search for asks. A pattern is a path of the module.
var engine = []string{
	"internal/least/*.go", "internal/units/*.go", "internal/cost/*.go", "victims/cover/*.go",
	"victims/plan.go", "victims/plan_*.go", "victims/eligible.go", "victims/cost.go",
}

// leastWhole is how many examples with GPUs are whole files, which readers copy.
const leastWhole = 10

// inLibrary reports whether importers get the package of a folder.
func inLibrary(dir string) bool {
	r := roleOf(dir)
	return r == library || r == kernel && dir != "internal"
}

// commentShare returns how many lines of a file have a comment, also beside code,
// and how many are not blank. Text is the file's.
func commentShare(s *source, text string) (comments, lines int) {
	with := make(map[int]bool)
	for _, group := range s.Comments {
		for _, c := range group.List {
			for l := s.fset.Position(c.Pos()).Line; l <= s.fset.Position(c.End()).Line; l++ {
				with[l] = true
			}
		}
	}
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}
	return len(with), lines
}

// hats returns the struct types of a package that have nothing but a pointer to
// another struct type of the package, or that type embedded, and have methods. Such a
// type owns no state: its methods could be called on any of its likes.
func hats(files []*source) (complaints []string) {
	structs, methods := make(map[string]bool), make(map[string]bool)
	for _, s := range files {
		ast.Inspect(s.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				if _, ok := n.Type.(*ast.StructType); ok {
					structs[n.Name.Name] = true
				}
			case *ast.FuncDecl:
				if n.Recv != nil {
					methods[receiver(n)] = true
				}
			}
			return true
		})
	}
	for _, s := range files {
		if s.test {
			continue
		}
		ast.Inspect(s.File, func(n ast.Node) bool {
			ts, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			st, ok := ts.Type.(*ast.StructType)
			if !ok || st.Fields.NumFields() != 1 || !methods[ts.Name.Name] {
				return true
			}
			of, embedded := st.Fields.List[0].Type, len(st.Fields.List[0].Names) == 0
			p, pointer := of.(*ast.StarExpr)
			if pointer {
				of = p.X
			}
			if id, ok := of.(*ast.Ident); ok && structs[id.Name] && (embedded || pointer) {
				s.complain(&complaints, ts, "%s has nothing but a %s", ts.Name.Name, id.Name)
			}
			return true
		})
	}
	return complaints
}

// receiver returns the name of the type that a method is of.
func receiver(f *ast.FuncDecl) string {
	t := f.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return fmt.Sprintf("%T", t)
		}
	}
}

// sources returns the files of a package that are no tests.
func sources(files []*source) []*source {
	return slices.DeleteFunc(slices.Clone(files), func(s *source) bool { return s.test })
}

// TestFolders: no folder of the library or of a program has more files than one can keep in mind.
func TestFolders(t *testing.T) {
	for dir, files := range readModule(t) {
		if n := len(sources(files)); (inLibrary(dir) || roleOf(dir) == program) && n > mostSources {
			t.Errorf("%s has %d source files, want at most %d: a file is a chapter", dir, n, mostSources)
		}
	}
}

// TestEngine tells how long the search for asks is, and holds its list to files that exist.
func TestEngine(t *testing.T) {
	lines := make([]int, len(engine))
	for dir, files := range readModule(t) {
		for _, s := range sources(files) {
			for i, pattern := range engine {
				if ok, err := path.Match(pattern, path.Join(dir, s.base())); ok && err == nil {
					text, err := os.ReadFile(s.fset.Position(s.Pos()).Filename)
					require.NoError(t, err)
					lines[i] += strings.Count(string(text), "\n")
				}
			}
		}
	}
	total := 0
	for i, pattern := range engine {
		require.NotZero(t, lines[i], "no file is %s", pattern)
		t.Logf("%6d %s", lines[i], pattern)
		total += lines[i]
	}
	t.Logf("%6d lines, of %d that there should be at most", total, mostEngine)
}

// TestHats: each type of the library owns its state.
func TestHats(t *testing.T) {
	for dir, files := range readModule(t) {
		if inLibrary(dir) {
			for _, c := range hats(files) {
				t.Errorf("%s/%s", dir, c)
			}
		}
	}
}

// TestComments: a fifth of the library's lines say why.
func TestComments(t *testing.T) {
	comments, lines := 0, 0
	for dir, files := range readModule(t) {
		if !inLibrary(dir) {
			continue
		}
		for _, s := range sources(files) {
			text, err := os.ReadFile(s.fset.Position(s.Pos()).Filename)
			require.NoError(t, err)
			c, l := commentShare(s, string(text))
			comments, lines = comments+c, lines+l
		}
	}
	require.NotZero(t, lines)
	if comments*100 < lines*leastComments {
		t.Errorf("%d of %d lines have a comment, want %d%%: say why", comments, lines, leastComments)
	}
}

// foreign returns the names that a file has from other files of its package.
func foreign(f *ast.File) (names []string) {
	known := make(map[string]bool)
	for _, s := range f.Imports {
		known[path.Base(strings.Trim(s.Path.Value, `"`))] = true
	}
	for _, id := range f.Unresolved {
		if !known[id.Name] && types.Universe.Lookup(id.Name) == nil {
			names = append(names, id.Name)
		}
	}
	return names
}

// isExample reports whether a declaration is that of an example.
func isExample(d ast.Decl) bool {
	f, ok := d.(*ast.FuncDecl)
	return ok && strings.HasPrefix(f.Name.Name, "Example")
}

// TestWholeExamples: what godoc shows as a whole file compiles once it is copied.
func TestWholeExamples(t *testing.T) {
	whole := 0
	for dir, files := range readModule(t) {
		for _, s := range files {
			if !inLibrary(dir) || !s.test || !slices.ContainsFunc(s.Decls, isExample) {
				continue
			}
			name := s.fset.Position(s.Pos()).Filename
			file, err := parser.ParseFile(s.fset, name, nil, parser.ParseComments) // resolves names
			require.NoError(t, err)
			for _, example := range doc.Examples(file) {
				if example.Code != ast.Node(file) {
					continue
				}
				require.Empty(t, foreign(file), name)
				if text, err := os.ReadFile(name); err == nil && strings.Contains(string(text), `"gpu"`) {
					whole++
				}
			}
		}
	}
	require.GreaterOrEqual(t, whole, leastWhole)
}

func TestForeign(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "f.go", `package p; import "a/b"; var x = []int{b.One, y, len(z)}; func f() { x := y; _ = x }`, 0)
	require.NoError(t, err)
	require.Equal(t, []string{"y", "z", "y"}, foreign(file))
}

func TestCommentShare(t *testing.T) {
	text := "// A package.\npackage p\n\n/* Two\nlines */\nvar x = \"// none\" // one\n\t\nvar y int\n"
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "f.go", text, parser.ParseComments)
	require.NoError(t, err)
	comments, lines := commentShare(&source{fset: fset, File: file}, text)
	require.Equal(t, []int{4, 6}, []int{comments, lines})
}

func TestCheckHats(t *testing.T) {
	require.Equal(t, []string{"f1.go:1: a has nothing but a state", "f1.go:1: b has nothing but a state", "f2.go:1: named has nothing but a state"}, hats(parse(t, "victims",
		"type state struct { n int }; type other struct { state; n int }; func (o other) m() {}",
		"type a struct { *state }; type b struct { state }; func (x a) m() {}; func (x *b) m() {}",
		"type quiet struct { state }; type named struct { s *state }; func (x named) m() {}; type copied struct { s state }; func (x copied) m() {}",
		"type of struct { foreign.State }; func (x of) m() {}",
		"_test type c struct { *state }; func (x c) m() {}",
	)))
}

func TestInLibrary(t *testing.T) {
	for dir, want := range map[string]bool{
		"victims": true, "victims/cover": true, "internal/wide": true,
		"internal": false, "internal/judge/oracle": false, "examples/plan": false, "bench": false,
	} {
		require.Equal(t, want, inLibrary(dir), filepath.ToSlash(dir))
	}
}
