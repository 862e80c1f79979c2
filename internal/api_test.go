// SPDX-License-Identifier: Apache-2.0

package internal

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// released is the last release, of which the file has every exported name with its type, a line each.
const released = "0.2.0"

var release = flag.Bool("release", false, "write the exported names of the release anew")

// named finds the name that a line of the file is about.
var named = regexp.MustCompile(`^\S+ (?:func |func \(.*?\) |field \w+\.(?:\w+\.)?|type |const |var )(\w+)`)

// TestAPI holds the packages to what the last release exported. What is gone, or of another type, must
// stand in the CHANGELOG since then, where readers learn what to write instead.
func TestAPI(t *testing.T) {
	file := filepath.Join("..", "testdata", "api", released+".txt")
	now := api(t)
	if *release {
		require.NoError(t, os.WriteFile(file, []byte(strings.Join(now, "\n")+"\n"), 0o644))
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	log, err := os.ReadFile(filepath.Join("..", "CHANGELOG.md"))
	require.NoError(t, err)
	since, _, found := strings.Cut(string(log), "\n## "+released)
	require.True(t, found, "CHANGELOG.md has no heading for %s", released)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if _, ok := slices.BinarySearch(now, line); ok {
			continue
		}
		if name := named.FindStringSubmatch(line)[1]; !strings.Contains(since, "`"+name) && !strings.Contains(since, "."+name) {
			t.Errorf("%s: was in %s. Say in CHANGELOG.md, above that, what to write instead of `%s`", line, released, name)
		}
	}
}

// api returns a line for each exported name of the packages for users, sorted.
func api(t *testing.T) (lines []string) {
	for dir := range mayImport {
		if strings.HasPrefix(dir, "internal") {
			continue
		}
		files, err := filepath.Glob(filepath.Join("..", dir, "*.go"))
		require.NoError(t, err)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			require.NoError(t, err)
			for _, decl := range file.Decls {
				for _, line := range exportsOf(decl) {
					lines = append(lines, dir+": "+line)
				}
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// exportsOf returns what a declaration exports.
func exportsOf(decl ast.Decl) (lines []string) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		receiver := ""
		if d.Recv != nil {
			receiver = "(" + text(d.Recv.List[0].Type) + ") "
		}
		if d.Name.IsExported() && (receiver == "" || ast.IsExported(strings.TrimLeft(receiver, "(*"))) {
			lines = append(lines, "func "+receiver+d.Name.Name+signature(d.Type))
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if name.IsExported() {
						lines = append(lines, d.Tok.String()+" "+name.Name)
					}
				}
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					lines = append(lines, typed(s)...)
				}
			}
		}
	}
	return lines
}

// typed returns a type, and the exported fields and methods that it lists.
func typed(s *ast.TypeSpec) (lines []string) {
	name, list := s.Name.Name, (*ast.FieldList)(nil)
	switch x := s.Type.(type) {
	case *ast.StructType:
		list = x.Fields
		lines = append(lines, "type "+name+" struct")
	case *ast.InterfaceType:
		list = x.Methods
		lines = append(lines, "type "+name+" interface")
	default:
		return append(lines, "type "+name+" "+text(x))
	}
	for _, f := range list.List {
		of := text(f.Type)
		if len(f.Names) == 0 && ast.IsExported(of[strings.LastIndex(of, ".")+1:]) {
			lines = append(lines, "field "+name+"."+of)
		}
		for _, field := range f.Names {
			if field.IsExported() {
				lines = append(lines, "field "+name+"."+field.Name+" "+of)
			}
		}
	}
	return lines
}

// signature returns the types of parameters and results.
func signature(f *ast.FuncType) (all string) {
	for n, fields := range []*ast.FieldList{f.TypeParams, f.Params, f.Results} {
		var types []string
		for _, field := range fieldsOf(fields) {
			for range max(len(field.Names), 1) {
				types = append(types, text(field.Type))
			}
		}
		switch list := strings.Join(types, ", "); {
		case n == 1:
			all += "(" + list + ")"
		case n == 0 && list != "":
			all += "[" + list + "]"
		case list != "":
			all += " (" + list + ")"
		}
	}
	return all
}

func fieldsOf(list *ast.FieldList) []*ast.Field {
	if list == nil {
		return nil
	}
	return list.List
}

// text returns a type as it is written, on one line.
func text(e ast.Expr) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, token.NewFileSet(), e); err != nil {
		panic(err) // a buffer does not fail
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
