// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

func TestLine(t *testing.T) {
	victim := []Subject{{"victim", "t1"}}
	for _, test := range []struct {
		f          Finding
		line, text string
	}{
		{
			Finding{Law: LawGuarantee, Queue: "root.a", Type: "cpu", Have: 3500, Want: 5000},
			"guarantee (law 2): root.a: cpu 3.5 after the plan, want at least 5",
			`{"law":"guarantee","number":2,"queue":"root.a","type":"cpu","have":"3500m","want":"5","complaint":"cpu 3.5 after the plan, want at least 5"}`,
		},
		{
			Finding{Law: LawLeaving, Who: victim},
			"leaving: victim t1: leaving already",
			`{"law":"leaving","victim":"t1","complaint":"leaving already"}`,
		},
		{
			Finding{Law: LawLeaving, Who: []Subject{{"member", ""}, {"victim", "a \"b\"\n"}}},
			`leaving: member "": victim "a \"b\"\n": leaving already`,
			`{"law":"leaving","member":"","victim":"a \"b\"\n","complaint":"leaving already"}`,
		},
		{
			Finding{Law: LawPriority, Who: victim, Have: 1},
			"priority (law 6): victim t1: effective priority 1, want at most 0",
			`{"law":"priority","number":6,"victim":"t1","have":"1","want":"0","complaint":"effective priority 1, want at most 0"}`,
		},
		{
			Finding{Law: LawGang, Who: []Subject{{"job", "old"}}, Have: 1, Want: 2},
			"gang: job old: 1 members run on, want at least 2",
			`{"law":"gang","job":"old","have":"1","want":"2","complaint":"1 members run on, want at least 2"}`,
		},
		{
			Finding{Law: LawDelay, Have: 29999999999, Want: 30e9},
			"delay: 29.999999999s pending, want at least 30s",
			`{"law":"delay","have":"29.999999999s","want":"30s","complaint":"29.999999999s pending, want at least 30s"}`,
		},
		{
			Finding{Law: LawOptedOut, Who: victim, Other: "t 2"},
			`opted-out (law 1): victim t1: opted out, and "t 2" could be taken instead`,
			`{"law":"opted-out","number":1,"victim":"t1","other":"t 2","complaint":"opted out, and \"t 2\" could be taken instead"}`,
		},
		{
			Finding{Law: LawTrigger},
			"trigger (law 4): no queue guarantees a type of the ask",
			`{"law":"trigger","number":4,"complaint":"no queue guarantees a type of the ask"}`,
		},
		{ // of a job it is told in other words
			Finding{Of: "job", Law: LawTrigger, Queue: "root.a", Type: "gpu", Have: 4, Want: 4},
			"trigger (law 4): root.a: gpu 4 before the last member, want less than 4",
			`{"law":"trigger","number":4,"queue":"root.a","type":"gpu","have":"4","want":"4","complaint":"gpu 4 before the last member, want less than 4"}`,
		},
		{Finding{}, `"": unknown law`, `{"law":"","complaint":"unknown law"}`},
		{Finding{Law: "no law"}, `"no law": unknown law`, `{"law":"no law","complaint":"unknown law"}`},
	} {
		require.Equal(t, test.line, test.f.Line())
		text := []byte(test.f.JSON())
		require.Equal(t, test.text, string(text))
		require.True(t, json.Valid(text))
	}
}

// TestBook: no two laws have one word, and each law that is told in other words is in the
// book.
func TestBook(t *testing.T) {
	numbers := make(map[int]bool)
	for law, text := range book {
		require.Regexp(t, "^[a-z][a-z-]*$", law)
		require.True(t, text.Text != "" || text.Noun != "" && text.Relation != "", law)
		if n := Number(law); n > 0 {
			require.False(t, numbers[n], law)
			numbers[n] = true
		}
	}
	require.Len(t, numbers, 7)
	for of, some := range books {
		for law := range some {
			require.Contains(t, book, law, of)
		}
	}
}

// A priority climbs queue by queue: offsets add up, and a fence forgets what is below
// it before its own offset counts. Queues from the one above on play no part.
func TestClimb(t *testing.T) {
	schema, err := resources.NewSchema("cpu")
	require.NoError(t, err)
	with := func(name, policy, offset string, children ...queue.Config) queue.Config {
		return queue.Config{Name: name, Children: children, Properties: map[string]string{
			"priority.policy": policy, "priority.offset": offset,
		}}
	}
	tree, err := queue.NewLenient(schema, with("root", "default", "1000",
		with("a", "default", "100", with("b", "fence", "10", with("c", "default", "1")))))
	require.NoError(t, err)
	leaf, _ := tree.Lookup("root.a.b.c")
	for path, want := range map[string]int64{"root.a.b.c": 7, "root.a.b": 8, "root.a": 10, "root": 110} {
		below, _ := tree.Lookup(path)
		require.Equal(t, want, Climb{Tree: tree, Leaf: leaf, Below: below}.Lift(7), path)
	}
}
