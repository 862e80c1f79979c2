package internal

import (
	"encoding"
	"encoding/json"
	"fmt"
	"go/ast"
	"path"
	"reflect"
	"slices"
	"testing"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/victims"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// An enumeration is a value that has a stable word.
type enumeration interface {
	fmt.Stringer
	encoding.TextMarshaler
	encoding.TextUnmarshaler
}

// enumerations has one of each type of the packages that decide.
var enumerations = []enumeration{
	new(victims.Law), new(victims.Level), new(victims.Moment), new(victims.NodeVerdict), new(victims.Outcome), new(victims.OwnLeaf),
	new(victims.Proof), new(victims.Reason), new(victims.Relaxable), new(victims.Rule), new(victims.State),
	new(quota.Law), new(quota.Order), new(quota.Overshoot), new(quota.Result), new(quota.Rule),
	new(jobs.Ending), new(jobs.Formula), new(jobs.Law), new(jobs.Reason), new(jobs.Rule), new(jobs.Trigger),
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

// TestWords_RoundTrip: each value is read back from its text, and from JSON,
// texts are distinct, and what is no text of any value changes nothing.
func TestWords_RoundTrip(t *testing.T) {
	for _, e := range enumerations {
		typ := reflect.TypeOf(e).Elem()
		t.Run(typ.String(), func(t *testing.T) {
			seen := make(map[string]bool)
			for n := range 256 {
				v := reflect.New(typ)
				v.Elem().SetUint(uint64(n))
				value := v.Interface().(enumeration)
				text, err := value.MarshalText()
				if err != nil {
					require.Equal(t, fmt.Sprintf("%s(%d)", typ.Name(), n), value.String())
					require.ErrorContains(t, err, path.Base(typ.PkgPath()))
					continue
				}
				require.False(t, seen[string(text)], "%q twice", text)
				seen[string(text)] = true
				if n > 0 || len(text) > 0 {
					require.Equal(t, value.String(), string(text))
				}

				back := reflect.New(typ)
				require.NoError(t, back.Interface().(enumeration).UnmarshalText(text))
				require.Equal(t, uint64(n), back.Elem().Uint())

				written, err := json.Marshal(value)
				require.NoError(t, err)
				require.Equal(t, fmt.Sprintf("%q", text), string(written))
				require.NoError(t, json.Unmarshal(written, back.Interface()))
				require.Equal(t, uint64(n), back.Elem().Uint())

				require.Error(t, value.UnmarshalText([]byte("no such word")))
				require.Equal(t, uint64(n), v.Elem().Uint(), "an error changed the value")
			}
			require.Greater(t, len(seen), 1)
		})
	}
}
