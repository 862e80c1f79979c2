// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever a document says, it is carried out or an error gives the place; and
// what is carried out comes out the same a second time.
func FuzzRun(f *testing.F) {
	for _, data := range some(f, "scenarios") {
		f.Add(data)
	}
	for _, data := range some(f, "bad") {
		f.Add(data)
	}
	f.Add([]byte(everything))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := Parse("fuzz.json", data)
		if err != nil || long(doc) {
			return
		}
		run, err := doc.Run()
		if err != nil {
			e, ok := errors.AsType[*Error](err)
			require.True(t, ok, err)
			require.Equal(t, "fuzz.json", e.File)
			require.NotEmpty(t, e.Path.String())
			require.Nil(t, run)
			return
		}
		var first, second bytes.Buffer
		require.NoError(t, run.Report().Write(&first))
		require.True(t, json.Valid(first.Bytes()))
		run.Check()
		again, err := doc.Run()
		require.NoError(t, err)
		require.NoError(t, again.Report().Write(&second))
		require.Equal(t, first.String(), second.String())
	})
}

// long reports whether a document asks too often for a test.
func long(doc *Document) bool {
	asks := 0
	for _, q := range doc.Requests {
		asks += max(q.Repeat, 1)
	}
	return asks > 100
}
