package main

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/scenario"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Whatever the library says has words here.
func TestWords_Complete(t *testing.T) {
	for r := victims.Reason(1); !strings.HasPrefix(r.String(), "Reason("); r++ {
		require.NotEmpty(t, reasons[r], r)
	}
	for r := victims.Rule(1); r < victims.NumRules; r++ {
		require.NotEmpty(t, rules[r], r)
	}
	for _, o := range []victims.Outcome{victims.Fits, victims.Waits, victims.Preempts} {
		for _, then := range []scenario.Then{scenario.ThenFinish, scenario.ThenLeave, scenario.ThenNothing} {
			require.NotEmpty(t, follows[o][then], "%v, %v", o, then)
		}
	}
}

// newPage returns a page about a document without requests.
func newPage(t *testing.T) (page, *bytes.Buffer) {
	t.Helper()
	doc, err := scenario.Parse("page.json", []byte(`{"name": "page", "types": ["cpu"], "queues": {"name": "root"},
		"nodes": [{"name": "n1", "capacity": {"cpu": "8"}}]}`))
	require.NoError(t, err)
	run, err := doc.Run()
	require.NoError(t, err)
	var b bytes.Buffer
	return page{w: &b, run: run}, &b
}

func TestPage_Cost(t *testing.T) {
	for _, test := range []struct {
		plan victims.Plan
		want string
	}{
		{victims.Plan{Cost: victims.Cost{Victims: 1}, Proven: true},
			"    cost: 1 victim of rank up to 0 and priority up to 0, 0s of work lost\n    no legal plan costs less\n"},
		{victims.Plan{Cost: victims.Cost{
			OptedOut: 2, Originators: 1, MaxRank: -3, MaxPriority: 4, Jobs: 1, Victims: 5, SumRanks: -20,
			Excess: resources.Share{Amount: 6, Of: 8}, Work: victims.WorkOf(90 * time.Second)}},
			"    cost: 2 opted out, 1 originator lost, 5 victims of rank up to -3 and priority up to 4, 1 job stopped, " +
				"3/4 of the cluster freed beyond need, 1m30s of work lost\n    the best that was found within the step budget\n"},
	} {
		p, b := newPage(t)
		p.cost(&test.plan)
		require.Equal(t, test.want, b.String())
	}
}

func TestPage_Refusal(t *testing.T) {
	p, b := newPage(t)
	f := victims.Refusal{Reason: victims.PredicateRefused, Candidates: 2, HasClosest: true, Lacks: resources.Vector{500}}
	f.Counts[victims.RuleExempt] = 3
	p.refusal(&f)
	require.Equal(t, `  refused (predicate): the nodes that could be made free are refused
    3 exempt (exempt)
    2 could be taken
    closest: n1, which would still lack cpu=500m
    not proven: the search took its whole step budget
`, b.String())
}

func TestFraction(t *testing.T) {
	for _, test := range []struct {
		amount, of int64
		want       string
	}{
		{1, 2, "1/2"}, {4, 64, "1/16"}, {64, 64, "1/1"}, {96, 64, "3/2"}, {7, 0, "7/1"}, {7, -3, "7/1"},
		{math.MaxInt64, math.MaxInt64, "1/1"}, {math.MaxInt64 - 1, math.MaxInt64, "9223372036854775806/9223372036854775807"},
	} {
		require.Equal(t, test.want, fraction(resources.Share{Amount: test.amount, Of: test.of}))
	}
}

func TestWord(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"web-1", "web-1"}, {"größe", "größe"}, {"", ""}, {"two words", `"two words"`},
		{"a\tb", `"a\tb"`}, {"\x1b[31m", `"\x1b[31m"`}, {"a\u00a0b", `"a\u00a0b"`}, {"\xff", "\"\\xff\""},
	} {
		require.Equal(t, test.want, word(test.in))
	}
}
