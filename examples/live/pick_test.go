// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawSelection draws a selection of the values that drawJSON draws.
func drawSelection(t *rapid.T, depth int) selection {
	if depth == 0 || rapid.IntRange(0, 2).Draw(t, "all") == 0 {
		return nil
	}
	p := selection{}
	for _, name := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "aa", "d"}), 0, 3).Draw(t, "names") {
		p[name] = drawSelection(t, depth-1)
	}
	return p
}

// picked is pick, value by value.
func picked(v any, of selection) any {
	if of == nil {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		kept := map[string]any{}
		for name, is := range v {
			if within, ok := of[name]; ok {
				kept[name] = picked(is, within)
			}
		}
		return kept
	case []any:
		kept := []any{}
		for _, item := range v {
			kept = append(kept, picked(item, of))
		}
		return kept
	}
	return v
}

// TestPick: what is picked is what is named, and a text is valid if encoding/json says so.
func TestPick(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.MarshalIndent(drawJSON(t, 3), "", " ")
		require.NoError(t, err)
		of := drawSelection(t, 3)
		text, ok := pick(raw, of)
		require.True(t, ok, "%s", raw)
		var all, some any
		require.NoError(t, json.Unmarshal(raw, &all))
		require.NoError(t, json.Unmarshal(text, &some))
		require.Equal(t, picked(all, of), some)
		if members, is := all.(map[string]any); is {
			for _, name := range []string{"a", "b", "aa"} {
				want, there := members[name]
				found := find(raw, name)
				require.Equal(t, there, found != nil)
				if there {
					var value any
					require.NoError(t, json.Unmarshal(found, &value))
					require.Equal(t, want, value)
				}
			}
		}
		i := rapid.IntRange(0, len(raw)-1).Draw(t, "from")
		j := rapid.IntRange(i, min(i+3, len(raw))).Draw(t, "to")
		put := rapid.SampledFrom([]string{"", "{", "}", "[", "]", ",", `"`, `\`, `\u00e`, `\u00e9`, `\x`, "0", "-", "1.5e+3", "1.", "01", "e", "tru", "null", "\x01", "\xff", " "}).Draw(t, "put")
		spoilt := append(append(append([]byte{}, raw[:i]...), put...), raw[j:]...)
		_, ok = pick(spoilt, of)
		require.Equal(t, json.Valid(spoilt), ok, "%s", spoilt)
	})
}

// TestPick_Names: a name may be written with escapes, and one of other letters is another.
func TestPick_Names(t *testing.T) {
	text, ok := pick([]byte(`{"sp\u0065c": {"x": 1, "y": [{"z": 2, "w": 3}, 4]}, "Spec": 5}`), selection{"spec": {"y": {"z": nil}}})
	require.True(t, ok)
	require.Equal(t, `{"sp\u0065c":{"y":[{"z":2},4]}}`, string(text))
	require.Nil(t, find([]byte(`{"a": 1`), "kind"))
	require.Equal(t, selection{"a": nil, "b": {"c": nil, "d": nil}}, selection{"a": {"x": nil}, "b": {"c": nil}}.and(selection{"a": nil}, selection{"b": {"d": nil}}))
}
