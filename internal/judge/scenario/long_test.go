// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Lists that are read again whenever they are asked for have the items, places
// and mistakes of lists that are kept, also in a text that is spoilt.
func TestReadLong(t *testing.T) {
	for _, folder := range []string{"scenarios", "bad"} {
		for name, text := range some(t, folder) {
			sameRead(t, name, text)
		}
	}
	text := corpus(t, "scenarios")["q01-the-single-member-that-suffices.json"]
	require.NotEmpty(t, text)
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(text)-1).Draw(t, "from")
		j := rapid.IntRange(i, min(i+40, len(text))).Draw(t, "to")
		put := rapid.SampledFrom([]string{"", "{", "}", "[", "]", ",", `"`, `\`, `\ud800`, "0", "t", "\xff", string(text[i:j]) + string(text[i:j])}).Draw(t, "put")
		sameRead(t, "spoilt", slices.Concat(text[:i], []byte(put), text[j:]))
	})
}

// sameRead holds the two ways to read a text against each other.
func sameRead(t require.TestingT, name string, data []byte) {
	var first, second findings
	kept, err := read(data, &first)
	long, errLong := readLong(data, &second)
	require.Equal(t, fmt.Sprint(err == nil, err), fmt.Sprint(errLong == nil, errLong), name)
	require.Equal(t, fmt.Sprint(first.err(name)), fmt.Sprint(second.err(name)), name)
	if err == nil {
		sameValue(t, kept, long)
	}
}

func sameValue(t require.TestingT, kept, long value) {
	require.True(t, kept.at.same(long.at), kept.at)
	require.Equal(t, []any{kept.kind, kept.yes, kept.text, kept.from}, []any{long.kind, long.yes, long.text, long.from}, kept.at)
	require.True(t, bytes.Equal(kept.raw, long.raw), kept.at)
	items := slices.Collect(long.each())
	require.Len(t, items, len(kept.items), kept.at)
	for i, item := range items {
		sameValue(t, kept.items[i], item)
	}
}

// Nothing of the lists of a document is kept, and all of what else it has.
func TestReadLong_Keeps(t *testing.T) {
	const text = `{"tasks": [{"key": "a"}, {"key": "b"}], "queues": {"queues": [{"name": "q"}]}, "options": {}}`
	var found findings
	v, err := readLong([]byte(text), &found)
	require.Nil(t, err)
	require.Len(t, v.items, 3)
	require.Empty(t, v.items[0].items)
	require.Equal(t, 2, v.items[0].length())
	require.Equal(t, 0, v.items[2].length())
	require.Len(t, v.items[1].items[0].items, 1)
	require.Equal(t, "q", v.items[1].items[0].items[0].items[0].text)
}

// A document that does not keep its tasks decides what it decides with them, as
// often as it is run, and is as wrong.
func TestParseLong(t *testing.T) {
	if testing.Short() {
		t.Skip("it decides every document three times")
	}
	for _, folder := range []string{"scenarios", "bad"} {
		docs := corpus(t, folder)
		ran := 0
		for _, file := range slices.Sorted(maps.Keys(docs)) {
			kept, err := Parse(file, docs[file])
			long, errLong := ParseLong(file, docs[file])
			if err != nil {
				require.EqualError(t, errLong, err.Error())
				continue
			}
			require.NoError(t, errLong, file)
			require.Nil(t, long.Tasks, file)
			require.Equal(t, kept.Tasks, slices.Collect(long.eachTask()), file)
			want, err := kept.Run()
			for range 2 {
				run, errLong := long.Run()
				if err != nil {
					require.EqualError(t, errLong, err.Error())
					continue
				}
				require.NoError(t, errLong, file)
				var one, other bytes.Buffer
				require.NoError(t, want.Report().Write(&one))
				require.NoError(t, run.Report().Write(&other))
				require.Equal(t, one.String(), other.String(), file)
				ran++
			}
		}
		require.True(t, ran > 0 || folder == "bad")
	}
}
