package internal

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a function, a struct and a type may have in the packages that search. A
// type whose methods are in more files than this has taken over what belongs to
// its parts.
const (
	mostLines  = 50 // of a function
	mostFields = 30 // of a struct, those of embedded structs not counted
	mostFiles  = 6  // with methods of a type
)

// leastComments is how much of their lines the packages that search give to
// comments at least, in per cent. What such code does can be read off it. Why it
// is right cannot, and what the next reader would have to find out again is worth a
// line.
const leastComments = 25

// commented has those packages. Those of a group are counted together.
var commented = [][]string{{"victims", "victims/cover"}, {"jobs"}}

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

// shaped has the packages that are held to these limits.
var shaped = []string{"victims", "victims/cover", "jobs", "quota"}

// checkShape returns the functions and structs of a package that are too large,
// and in how many files each type has methods, if in more than mostFiles.
func checkShape(files []*source) (complaints []string, spread map[string]int) {
	methods := make(map[string]map[string]bool)
	for _, s := range files {
		if s.test {
			continue
		}
		name := s.fset.Position(s.Pos()).Filename
		ast.Inspect(s.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if lines := linesOf(s, n); lines > mostLines {
					s.complain(&complaints, n, "func %s has %d lines", n.Name.Name, lines)
				}
				if n.Recv != nil {
					typ := s.dir + "." + receiver(n)
					if methods[typ] == nil {
						methods[typ] = make(map[string]bool)
					}
					methods[typ][filepath.Base(name)] = true
				}
			case *ast.TypeSpec:
				if st, ok := n.Type.(*ast.StructType); ok && fieldsOf(st) > mostFields {
					s.complain(&complaints, n, "struct %s has %d fields", n.Name.Name, fieldsOf(st))
				}
			}
			return true
		})
	}
	spread = make(map[string]int)
	for typ, in := range methods {
		if len(in) > mostFiles {
			spread[typ] = len(in)
		}
	}
	return complaints, spread
}

func linesOf(s *source, n ast.Node) int {
	return s.fset.Position(n.End()).Line - s.fset.Position(n.Pos()).Line + 1
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

// fieldsOf counts the names of a struct; an embedded type is one.
func fieldsOf(st *ast.StructType) (n int) {
	for _, f := range st.Fields.List {
		n += max(1, len(f.Names))
	}
	return n
}

// TestShape: no function, struct or type of the packages that search is so large
// that it needs to be taken apart.
func TestShape(t *testing.T) {
	packages := readModule(t)
	spread := make(map[string]int)
	for _, dir := range shaped {
		require.NotEmpty(t, packages[dir], dir)
		complaints, wide := checkShape(packages[dir])
		for _, c := range complaints {
			t.Error(c)
		}
		maps.Copy(spread, wide)
	}
	for typ, files := range spread {
		t.Errorf("%s has methods in %d files: give its parts methods of their own", typ, files)
	}
}

// TestComments: a quarter of the lines of the packages that search say why.
func TestComments(t *testing.T) {
	packages := readModule(t)
	for _, group := range commented {
		comments, lines := 0, 0
		for _, dir := range group {
			for _, s := range packages[dir] {
				if s.test {
					continue
				}
				text, err := os.ReadFile(s.fset.Position(s.Pos()).Filename)
				require.NoError(t, err)
				c, l := commentShare(s, string(text))
				comments, lines = comments+c, lines+l
			}
		}
		if comments*100 < lines*leastComments {
			t.Errorf("%s: %d of %d lines have a comment, want %d%%: say why", strings.Join(group, ", "), comments, lines, leastComments)
		}
	}
}

func TestCommentShare(t *testing.T) {
	text := "// A package.\npackage p\n\n/* Two\nlines */\nvar x = \"// none\" // one\n\t\nvar y int\n"
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "f.go", text, parser.ParseComments)
	require.NoError(t, err)
	comments, lines := commentShare(&source{fset: fset, File: file}, text)
	require.Equal(t, []int{4, 6}, []int{comments, lines})
}

func TestCheckShape(t *testing.T) {
	fields := "type t struct { a, b int; c [2]string"
	for i := range mostFields - 3 {
		fields += fmt.Sprintf("; f%d int", i)
	}
	var files []string
	for range mostFiles {
		files = append(files, "func (x *t[T]) m() {}")
	}
	files[0] += "; " + fields + " }"
	complaints, spread := checkShape(parse(t, "victims", files...))
	require.Empty(t, complaints)
	require.Empty(t, spread)

	files = slices.Concat(files, []string{"func (x t) n() {\n" + "}", "_test func (x u) m() {}"})
	files[0] = fields + "; t }"
	body := ""
	for range mostLines - 1 {
		body += "\n"
	}
	files[1] = "func f() {" + body + "}; func g() {\n" + body + "}"
	files = append(files, "func (x t) o() {}", "func (x t) p() {}")
	complaints, spread = checkShape(parse(t, "victims", files...))
	require.Equal(t, []string{
		fmt.Sprintf("f0.go:1: struct t has %d fields", mostFields+1),
		fmt.Sprintf("f1.go:%d: func g has %d lines", mostLines, mostLines+1),
	}, complaints)
	require.Equal(t, map[string]int{"victims.t": mostFiles + 1}, spread)
}
