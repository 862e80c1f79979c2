// SPDX-License-Identifier: Apache-2.0

package internal

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hidden has the functions of standard packages that the library does not call
// though it may import the package: they read the clock, wait, or print.
var hidden = map[string][]string{
	"time": {"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"},
	"fmt":  {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
}

// checkPurity returns what is impure in the files of a package of the library:
// goroutines, clocks, output, and state of the package.
func checkPurity(files []*source) (complaints []string) {
	tables := make(map[string]bool) // variables that must not be written
	for _, s := range files {
		for _, d := range s.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "init" {
					s.complain(&complaints, d, "func init")
				}
			case *ast.GenDecl:
				if d.Tok == token.VAR {
					checkVars(s, d, tables, &complaints)
				}
			}
		}
	}
	for _, s := range files {
		ast.Inspect(s.File, func(n ast.Node) bool {
			checkNode(s, n, &complaints)
			return true
		})
		for _, d := range s.Decls {
			checkWrites(s, d, tables, &complaints)
		}
	}
	return complaints
}

// checkVars looks at variables of the package. Two kinds are no state: a
// sentinel error, which is made by errors.New, or is one of another package, and called Err…, and a table, which is
// unexported, written down as a literal, and never written to in the package.
// (A table that is handed out as a slice could still be written elsewhere; that
// is for a reader to see.)
func checkVars(s *source, d *ast.GenDecl, tables map[string]bool, complaints *[]string) {
	for _, spec := range d.Specs {
		v := spec.(*ast.ValueSpec)
		for i, name := range v.Names {
			var value ast.Expr
			if i < len(v.Values) {
				value = v.Values[i]
			}
			_, literal := value.(*ast.CompositeLit)
			switch {
			case name.Name == "_": // a check of the compiler
			case isSentinel(name.Name, value), literal && !name.IsExported():
				tables[name.Name] = true
			default:
				s.complain(complaints, name, "variable %s of the package is neither a sentinel error nor a table", name.Name)
			}
		}
	}
}

func isSentinel(name string, value ast.Expr) bool {
	if !strings.HasPrefix(strings.ToLower(name), "err") {
		return false
	}
	if other, ok := value.(*ast.SelectorExpr); ok {
		return strings.HasPrefix(other.Sel.Name, "Err")
	}
	call, ok := value.(*ast.CallExpr)
	return ok && isSelector(call.Fun, "errors", "New")
}

func isSelector(e ast.Expr, x, sel string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != sel {
		return false
	}
	id, ok := s.X.(*ast.Ident)
	return ok && id.Name == x
}

// checkNode looks for what must not be anywhere.
func checkNode(s *source, n ast.Node, complaints *[]string) {
	switch n := n.(type) {
	case *ast.GoStmt:
		s.complain(complaints, n, "a goroutine")
	case *ast.CallExpr:
		if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "print" || id.Name == "println") {
			s.complain(complaints, n, "calls %s", id.Name)
		}
	case *ast.SelectorExpr:
		// Also where the function is not called: now := time.Now.
		for _, spec := range s.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			local := path.Base(p)
			if spec.Name != nil {
				local = spec.Name.Name
			}
			if slices.Contains(hidden[p], n.Sel.Name) && isSelector(n, local, n.Sel.Name) {
				s.complain(complaints, n, "uses %s.%s", p, n.Sel.Name)
			}
		}
	}
}

// checkWrites looks for writes to tables in a declaration. A look at an element
// by its address, row := &table[i], is none; but then writes to row are. Local
// variables of the same name are not told apart.
func checkWrites(s *source, d ast.Decl, tables map[string]bool, complaints *[]string) {
	guarded := maps.Clone(tables)
	looks := make(map[ast.Node]bool)
	ast.Inspect(d, func(n ast.Node) bool {
		if def, ok := n.(*ast.AssignStmt); ok && def.Tok == token.DEFINE && len(def.Lhs) == len(def.Rhs) {
			for i, value := range def.Rhs {
				if u, ok := value.(*ast.UnaryExpr); ok && u.Op == token.AND && tables[variable(u.X)] {
					guarded[variable(def.Lhs[i])] = true
					looks[u] = true
				}
			}
		}
		return true
	})
	ast.Inspect(d, func(n ast.Node) bool {
		for _, name := range written(n) {
			if guarded[name] && !looks[n] {
				s.complain(complaints, n, "writes to %s of the package", name)
			}
		}
		return true
	})
}

// written returns the names of the variables that a node writes, as a whole or
// in part, or lets others write by their address.
func written(n ast.Node) (names []string) {
	write := func(list ...ast.Expr) {
		for _, e := range list {
			if name := variable(e); name != "" {
				names = append(names, name)
			}
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			write(n.Lhs...)
		}
	case *ast.IncDecStmt:
		write(n.X)
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			write(n.Key, n.Value)
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			write(n.X)
		}
	case *ast.CallExpr:
		if id, ok := n.Fun.(*ast.Ident); ok && slices.Contains([]string{"append", "clear", "copy", "delete"}, id.Name) {
			write(n.Args[0])
		}
	}
	return names
}

// variable returns the variable that an expression is, or is a part of.
func variable(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x.Name
		case *ast.IndexExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return ""
		}
	}
}

func TestPurity(t *testing.T) {
	for _, files := range readModule(t) {
		pure := slices.DeleteFunc(slices.Clone(files), func(s *source) bool { return !s.pure() })
		for _, complaint := range checkPurity(pure) {
			t.Error(complaint)
		}
	}
}

// TestCheckPurity shows that each rule can be broken.
func TestCheckPurity(t *testing.T) {
	const state = " of the package is neither a sentinel error nor a table"
	for _, test := range []struct {
		text string
		why  string // "" where it is allowed
	}{
		{`func f() { go f() }`, "a goroutine"},
		{`func f() { x := func() { go f() }; x() }`, "a goroutine"},
		{`func init() {}`, "func init"},
		{`type t int; func (t) init() {}`, ""},
		{`func f() { println(1) }`, "calls println"},

		{`import "time"; var _ = time.Now()`, "uses time.Now"},
		{`import "time"; func f() { now := time.Now; _ = now }`, "uses time.Now"},
		{`import clock "time"; func f() { clock.Sleep(1) }`, "uses time.Sleep"},
		{`import "time"; func f(t time.Time) bool { return time.Since(t) > time.Second }`, "uses time.Since"},
		{`import "time"; func f(t time.Time) time.Time { return t.Add(time.Second) }`, ""},
		{`import "fmt"; func f() { fmt.Println() }`, "uses fmt.Println"},
		{`import "fmt"; func f() string { return fmt.Sprintln() }`, ""},

		{`var x int`, "variable x" + state},
		{`var x = map[string]int{}`, ""},
		{`var X = map[string]int{}`, "variable X" + state},
		{`var x = make(map[string]int)`, "variable x" + state},
		{`var x = &t{}; type t struct{}`, "variable x" + state},
		{`var a, x = []int{1}, 2`, "variable x" + state},
		{`var x = func() {}`, "variable x" + state},
		{`import "errors"; var ErrX = errors.New("x")`, ""},
		{`import "errors"; var X = errors.New("x")`, "variable X" + state},
		{`import "io"; var ErrX = io.ErrNoProgress`, ""},
		{`import "io"; var ErrX = io.Discard`, "variable ErrX" + state},
		{`import "sync"; var errX sync.Mutex`, "variable errX" + state},
		{`const x = 1; type t interface{}; var _ t = x`, ""},

		{`var x = [2]int{1, 2}; func f() int { return x[0] }`, ""},
		{`var x = [2]int{1, 2}; func f() { x[0] = 3 }`, "writes to x of the package"},
		{`var x = []t{}; type t struct{ y int }; func f() { (x[1:])[0].y++ }`, "writes to x of the package"},
		{`var x = map[int]int{}; func f() { delete(x, 1) }`, "writes to x of the package"},
		{`var x = []int{}; func f() []int { return append(x, 1) }`, "writes to x of the package"},
		{`var x = t{}; type t struct{ y int }; func f() *int { return &x.y }`, "writes to x of the package"},
		{`var x = []t{}; type t struct{ y int }; func f() int { p := &x[0]; return p.y }`, ""},
		{`var x = []t{}; type t struct{ y int }; func f() { p := &x[0]; p.y = 1 }`, "writes to p of the package"},
		{`var x = []t{}; type t struct{ y int }; func f() { p := &x[0]; *p = t{} }`, "writes to p of the package"},
		{`var x = []int{}; func f() { for x[0] = range 3 {} }`, "writes to x of the package"},
		{`import "errors"; var ErrX = errors.New("x"); func f() { ErrX = nil }`, "writes to ErrX of the package"},
		{`var x = []int{}; func f() int { x := 1; return x }`, ""},
		{`var x = []int{}; func f(t struct{ x int }) { t.x = 1 }`, ""},
	} {
		var want []string
		if test.why != "" {
			want = []string{"f0.go:1: " + test.why}
		}
		if diff := cmp.Diff(want, checkPurity(parse(t, "queue", test.text))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.text, diff)
		}
	}

	// A variable of one file is written in another.
	got := checkPurity(parse(t, "queue", `var x = []int{1}`, `func f() { x[0] = 2 }`))
	if diff := cmp.Diff([]string{"f1.go:1: writes to x of the package"}, got); diff != "" {
		t.Errorf("two files (-want +got):\n%s", diff)
	}
}
