// SPDX-License-Identifier: Apache-2.0

package internal

import (
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/victims"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// An enumeration is a value that has a stable word.
type enumeration = fmt.Stringer

// enumerations has one of each type of the packages that decide.
var enumerations = []enumeration{
	new(victims.Outcome),
	new(victims.Proof), new(victims.State),
}

// TestWords_All: every exported enumeration of these packages is listed above.
func TestWords_All(t *testing.T) {
	packages := readModule(t)
	var found, listed []string
	for _, dir := range []string{"victims", "quota", "jobs"} {
		for _, s := range packages[dir] {
			ast.Inspect(s.File, func(n ast.Node) bool {
				if ts, ok := n.(*ast.TypeSpec); ok && !s.test && ts.Name.IsExported() && !ts.Assign.IsValid() {
					if id, ok := ts.Type.(*ast.Ident); ok && id.Name == "uint8" {
						found = append(found, path.Base(dir)+"."+ts.Name.Name)
					}
				}
				return true
			})
		}
	}
	for _, e := range enumerations {
		listed = append(listed, reflect.TypeOf(e).Elem().String())
	}
	slices.Sort(found)
	slices.Sort(listed)
	if diff := cmp.Diff(found, listed); diff != "" {
		t.Errorf("enumerations (-found +listed):\n%s", diff)
	}
}

// TestWords: the values of an enumeration have different words, and a number that is no
// value says so.
func TestWords(t *testing.T) {
	for _, e := range enumerations {
		typ := reflect.TypeOf(e).Elem()
		t.Run(typ.String(), func(t *testing.T) {
			seen := make(map[string]bool)
			for n := range 256 {
				v := reflect.New(typ)
				v.Elem().SetUint(uint64(n))
				text := v.Interface().(fmt.Stringer).String()
				if text == fmt.Sprintf("%s(%d)", typ.Name(), n) {
					continue
				}
				require.False(t, seen[text], "%q twice", text)
				require.Regexp(t, "^[a-z][a-z-]*$", text)
				seen[text] = true
			}
			require.Greater(t, len(seen), 1)
		})
	}
}

// TestWords_Levels: a level that is off by default is told wherever readers look for it.
func TestWords_Levels(t *testing.T) {
	off := rulebook.AllWords()[len(rulebook.Words()):]
	require.NotEmpty(t, off)
	for _, word := range off {
		for file, form := range map[string]string{
			"DESIGN.md":               "`%s`",
			"examples/plan/README.md": "%s",
			"victims/planner.go":      `%q`,
		} {
			text, err := os.ReadFile(filepath.Join("..", file))
			require.NoError(t, err)
			require.Contains(t, string(text), fmt.Sprintf(form, word), file)
		}
	}
}
