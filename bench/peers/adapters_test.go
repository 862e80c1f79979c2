// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"slices"
	"testing"

	"github.com/go-preempt/preempt/internal/judge/exam"
	"github.com/stretchr/testify/require"
)

// papers returns the cases and some random worlds.
func papers(t *testing.T) []exam.Paper {
	all, err := examination()
	require.NoError(t, err)
	require.Greater(t, len(all), 100)
	for i := range 100 {
		p, err := exam.Random(i)
		require.NoError(t, err)
		all = append(all, *p)
	}
	return all
}

// TestFed: what the peers' own objects say of usage, guarantees, free space and
// all else is what the documents say, before and after a decision, for every
// document that they can be told. They can be told most.
func TestFed(t *testing.T) {
	all := papers(t)
	for _, p := range everybody() {
		rules := p.Rules()
		t.Run(rules.Name, func(t *testing.T) {
			told := 0
			for i := range all {
				w, err := exam.Load(p, all[i].Doc)
				if errors.Is(err, exam.ErrCannot) {
					continue
				}
				require.NoError(t, err, all[i].Name)
				told++
				_, err = w.Decide(all[i].Ask())
				if errors.Is(err, exam.ErrCannot) {
					continue
				}
				require.NoError(t, err, all[i].Name)
				w, err = exam.Load(p, all[i].Doc)
				require.NoError(t, err, "%s once more", all[i].Name)
				require.Empty(t, exam.Differences(exam.Told(all[i].Doc).Of(rules.Knows), w.Facts()))
			}
			require.Greater(t, told, 2*len(all)/3, "of %d", len(all))
		})
	}
}

// TestFed_Noticed: if an adapter fed anything else that its peer knows of, what
// is read back would say so.
func TestFed_Noticed(t *testing.T) {
	all := papers(t)[:60]
	for _, p := range everybody() {
		rules := p.Rules()
		t.Run(rules.Name, func(t *testing.T) {
			noticed := make(map[exam.What]int)
			for i := range all {
				w, err := exam.Load(p, all[i].Doc)
				if err != nil {
					require.ErrorIs(t, err, exam.ErrCannot)
					continue
				}
				read := w.Facts()
				for what, other := range exam.Changes(all[i].Doc) {
					if !slices.Contains(rules.Knows, what) {
						continue
					}
					require.NotEmpty(t, exam.Differences(exam.Told(other).Of(rules.Knows), read), "%s: %s", all[i].Name, what)
					noticed[what]++
				}
			}
			require.NotEmpty(t, noticed)
		})
	}
}

// decide returns what a peer answers to a document.
func decide(t *testing.T, p exam.Peer, text string) exam.Answer {
	t.Helper()
	papers, err := exam.Papers("test", []byte(text))
	require.NoError(t, err)
	w, err := exam.Load(p, papers[0].Doc)
	require.NoError(t, err)
	before := w.Facts()
	a, err := w.Decide(papers[0].Ask())
	require.NoError(t, err)
	again, err := w.Decide(papers[0].Ask())
	require.NoError(t, err)
	require.Equal(t, a, again, "on a second call")
	require.Empty(t, exam.Differences(before, w.Facts()), "the decision changed the world")
	return a
}

// TestDecide: what every scheduler agrees on, each in its own words.
func TestDecide(t *testing.T) {
	const (
		queues = `"queues": {"name": "root", "queues": [
			{"name": "a", "resources": {"guaranteed": {"cpu": "9", "memory": "9"}}}, {"name": "b"}]}`
		nodes = `"nodes": [{"name": "n1", "capacity": {"cpu": "4", "memory": "4"}}, {"name": "n2", "capacity": {"cpu": "4", "memory": "4"}, "labels": {"zone": "z"}},
			{"name": "n3", "capacity": {"cpu": "4", "memory": "4"}, "unschedulable": true}]`
		full = `{"key": "t1", "queue": "root.b", "application": "b", "node": "n1", "resources": {"cpu": "4", "memory": "1"}},
			{"key": "t2", "queue": "root.b", "application": "b", "node": "n2", "resources": {"cpu": "4", "memory": "1"}, "priority": 1}`
		ask = `"key": "x", "queue": "root.a", "application": "a", "priority": 5`
	)
	for _, test := range []struct {
		name, tasks, ask string
		want             exam.Answer
	}{
		{"fits", full, `"resources": {"memory": "1"}`, exam.Answer{Node: "n1"}},
		{"preempts", `{"key": "t1", "queue": "root.b", "application": "b", "node": "n1", "resources": {"cpu": "4", "memory": "1"}},
			{"key": "t2", "queue": "root.b", "application": "b", "node": "n2", "resources": {"cpu": "4", "memory": "1"}, "priority": 6}`,
			`"resources": {"cpu": "4"}`, exam.Answer{Node: "n1", Victims: []string{"t1"}}},
		{"too large", full, `"resources": {"cpu": "5"}`, exam.Answer{}},
		{"must not", full, `"resources": {"cpu": "4"}, "allowPreemptOther": false`, exam.Answer{}},
		{"selector", full, `"resources": {"cpu": "4"}, "nodeSelector": {"zone": "z"}`, exam.Answer{Node: "n2", Victims: []string{"t2"}}},
		{"no such label", full, `"resources": {"cpu": "4"}, "nodeSelector": {"zone": "y"}`, exam.Answer{}},
		{"required node", full, `"resources": {"cpu": "4"}, "requiredNode": "n2"`, exam.Answer{Node: "n2", Victims: []string{"t2"}}},
		{"all too high", `{"key": "t1", "queue": "root.b", "application": "b", "node": "n1", "resources": {"cpu": "4", "memory": "1"}, "priority": 6},
			{"key": "t2", "queue": "root.b", "application": "b", "node": "n2", "resources": {"cpu": "4", "memory": "1"}, "priority": 6}`,
			`"resources": {"cpu": "4"}`, exam.Answer{}},
	} {
		for _, p := range everybody() {
			t.Run(test.name+"/"+p.Rules().Name, func(t *testing.T) {
				text := `{"name": "test", ` + queues + `, ` + nodes + `, "tasks": [` + test.tasks + `],
					"requests": [{"ask": {` + ask + `, ` + test.ask + `}, "then": "nothing"}]}`
				require.Equal(t, test.want, decide(t, p, text))
			})
		}
	}
}

// TestDecide_Pods: pods are counted once, and a task is one.
func TestDecide_Pods(t *testing.T) {
	doc := func(room string) string {
		return `{"name": "test", "queues": {"name": "root", "queues": [
			{"name": "a", "resources": {"guaranteed": {"pods": "2"}}}, {"name": "b"}]},
			"nodes": [{"name": "n1", "capacity": {"cpu": "4", "pods": "` + room + `"}}],
			"tasks": [{"key": "t1", "queue": "root.b", "application": "b", "node": "n1", "resources": {"cpu": "1", "pods": "1"}}],
			"requests": [{"ask": {"key": "x", "queue": "root.a", "application": "a", "priority": 1, "resources": {"cpu": "1", "pods": "1"}}, "then": "nothing"}]}`
	}
	for _, p := range everybody() {
		require.Equal(t, exam.Answer{Node: "n1"}, decide(t, p, doc("2")), p.Rules().Name)
		require.Equal(t, exam.Answer{Node: "n1", Victims: []string{"t1"}}, decide(t, p, doc("1")), p.Rules().Name)
	}
}

// TestCannot: what a peer has no words for it is not asked.
func TestCannot(t *testing.T) {
	all := papers(t)
	for i := range all {
		for _, p := range everybody() {
			rules := p.Rules()
			for _, f := range exam.Features(all[i].Doc) {
				if f == exam.FeatureStrictPriority || slices.Contains(rules.Told, f) {
					continue
				}
				_, err := exam.Load(p, all[i].Doc)
				require.ErrorIs(t, err, exam.ErrCannot, "%s: %s: %s", all[i].Name, rules.Name, f)
			}
		}
	}
}
