// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/go-preempt/preempt/internal/judge/scenario"
)

// requireSound runs the program on a text, as a dump or as queues. Either there is a
// document that examples/plan takes, or exit status 2, nothing on standard output, and
// messages with the name of the file.
func requireSound(t *testing.T, text string, args ...string) (status int, problems string) {
	status, out, problems := say(t, text, append([]string{"-document"}, args...)...)
	if status == bad {
		require.Empty(t, out)
		for line := range strings.Lines(problems) {
			require.True(t, strings.HasPrefix(line, "live: "), line)
		}
		return status, problems
	}
	require.Equal(t, done, status)
	doc, err := scenario.Parse("document", []byte(out))
	require.NoError(t, err, "%s", text)
	_, err = doc.Run()
	require.NoError(t, err, "%s", text)
	return status, problems
}

// asQueues has a text read as a file of queues, beside an empty dump.
var asQueues = []string{"-queues", "-", os.DevNull}

func FuzzInput(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	require.NoError(f, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(string(text), strings.Contains(file, "slurm") || strings.Contains(file, "queues"))
	}
	f.Fuzz(func(t *testing.T, text string, queues bool) {
		if len(text) > 1<<16 {
			return // what is bounded there has tests of its own
		}
		if queues {
			requireSound(t, text, asQueues...)
			return
		}
		requireSound(t, text)
	})
}

// A spot is a value somewhere in a JSON text.
type spot struct {
	path string
	set  func(any)
	is   any
}

// spots returns all values within a value, itself included.
func spots(v any, path string, set func(any)) (found []spot) {
	found = append(found, spot{path, set, v})
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			found = append(found, spots(v[k], strings.TrimPrefix(path+"."+k, "."), func(x any) { v[k] = x })...)
		}
	case []any:
		for i := range v {
			found = append(found, spots(v[i], fmt.Sprintf("%s[%d]", path, i), func(x any) { v[i] = x })...)
		}
	}
	return found
}

// all has TestEveryValue try all values in all places, which takes a while.
var all = flag.Bool("all", false, "try each wrong value in each place")

// TestEveryValue replaces every value of the files of every system by some that it may
// not have. The program takes it, or says where it is: the file, the object and the field.
func TestEveryValue(t *testing.T) {
	wrong := []any{nil, true, 7, -1, 1.5, json.Number("1e999"), "x", "", []any{}, []any{map[string]any{}}, map[string]any{}, map[string]any{"x": []any{}}}
	refused, tried := 0, 0
	for _, file := range []struct {
		name string
		args []string
	}{
		{"cluster.yaml", nil}, {"kueue.yaml", nil}, {"volcano.yaml", nil}, {"yunikorn-pods.yaml", nil},
		{"queues.yaml", asQueues}, {"yunikorn.yaml", asQueues},
	} {
		text, err := os.ReadFile("testdata/" + file.name)
		require.NoError(t, err)
		objects, err := split(text)
		require.NoError(t, err)
		for i := range objects {
			var whole any
			require.NoError(t, sigsyaml.Unmarshal(objects[i], &whole))
			for _, s := range spots(whole, "", nil)[1:] {
				if s.path == "kind" && file.name == "yunikorn.yaml" {
					continue // without it nobody knows that it is a ConfigMap
				}
				for _, w := range wrong {
					if tried++; tried%5 != 0 && !*all { // 12 values: each place gets others
						continue
					}
					s.set(w)
					changed, err := json.Marshal(whole)
					require.NoError(t, err)
					s.set(s.is)
					var stream strings.Builder
					for j := range objects {
						if j == i {
							stream.Write(changed)
						} else {
							stream.Write(objects[j])
						}
						stream.WriteByte('\n')
					}
					status, problems := requireSound(t, stream.String(), file.args...)
					if status == done {
						continue
					}
					refused++
					name := s.path[strings.LastIndexAny(s.path, ".]")+1:]
					if !strings.Contains(problems, "stdin") || !strings.Contains(problems, name) && !strings.HasSuffix(problems, "no objects\n") {
						t.Errorf("%s: %s = %v: %s", file.name, s.path, w, problems)
					}
				}
			}
		}
	}
	require.Greater(t, refused, 100)
}
