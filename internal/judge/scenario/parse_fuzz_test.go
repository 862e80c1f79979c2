// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzParse holds whatever is given to be rejected with a file, a place and a
// kind, or to be a document that survives being written and read again. Either
// way twice the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte(everything))
	for _, folder := range []string{"scenarios", "bad"} {
		for _, data := range some(f, folder) {
			f.Add(data)
		}
	}
	kinds := []error{ErrSyntax, ErrKind, ErrField, ErrMissing, ErrDuplicate, ErrValue, ErrReference}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := Parse("doc.json", data)
		again, err2 := Parse("doc.json", data)
		if err != nil {
			require.Nil(t, doc)
			e, ok := errors.AsType[*Error](err)
			require.True(t, ok)
			require.Equal(t, "doc.json", e.File)
			require.True(t, strings.HasPrefix(err.Error(), "doc.json: "), "%s", err)
			told := err.(interface{ Unwrap() []error }).Unwrap()
			for _, err := range told[:min(len(told), mostMistakes)] {
				n := 0
				for _, k := range kinds {
					if errors.Is(err, k) {
						n++
					}
				}
				require.Equal(t, 1, n, "%s", err)
			}
			require.EqualError(t, err2, err.Error())
			return
		}
		require.NoError(t, err2)
		require.True(t, reflect.DeepEqual(doc, again))
		written, err := json.Marshal(write(doc))
		require.NoError(t, err)
		again, err = Parse("doc.json", written)
		require.NoError(t, err)
		require.True(t, reflect.DeepEqual(doc, again), "%s", written)
	})
}

func BenchmarkParse(b *testing.B) {
	task := `{"key": "t#", "queue": "root.a", "application": "app-a", "node": "n1", "resources": {"cpu": "500m", "memory": "1Gi"}},`
	var tasks strings.Builder
	for i := range 1000 {
		tasks.WriteString(strings.Replace(task, "#", string(rune('a'+i%26))+strings.Repeat("x", i/26), 1))
	}
	data := []byte(`{"name": "", "queues": {"name": "root", "queues": [{"name": "a"}]}, "nodes": [{"name": "n1", "capacity": {}}], "tasks": [` +
		strings.TrimSuffix(tasks.String(), ",") + `]}`)
	b.Run("tasks=1000", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Parse("bench.json", data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
