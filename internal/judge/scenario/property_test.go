// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
)

// render writes a value again. Where change returns a text, that stands for
// the value, or with its name for the field.
func render(v value, change func(value) (string, bool)) string {
	if s, ok := change(v); ok {
		return s
	}
	var b bytes.Buffer
	switch v.kind {
	case object:
		b.WriteByte('{')
		for i, f := range v.items {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quote(f.at.name) + ":" + render(f, change))
		}
		b.WriteByte('}')
	case list:
		b.WriteByte('[')
		for i, item := range v.items {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(render(item, change))
		}
		b.WriteByte(']')
	default:
		b.Write(v.raw)
	}
	return b.String()
}

func quote(name string) string {
	s, err := json.Marshal(name)
	if err != nil {
		panic(err)
	}
	return string(s)
}

// all calls do for v and everything in it.
func all(v value, do func(value)) {
	do(v)
	for _, item := range v.items {
		all(item, do)
	}
}

// A change is a way to spoil a document at any place of some kind.
type change struct {
	name string
	// spoil returns what stands for v then, the place at which that must be
	// found, and as what. Where it does not apply, kind is nil.
	spoil func(v value) (text string, path *Path, kind error)
}

var changes = []change{
	{"null", func(v value) (string, *Path, error) {
		return "null", v.at, ErrKind
	}},
	{"number for text", func(v value) (string, *Path, error) {
		if v.kind != text {
			return "", nil, nil
		}
		return "7", v.at, ErrKind
	}},
	{"text for number", func(v value) (string, *Path, error) {
		if v.kind != number {
			return "", nil, nil
		}
		return `"` + v.text + `"`, v.at, ErrKind
	}},
	{"list for object", func(v value) (string, *Path, error) {
		if v.kind != object {
			return "", nil, nil
		}
		return "[]", v.at, ErrKind
	}},
	{"fraction", func(v value) (string, *Path, error) {
		if v.kind != number {
			return "", nil, nil
		}
		return v.text + ".0", v.at, ErrValue
	}},
	{"huge", func(v value) (string, *Path, error) {
		if v.kind != number {
			return "", nil, nil
		}
		return "123456789012345678901", v.at, ErrValue
	}},
}

// spoiled returns the document with the change at a place, or "" where it does
// not apply, and what must come of it.
func (c change) spoiled(root, at value) (doc string, path *Path, kind error) {
	s, path, kind := c.spoil(at)
	if kind == nil {
		return "", nil, nil
	}
	return render(root, func(v value) (string, bool) { return s, v.at == at.at }), path, kind
}

// requireMistake checks that a document is rejected at the place, for being
// wrong in the way.
func requireMistake(t require.TestingT, doc string, path *Path, kind error) {
	_, err := Parse("bad.json", []byte(doc))
	require.ErrorIs(t, err, kind, doc)
	e, ok := errors.AsType[*Error](err)
	require.True(t, ok)
	require.Equal(t, path.String(), e.Path.String(), "%s\n%s", err, doc)
	require.NotContains(t, err.Error(), "\n", "one mistake is told once\n%s", doc)
}

// Every value of a document that uses every field is checked for its kind.
func TestParse_EveryValueIsChecked(t *testing.T) {
	root, err := readFirst([]byte(everything))
	require.Nil(t, err)
	var places []value
	all(root, func(at value) { places = append(places, at) })
	for _, c := range changes {
		tried := 0
		for _, at := range law.Some(places) {
			if doc, path, kind := c.spoiled(root, at); kind != nil {
				requireMistake(t, doc, path, kind)
				tried++
			}
		}
		require.Positive(t, tried, c.name)
		if !testing.Short() {
			require.Greater(t, tried, 5, c.name)
		}
	}
}

// Every object of it is checked for fields that it does not have, and every
// field for being there twice.
func TestParse_EveryFieldIsChecked(t *testing.T) {
	root, err := readFirst([]byte(everything))
	require.Nil(t, err)
	keep := func(value) (string, bool) { return "", false }
	var objects []value
	all(root, func(at value) {
		if at.kind == object {
			objects = append(objects, at)
		}
	})
	for _, at := range law.Some(objects) {
		with := func(name, text string) string {
			s := render(at, keep)
			more := quote(name) + ":" + text + "}"
			if len(at.items) > 0 {
				more = "," + more
			}
			s = s[:len(s)-1] + more
			return render(root, func(v value) (string, bool) { return s, v.at == at.at })
		}
		doc := with("zz", "true")
		_, err := Parse("bad.json", []byte(doc))
		e, ok := errors.AsType[*Error](err)
		require.True(t, ok, doc)
		require.Equal(t, at.at.Field("zz").String(), e.Path.String(), doc)
		for _, f := range at.items {
			requireMistake(t, with(f.at.name, render(f, keep)), f.at, ErrDuplicate)
		}
	}
}

// good draws one of the good documents.
func good(t *rapid.T, docs map[string][]byte) []byte {
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(docs))).Draw(t, "document")
	return bytes.TrimSpace(docs[name])
}

// withEverything returns the good documents.
func withEverything(t testing.TB) map[string][]byte {
	docs := some(t, "scenarios")
	docs["everything"] = []byte(everything)
	return docs
}

// Spoil any good document at any place: it is found there.
func propertySpoiled(docs map[string][]byte) func(*rapid.T) {
	return func(t *rapid.T) {
		root, err := readFirst(good(t, docs))
		require.Nil(t, err)
		var places []value
		all(root, func(v value) { places = append(places, v) })
		at := rapid.SampledFrom(places).Draw(t, "place")
		c := rapid.SampledFrom(changes).Draw(t, "change")
		if doc, path, kind := c.spoiled(root, at); kind != nil {
			requireMistake(t, doc, path, kind)
		}
	}
}

func TestParse_Spoiled(t *testing.T) { rapid.Check(t, propertySpoiled(withEverything(t))) }

func FuzzParse_Spoiled(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertySpoiled(withEverything(f)))) }

// The order of fields means nothing.
func propertyFieldOrder(docs map[string][]byte) func(*rapid.T) {
	return func(t *rapid.T) {
		data := good(t, docs)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		root, err := readFirst(data)
		require.Nil(t, err)
		shuffle(&root, rng)
		shuffled := render(root, func(value) (string, bool) { return "", false })
		want, e1 := Parse("doc.json", data)
		require.NoError(t, e1)
		got, e2 := Parse("doc.json", []byte(shuffled))
		require.NoError(t, e2, shuffled)
		require.True(t, reflect.DeepEqual(want, got), shuffled)
	}
}

// shuffle shuffles the fields of all objects.
func shuffle(v *value, rng *rand.Rand) {
	if v.kind == object {
		rng.Shuffle(len(v.items), func(i, j int) { v.items[i], v.items[j] = v.items[j], v.items[i] })
	}
	for i := range v.items {
		shuffle(&v.items[i], rng)
	}
}

func TestParse_FieldOrder(t *testing.T) { rapid.Check(t, propertyFieldOrder(withEverything(t))) }

func FuzzParse_FieldOrder(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(propertyFieldOrder(withEverything(f))))
}

// A document that is cut off, or goes on, is no document.
func propertyCutOff(docs map[string][]byte) func(*rapid.T) {
	return func(t *rapid.T) {
		data := good(t, docs)
		cut := data[:rapid.IntRange(0, len(data)-1).Draw(t, "length")]
		_, err := Parse("cut.json", cut)
		require.ErrorIs(t, err, ErrSyntax)
		more := rapid.SampledFrom([]string{"}", "{}", "1", "null", ",", "x", "\x00", "\ufeff"}).Draw(t, "more")
		_, err = Parse("more.json", append(bytes.Clone(data), more...))
		require.ErrorIs(t, err, ErrSyntax)
	}
}

func TestParse_CutOff(t *testing.T) { rapid.Check(t, propertyCutOff(withEverything(t))) }

func FuzzParse_CutOff(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertyCutOff(withEverything(f)))) }
