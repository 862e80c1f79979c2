// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The example of a storm has one without the rule of the starving queue. With it
// there is none: from each state of the storm it comes to rest.
func TestStormIn(t *testing.T) {
	data, err := os.ReadFile("../playground/documents/24-storm.json")
	require.NoError(t, err)
	s := asked(t, question{Document: string(data), Storm: true}).Storm
	require.Empty(t, s.WhyNot)
	require.Nil(t, s.Storm)
	require.Nil(t, s.Rest)
	require.Positive(t, s.States)
	require.Equal(t, []string{"n1", "n2"}, s.Inside.Nodes)
	require.Equal(t, []string{"web", "guest", "shop", "mail"}, s.Inside.Tasks)
	require.Len(t, s.Inside.Steps, 2)
	require.Len(t, s.Inside.Rests, 2)
	require.Equal(t, s.Inside.Place, afterSteps(s.Inside.Place, s.Inside.Steps), "a cycle")

	// Nobody takes from anybody if nothing is guaranteed.
	free := strings.Replace(string(data), `{"guaranteed": {"cpu": "12"}}`, `{}`, 1)
	s = asked(t, question{Document: free, Storm: true}).Storm
	require.Empty(t, s.WhyNot)
	require.Nil(t, s.Inside)
	require.Equal(t, []int{0, 1, -1, -1}, s.Rest.Place, "as the document has it")
	require.Equal(t, [][]stormStepLook{{}}, s.Rest.Rests, "at rest already")
}

// Fair shares of all that runs or waits are the guarantees of a universe.
func TestStormIn_FairShares(t *testing.T) {
	data, err := os.ReadFile("../playground/documents/35-fair-shares-rest.json")
	require.NoError(t, err)
	s := asked(t, question{Document: string(data), Storm: true}).Storm
	require.Empty(t, s.WhyNot)
	require.Nil(t, s.Storm)
	require.Nil(t, s.Inside)
	require.Len(t, s.Rest.Rests, 1)
	require.NotEmpty(t, s.Rest.Rests[0])
	end := afterSteps(s.Rest.Place, s.Rest.Rests[0])
	runs := make(map[string]int)
	for i, task := range s.Rest.Tasks {
		if team, _, _ := strings.Cut(task, "-"); end[i] >= 0 {
			runs[team]++
		}
	}
	require.Positive(t, runs["cho"], "who ran nothing in the beginning")
}

// afterSteps returns where the tasks are after steps.
func afterSteps(place []int, steps []stormStepLook) []int {
	place = slices.Clone(place)
	for _, s := range steps {
		for _, v := range s.Stops {
			place[v] = -1
		}
		place[s.Starts] = s.On
	}
	return place
}

// What a universe cannot say is told.
func TestStormIn_WhyNot(t *testing.T) {
	data, err := os.ReadFile("../playground/documents/24-storm.json")
	require.NoError(t, err)
	for _, test := range []struct{ old, new, why string }{
		{`"application": "shop"`, `"application": "web"`, "two tasks are of application web"},
		{`"name": "n1", "capacity"`, `"name": "n1", "unschedulable": true, "capacity"`, "node n1 does not take every task"},
		{`{"name": "left"}`, `{"name": "left", "properties": {"preemption.policy": "fence"}}`, "queue root.parent.left has a preemption policy"},
		{`"node": "n1",`, `"node": "n1", "job": "j",`, "task web is not a plain one"},
		{`{"ask"`, `{"repeat": 2, "ask"`, "request 0 is not a plain ask"},
		{`"requests":`, `"options": {"strictPriority": true}, "requests":`, "only documents without"},
		{`"requests":`, `"pending": {"root.guests": {"cpu": "1"}}, "requests":`, "only documents without"},
	} {
		require.Contains(t, string(data), test.old)
		a := asked(t, question{Document: strings.Replace(string(data), test.old, test.new, 1), Storm: true})
		require.Empty(t, a.Mistakes, test.why)
		require.Contains(t, a.Storm.WhyNot, test.why)
	}
	require.Contains(t, asked(t, question{Document: string(demo), Storm: true}).Storm.WhyNot, "preemption policy")
	require.NotEmpty(t, asked(t, question{Document: "{", Storm: true}).Mistakes)

	many := strings.Replace(string(data), `"requests": [`, `"requests": [`+strings.Repeat(`{"ask": {"key": "a#", "queue": "root.parent.left", "application": "a#", "resources": {"cpu": "1"}}},`, 20), 1)
	for i := range 20 {
		many = strings.Replace(many, "a#", "a"+string(rune('a'+i)), 2)
	}
	require.Contains(t, asked(t, question{Document: many, Storm: true}).Storm.WhyNot, "more than 20000 states")
}
