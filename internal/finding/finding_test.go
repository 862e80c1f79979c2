package finding

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

const (
	lawGuarantee uint8 = 1 + iota
	lawLeaving
	lawPriority
	lawGang
	lawDelay
	lawInstead
	lawTrigger
)

var laws = Laws{
	lawGuarantee: {Word: "guarantee", Number: 2, Noun: "after the plan", Relation: "at least"},
	lawLeaving:   {Word: "leaving", Text: "leaving already"},
	lawPriority:  {Word: "priority", Number: 6, Noun: "effective priority", Relation: "at most", Unit: Level},
	lawGang:      {Word: "gang", Noun: "members run on", Relation: "at least", Unit: Count},
	lawDelay:     {Word: "delay", Noun: "pending", Relation: "at least", Unit: Duration},
	lawInstead:   {Word: "opted-out", Number: 1, Text: "opted out, and %s could be taken instead"},
	lawTrigger:   {Word: "trigger", Noun: "before the plan", Relation: "less than", Text: "no queue guarantees a type of the ask"},
}

func tree(t *testing.T) *queue.Tree {
	t.Helper()
	schema, err := resources.NewSchema("cpu", "gpu")
	require.NoError(t, err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{{Name: "a"}}}, queue.Strict)
	require.NoError(t, err)
	return tree
}

func TestLine(t *testing.T) {
	queues := tree(t)
	victim := []Subject{{"victim", "t1"}}
	for _, test := range []struct {
		f          Finding
		line, text string
	}{
		{
			Finding{Law: lawGuarantee, Tree: queues, Queue: 1, HasQueue: true, HasType: true, Have: 3500, Want: 5000},
			"guarantee (law 2): root.a: cpu 3.5 after the plan, want at least 5",
			`{"law":"guarantee","number":2,"queue":"root.a","type":"cpu","have":"3500m","want":"5","complaint":"cpu 3.5 after the plan, want at least 5"}`,
		},
		{
			Finding{Law: lawLeaving, Who: victim},
			"leaving: victim t1: leaving already",
			`{"law":"leaving","victim":"t1","complaint":"leaving already"}`,
		},
		{
			Finding{Law: lawLeaving, Who: []Subject{{"member", ""}, {"victim", "a \"b\"\n"}}},
			`leaving: member "": victim "a \"b\"\n": leaving already`,
			`{"law":"leaving","member":"","victim":"a \"b\"\n","complaint":"leaving already"}`,
		},
		{
			Finding{Law: lawPriority, Who: victim, Have: 1},
			"priority (law 6): victim t1: effective priority 1, want at most 0",
			`{"law":"priority","number":6,"victim":"t1","have":"1","want":"0","complaint":"effective priority 1, want at most 0"}`,
		},
		{
			Finding{Law: lawGang, Who: []Subject{{"job", "old"}}, Have: 1, Want: 2},
			"gang: job old: 1 members run on, want at least 2",
			`{"law":"gang","job":"old","have":"1","want":"2","complaint":"1 members run on, want at least 2"}`,
		},
		{
			Finding{Law: lawDelay, Have: 29999999999, Want: 30e9},
			"delay: 29.999999999s pending, want at least 30s",
			`{"law":"delay","have":"29.999999999s","want":"30s","complaint":"29.999999999s pending, want at least 30s"}`,
		},
		{
			Finding{Law: lawInstead, Who: victim, Other: "t 2"},
			`opted-out (law 1): victim t1: opted out, and "t 2" could be taken instead`,
			`{"law":"opted-out","number":1,"victim":"t1","other":"t 2","complaint":"opted out, and \"t 2\" could be taken instead"}`,
		},
		{
			Finding{Law: lawTrigger, Tree: queues},
			"trigger: no queue guarantees a type of the ask",
			`{"law":"trigger","complaint":"no queue guarantees a type of the ask"}`,
		},
		{ // made up by a caller, without a tree
			Finding{Law: lawGuarantee, Queue: 3, HasQueue: true, Type: 1, HasType: true, Have: 2, Want: 4},
			"guarantee (law 2): 2 after the plan, want at least 4",
			`{"law":"guarantee","number":2,"have":"2","want":"4","complaint":"2 after the plan, want at least 4"}`,
		},
		{Finding{}, "Law(0): unknown law", `{"law":"Law(0)","complaint":"unknown law"}`},
		{Finding{Law: 255}, "Law(255): unknown law", `{"law":"Law(255)","complaint":"unknown law"}`},
	} {
		require.Equal(t, test.line, laws.Line(&test.f))
		text, err := laws.JSON(&test.f)
		require.NoError(t, err)
		require.Equal(t, test.text, string(text))
		require.True(t, json.Valid(text))
	}
}

func TestWords(t *testing.T) {
	for law := uint8(1); int(law) < len(laws); law++ {
		text, err := laws.MarshalWord("finding", law)
		require.NoError(t, err)
		require.Equal(t, laws.Word(law), string(text))
		back, err := laws.UnmarshalWord("finding", text)
		require.NoError(t, err)
		require.Equal(t, law, back)
	}
	for _, law := range []uint8{0, uint8(len(laws))} {
		_, err := laws.MarshalWord("finding", law)
		require.ErrorIs(t, err, word.ErrWord)
	}
	_, err := laws.UnmarshalWord("finding", []byte("no law"))
	require.ErrorIs(t, err, word.ErrWord)
	require.EqualError(t, err, `finding: law "no law": no such word`)
	_, err = laws.UnmarshalWord("finding", nil)
	require.ErrorIs(t, err, word.ErrWord)
}

// A priority climbs queue by queue: offsets add up, and a fence forgets what is below
// it before its own offset counts. Queues from the one above on play no part.
func TestClimb(t *testing.T) {
	schema, err := resources.NewSchema("cpu")
	require.NoError(t, err)
	with := func(name, policy, offset string, children ...queue.Config) queue.Config {
		return queue.Config{Name: name, Children: children, Properties: map[string]string{
			queue.PropertyPriorityPolicy: policy, queue.PropertyPriorityOffset: offset,
		}}
	}
	tree, err := queue.New(schema, with("root", "default", "1000",
		with("a", "default", "100", with("b", "fence", "10", with("c", "default", "1")))), queue.Lenient)
	require.NoError(t, err)
	leaf, _ := tree.Lookup("root.a.b.c")
	for path, want := range map[string]int64{"root.a.b.c": 7, "root.a.b": 8, "root.a": 10, "root": 110} {
		below, _ := tree.Lookup(path)
		require.Equal(t, want, Climb{Tree: tree, Leaf: leaf, Below: below}.Lift(7), path)
	}
}
