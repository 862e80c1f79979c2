// SPDX-License-Identifier: Apache-2.0

package object

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOf(t *testing.T) {
	utc := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		object Object
		want   string
	}{
		{Of(), `{}`},
		{Of("a?", 0), `{}`},
		{Of("b", 2, "a", ""), `{"b":2,"a":""}`},
		{Of("a?", 0, "b?", "", "c?", nil, "d?", false, "e?", time.Time{}.UTC(), "f?", []string{}, "g?", map[string]int{}, "h?", Object("")), `{}`},
		{Of("a?", -1, "b?", "x", "c", nil, "d?", true, "e?", utc, "f?", []string{""}, "g?", map[string]int{"z": 0, "y": 1}),
			`{"a":-1,"b":"x","c":null,"d":true,"e":"2024-05-01T00:00:00Z","f":[""],"g":{"y":1,"z":0}}`},
		{Of("a", Of("b?", Of("c", 1))), `{"a":{"b":{"c":1}}}`},
		{Of("a", []Object{Of("b", 1), Of("b", 2)}, "c?", []Object(nil)), `{"a":[{"b":1},{"b":2}]}`},
		{Of("a \"b\"\n", "\"\n\xff<"), `{"a \"b\"\n":"\"\n\ufffd<"}`},
	} {
		require.Equal(t, test.want, string(test.object))
	}
}

// Of two levels the text is that of a struct, and who marshals it says if there may be HTML in it.
func TestObject_Marshal(t *testing.T) {
	text, err := json.Marshal(Of("a", Of("b", "<")))
	require.NoError(t, err)
	require.Equal(t, `{"a":{"b":"\u003c"}}`, string(text))
}
