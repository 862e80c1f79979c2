// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// exemptions returns an exemption function that exempts tasks by key until so
// many minutes from now; a negative number is for ever.
func (f *fixture) exemptions(minutes map[string]int) func(*victims.Question) (time.Time, bool) {
	return func(e *victims.Question) (time.Time, bool) {
		m, ok := minutes[f.c.Task(e.Task).Key]
		if m < 0 {
			return time.Time{}, ok
		}
		return now.Add(time.Duration(m) * time.Minute), ok
	}
}

func TestExempt_RemovesCandidates(t *testing.T) {
	f := threeNodes(t)
	p := &jobs.Planner{Options: victims.Options{Exempt: f.exemptions(map[string]int{"v1": -1, "v2a": 5})}}
	d := f.decide(p, f.ask("x", "b", 6))
	require.Equal(t, []string{"v3a", "v3b", "v3c"}, keysOf(d))
}

func TestExempt_RetryAtFirstEndThatHelps(t *testing.T) {
	tests := map[string]struct {
		minutes map[string]int
		retry   int // minutes; 0 is never
	}{
		"all for ever":              {map[string]int{"v1": -1, "v2a": -1, "v3a": -1}, 0},
		"the only end":              {map[string]int{"v1": 7, "v2a": -1, "v3a": -1}, 7},
		"the first of three":        {map[string]int{"v1": 9, "v2a": 8, "v3a": 7}, 7},
		"both of a node must end":   {map[string]int{"v1": -1, "v2a": 3, "v2b": 6, "v3a": -1}, 6},
		"one end of two is no help": {map[string]int{"v1": -1, "v2a": 3, "v2b": -1, "v3a": -1}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := threeNodes(t)
			p := &jobs.Planner{Options: victims.Options{Exempt: f.exemptions(test.minutes)}}
			d := f.decide(p, f.ask("x", "b", 6))
			require.Equal(t, victims.Refused, d.Outcome)
			require.Contains(t, d.Refusal.Counts, victims.Count{Rule: "exempt", Tasks: len(test.minutes)})
			want := time.Time{}
			if test.retry > 0 {
				want = now.Add(time.Duration(test.retry) * time.Minute)
			}
			require.True(t, want.Equal(d.Refusal.RetryAt), "RetryAt %v, want %v", d.Refusal.RetryAt, want)
		})
	}
}

// An exemption that ends exactly now has ended.
func TestExempt_EndIsNotIncluded(t *testing.T) {
	f := threeNodes(t)
	p := &jobs.Planner{Options: victims.Options{Exempt: f.exemptions(map[string]int{"v1": 0})}}
	d := f.decide(p, f.ask("x", "b", 6))
	require.Equal(t, []string{"v1"}, keysOf(d))
}

// The caller is asked only about tasks that no other rule keeps and that help.
func TestExempt_AskedLast(t *testing.T) {
	f := threeNodes(t)
	f.task("opted", "b", "n1", 1)
	f.task("higher", "a", "n1", 1, func(t *victims.Task) { t.Priority = 9 })
	f.task("nothing", "a", "n1", 0)
	var asked []string
	p := &jobs.Planner{Options: victims.Options{Exempt: func(e *victims.Question) (time.Time, bool) {
		asked = append(asked, f.c.Task(e.Task).Key)
		return time.Time{}, false
	}}}
	d := f.decide(p, f.ask("x", "b", 6))
	require.Equal(t, []string{"v1"}, keysOf(d))
	require.NotContains(t, asked, "opted")
	require.NotContains(t, asked, "higher")
	require.NotContains(t, asked, "nothing")
}
