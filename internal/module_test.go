// SPDX-License-Identifier: Apache-2.0

package internal

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A source is one file of the module.
type source struct {
	dir  string // of the package, slashed, "." for the root
	test bool
	fset *token.FileSet
	*ast.File
}

// pure reports whether the file is held to the purity of the library.
func (s *source) pure() bool {
	r := roleOf(s.dir)
	return !s.test && (r == library || r == kernel)
}

// complain adds a complaint about a place in the file to a list.
func (s *source) complain(list *[]string, at ast.Node, format string, args ...any) {
	p := s.fset.Position(at.Pos())
	*list = append(*list, fmt.Sprintf("%s:%d: %s", p.Filename, p.Line, fmt.Sprintf(format, args...)))
}

// readModule returns every file of the module, by directory, whatever its
// build constraints. Nested modules are not part of it.
func readModule(t *testing.T) map[string][]*source {
	packages, err := wholeModule()
	require.NoError(t, err)
	return packages
}

// wholeModule reads the module once for all tests.
var wholeModule = sync.OnceValues(func() (map[string][]*source, error) {
	root := ".." // go test runs in the directory of the package
	packages := make(map[string][]*source)
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || file == root {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(file, "go.mod"))
			if err == nil || name[0] == '.' || name[0] == '_' || name == "testdata" || name == "vendor" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(rel)
		packages[dir] = append(packages[dir], &source{dir, strings.HasSuffix(name, "_test.go"), fset, f})
		return nil
	})
	return packages, err
})

// parse returns the files of a package that is written in a test.
func parse(t *testing.T, dir string, files ...string) (list []*source) {
	fset := token.NewFileSet()
	for i, text := range files {
		test := strings.HasPrefix(text, "_test ")
		name := fmt.Sprintf("f%d.go", i)
		f, err := parser.ParseFile(fset, name, "package p; "+strings.TrimPrefix(text, "_test "), parser.SkipObjectResolution)
		require.NoError(t, err)
		list = append(list, &source{dir, test, fset, f})
	}
	return list
}
