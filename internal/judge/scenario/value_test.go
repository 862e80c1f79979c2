// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

const valueText = `{"n": null, "s": "x", "e": "", "b": true, "i": -7, "f": 1.50, "l": [1, "y"], "o": {"p": {"q": []}, "r": null}, "z": {"y": 0}}`

// byName returns the fields of the object in valueText.
func byName(t *testing.T) map[string]Value {
	root, err := Read("f.json", []byte(valueText))
	require.NoError(t, err)
	require.Empty(t, root.Name())
	fields, err := root.Fields()
	require.NoError(t, err)
	all := make(map[string]Value)
	for _, f := range fields {
		all[f.Name()] = f
	}
	require.Len(t, all, 9)
	return all
}

func TestValue_Blank(t *testing.T) {
	blank := map[string]bool{"n": true, "e": true, "o": true}
	for name, v := range byName(t) {
		require.Equal(t, blank[name], v.Blank(), name)
		require.Equal(t, name == "n", v.Absent(), name)
	}
	require.True(t, Value{}.Absent())
	require.True(t, Value{}.Blank())
}

// Each kind is read as what it is and as nothing else; null reads as absent.
func TestValue_Kinds(t *testing.T) {
	readers := map[string]func(Value) (any, error){
		"fields": func(v Value) (any, error) { all, err := v.Fields(); return len(all), err },
		"items":  func(v Value) (any, error) { all, err := v.Items(); return len(all), err },
		"text":   func(v Value) (any, error) { return v.Text() },
		"bool":   func(v Value) (any, error) { return v.Bool() },
		"int32":  func(v Value) (any, error) { return v.Int32() },
		"scalar": func(v Value) (any, error) { return v.Scalar() },
	}
	want := map[string]map[string]any{
		"fields": {"n": 0, "o": 2, "z": 1},
		"items":  {"n": 0, "l": 2},
		"text":   {"n": "", "s": "x", "e": ""},
		"bool":   {"n": false, "b": true},
		"int32":  {"n": int32(0), "i": int32(-7)},
		"scalar": {"n": "", "s": "x", "e": "", "b": "true", "i": "-7", "f": "1.50"},
	}
	for reader, read := range readers {
		for name, v := range byName(t) {
			got, err := read(v)
			if answer, ok := want[reader][name]; ok {
				require.NoError(t, err, "%s %s", reader, name)
				require.Equal(t, answer, got, "%s %s", reader, name)
				continue
			}
			kind := ErrKind
			if reader == "int32" && name == "f" {
				kind = ErrValue
			}
			require.ErrorIs(t, err, kind, "%s %s", reader, name)
			require.Contains(t, err.Error(), "f.json: "+name+": ")
		}
	}
}

func TestValue_Errors(t *testing.T) {
	_, err := Read("f.json", []byte(`{"a": {"b": 1, "b": 2}}`))
	require.EqualError(t, err, "f.json: a.b: 2: duplicate: the field is there already")
	_, err = Read("f.json", nil)
	require.ErrorIs(t, err, ErrSyntax)

	wrong := byName(t)["l"].Wrong(errors.New("too short"))
	require.EqualError(t, wrong, `f.json: l: [1,"y"]: too short`)
	require.EqualError(t, Value{}.Wrong(errors.New("gone")), "gone")
}
