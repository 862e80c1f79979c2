package main

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-preempt/preempt/internal/exam"
	"github.com/stretchr/testify/require"
)

// told returns papers that Kueue can be told.
func told(t *testing.T) (all []exam.Paper) {
	papers, err := examination()
	require.NoError(t, err)
	for i := range 200 {
		p, err := exam.Random(i)
		require.NoError(t, err)
		papers = append(papers, *p)
	}
	for i := range papers {
		_, err := exam.Load(Peer{}, papers[i].Doc)
		if errors.Is(err, exam.ErrCannot) {
			continue
		}
		require.NoError(t, err, papers[i].Name)
		all = append(all, papers[i])
	}
	require.Greater(t, len(all), 40)
	return all
}

// TestFed: what Kueue's objects say of usage, quotas and workloads is what the
// documents say, and anything else would be noticed.
func TestFed(t *testing.T) {
	noticed := 0
	for _, paper := range told(t) {
		w, err := exam.Load(Peer{}, paper.Doc)
		require.NoError(t, err)
		rules := Peer{}.Rules()
		read := w.Facts()
		_, err = w.Decide(paper.Ask())
		if !errors.Is(err, exam.ErrCannot) {
			require.NoError(t, err, paper.Name)
		}
		require.Empty(t, exam.Differences(read, w.Facts()), "%s: the decision changed the world", paper.Name)
		for what, other := range exam.Changes(paper.Doc) {
			if slices.Contains(rules.Knows, what) {
				require.NotEmpty(t, exam.Differences(exam.Told(other).Of(rules.Knows), read), "%s: %s", paper.Name, what)
				noticed++
			}
		}
	}
	require.Greater(t, noticed, 100)
}

// TestDecide: quota is reclaimed from a workload of lower priority that borrows,
// and from no other.
func TestDecide(t *testing.T) {
	doc := func(priority string) string {
		return `{"name": "test", "queues": {"name": "root", "queues": [{"name": "a", "resources": {"guaranteed": {"cpu": "2"}}}, {"name": "b"}]},
			"nodes": [{"name": "n1", "capacity": {"cpu": "4"}}],
			"tasks": [
				{"key": "t1", "queue": "root.b", "application": "b", "node": "n1", "resources": {"cpu": "2"}, "priority": ` + priority + `},
				{"key": "t2", "queue": "root.b", "application": "b", "node": "n1", "resources": {"cpu": "2"}, "priority": 9}],
			"requests": [{"ask": {"key": "x", "queue": "root.a", "application": "a", "priority": 5, "resources": {"cpu": "2"}}, "then": "nothing"}]}`
	}
	for priority, want := range map[string]exam.Answer{
		"1": {Node: "n1", Victims: []string{"t1"}}, "5": {}, "7": {},
	} {
		papers, err := exam.Papers("test", []byte(doc(priority)))
		require.NoError(t, err)
		w, err := exam.Load(Peer{}, papers[0].Doc)
		require.NoError(t, err)
		got, err := w.Decide(papers[0].Ask())
		require.NoError(t, err)
		require.Equal(t, want, got, "priority %s", priority)
	}
}

// TestJudge: the table has both, and this library breaks nothing.
func TestJudge(t *testing.T) {
	var b strings.Builder
	s, err := judge(&b, "Some", told(t))
	require.NoError(t, err)
	require.Zero(t, s.Broken(0))
	require.Contains(t, b.String(), "| Kueue |")
}
