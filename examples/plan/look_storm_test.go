package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The example of a storm has one without the rule of the starving queue, and
// none with it.
func TestStormIn(t *testing.T) {
	data, err := os.ReadFile("../playground/documents/24-storm.json")
	require.NoError(t, err)
	s := asked(t, question{Document: string(data), Storm: true}).Storm
	require.Empty(t, s.WhyNot)
	require.Nil(t, s.Storm)
	require.Positive(t, s.States)
	require.Equal(t, &storyLook{
		Tasks: []string{"web", "shop"}, Running: []bool{true, false},
		Steps: []stormStepLook{{Starts: 1, Stops: []int{0}}, {Starts: 0, Stops: []int{1}}},
	}, s.Inside)

	// Nobody takes from anybody if nothing is guaranteed.
	free := strings.Replace(string(data), `{"guaranteed": {"cpu": "8"}}`, `{}`, 1)
	s = asked(t, question{Document: free, Storm: true}).Storm
	require.Empty(t, s.WhyNot)
	require.Nil(t, s.Inside)
}

// What a universe cannot say is told.
func TestStormIn_WhyNot(t *testing.T) {
	data, err := os.ReadFile("../playground/documents/24-storm.json")
	require.NoError(t, err)
	for _, test := range []struct{ old, new, why string }{
		{`"application": "shop"`, `"application": "web"`, "two tasks are of application web"},
		{`"capacity": {"cpu": "4"}`, `"capacity": {"cpu": "4"}, "unschedulable": true`, "node n1 does not take every task"},
		{`{"name": "left"}`, `{"name": "left", "properties": {"preemption.policy": "fence"}}`, "queue root.parent.left has a preemption policy"},
		{`"node": "n1",`, `"node": "n1", "job": "j",`, "task web is not a plain one"},
		{`{"ask"`, `{"repeat": 2, "ask"`, "request 0 is not a plain ask"},
		{`"requests":`, `"options": {"strictPriority": true}, "requests":`, "only documents without"},
	} {
		require.Contains(t, string(data), test.old)
		a := asked(t, question{Document: strings.Replace(string(data), test.old, test.new, 1), Storm: true})
		require.Empty(t, a.Mistakes, test.why)
		require.Contains(t, a.Storm.WhyNot, test.why)
	}
	require.Contains(t, asked(t, question{Document: string(demo), Storm: true}).Storm.WhyNot, "preemption policy")
	require.NotEmpty(t, asked(t, question{Document: "{", Storm: true}).Mistakes)

	many := strings.Replace(string(data), `"requests": [`, `"requests": [`+strings.Repeat(`{"ask": {"key": "k", "queue": "root.parent.left", "application": "a#", "resources": {"cpu": "1"}}},`, 20), 1)
	for i := range 20 {
		many = strings.Replace(many, "a#", "a"+string(rune('a'+i)), 1)
	}
	require.Contains(t, asked(t, question{Document: many, Storm: true}).Storm.WhyNot, "more than 20000 states")
}
