// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-preempt/preempt/internal/judge/exam"
	"github.com/stretchr/testify/require"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// told returns papers that Kueue can be told.
func told(t *testing.T, peer Peer) (all []exam.Paper) {
	papers, err := examination()
	require.NoError(t, err)
	worlds, err := random(100)
	require.NoError(t, err)
	for _, p := range append(papers, worlds...) {
		_, err := exam.Load(peer, p.Doc)
		if errors.Is(err, exam.ErrCannot) {
			continue
		}
		require.NoError(t, err, p.Name)
		all = append(all, p)
	}
	require.Greater(t, len(all), 180)
	return all
}

// TestFed: what Kueue's objects say of usage, quotas and workloads is what the
// documents say, and anything else would be noticed.
func TestFed(t *testing.T) {
	for _, peer := range []Peer{{}, {Lower: true}} {
		noticed, plans := 0, 0
		for _, paper := range told(t, peer) {
			w, err := exam.Load(peer, paper.Doc)
			require.NoError(t, err)
			rules := peer.Rules()
			read := w.Facts()
			a, err := w.Decide(paper.Ask())
			if !errors.Is(err, exam.ErrCannot) {
				require.NoError(t, err, paper.Name)
			}
			if len(a.Victims) > 0 {
				plans++
			}
			require.Empty(t, exam.Differences(read, w.Facts()), "%s: the decision changed the world", paper.Name)
			for what, other := range exam.Changes(paper.Doc) {
				if slices.Contains(rules.Knows, what) {
					require.NotEmpty(t, exam.Differences(exam.Told(other).Of(rules.Knows), read), "%s: %s", paper.Name, what)
					noticed++
				}
			}
		}
		require.Greater(t, noticed, 1000)
		require.Greater(t, plans, 25)
	}
}

// TestReclaims: the policy of the ClusterQueues is read back from Kueue's snapshot,
// and is what the configuration and the document say.
func TestReclaims(t *testing.T) {
	for _, c := range []struct {
		lower, strict bool
		want          kueue.PreemptionPolicy
	}{
		{false, false, kueue.PreemptionPolicyAny}, {false, true, kueue.PreemptionPolicyLowerPriority},
		{true, false, kueue.PreemptionPolicyLowerPriority}, {true, true, kueue.PreemptionPolicyLowerPriority},
	} {
		doc := contested(t, 1).Doc
		doc.Options.StrictPriority = c.strict
		loaded, err := exam.Load(Peer{Lower: c.lower}, doc)
		require.NoError(t, err)
		w := loaded.(*world)
		require.Len(t, w.leaves, 2)
		for _, name := range w.leaves {
			p := w.snapshot.ClusterQueue(queueRef(name)).Preemption
			require.Equal(t, c.want, p.ReclaimWithinCohort)
			require.Equal(t, kueue.PreemptionPolicyNever, p.WithinClusterQueue)
		}
	}
}

// contested returns a paper about a queue that wants its guarantee back, which
// another queue borrows with a task of this priority and one of 9.
func contested(t *testing.T, priority int) exam.Paper {
	papers, err := exam.Papers("test", fmt.Appendf(nil, `{"name": "test",
		"queues": {"name": "root", "queues": [{"name": "a", "resources": {"guaranteed": {"cpu": "2"}}}, {"name": "b"}]},
		"nodes": [{"name": "n1", "capacity": {"cpu": "4"}}],
		"tasks": [
			{"key": "t1", "queue": "root.b", "application": "b", "node": "n1", "resources": {"cpu": "2"}, "priority": %d},
			{"key": "t2", "queue": "root.b", "application": "b", "node": "n1", "resources": {"cpu": "2"}, "priority": 9}],
		"requests": [{"ask": {"key": "x", "queue": "root.a", "application": "a", "priority": 5, "resources": {"cpu": "2"}}, "then": "nothing"}]}`, priority))
	require.NoError(t, err)
	return papers[0]
}

// TestDecide: quota is reclaimed from the workload of the lowest priority that
// borrows, and, if so configured, from none that is not lower than the ask's.
func TestDecide(t *testing.T) {
	t1 := exam.Answer{Node: "n1", Victims: []string{"t1"}}
	for priority, lower := range map[int]exam.Answer{1: t1, 5: {}, 7: {}} {
		for peer, want := range map[Peer]exam.Answer{{}: t1, {Lower: true}: lower} {
			paper := contested(t, priority)
			w, err := exam.Load(peer, paper.Doc)
			require.NoError(t, err)
			got, err := w.Decide(paper.Ask())
			require.NoError(t, err)
			require.Equal(t, want, got, "%v, priority %d", peer, priority)
		}
	}
}

// TestPooled: nodes are added up to one, within the root's max; who leaves is gone,
// and guarantees are cut, that of the asking queue first.
func TestPooled(t *testing.T) {
	papers, err := exam.Papers("test", []byte(`{"name": "test",
		"queues": {"name": "root", "resources": {"max": {"cpu": "7"}}, "queues": [
			{"name": "a", "resources": {"guaranteed": {"cpu": "9"}}}, {"name": "b", "resources": {"guaranteed": {"cpu": "4"}}}]},
		"nodes": [{"name": "n1", "capacity": {"cpu": "4"}}, {"name": "n2", "capacity": {"cpu": "4"}}],
		"tasks": [
			{"key": "t1", "queue": "root.b", "application": "b", "node": "n2", "resources": {"cpu": "2"}, "requiredNode": "n2"},
			{"key": "t2", "queue": "root.b", "application": "b", "node": "n1", "resources": {"cpu": "2"}, "state": "preempting"}],
		"requests": [{"ask": {"key": "x", "queue": "root.a", "application": "a", "resources": {"cpu": "2"}}, "then": "nothing"}]}`))
	require.NoError(t, err)
	before := exam.Told(papers[0].Doc)
	doc := pooled(papers[0].Doc)
	require.Empty(t, exam.Differences(before, exam.Told(papers[0].Doc)), "the document was changed")
	f := exam.Told(doc)
	for fact, want := range map[exam.Fact]string{
		{What: exam.NodeCapacity, Of: "n1", Type: "cpu"}:        "7000",
		{What: exam.QueueGuaranteed, Of: "root.a", Type: "cpu"}: "3000",
		{What: exam.QueueGuaranteed, Of: "root.b", Type: "cpu"}: "4000",
		{What: exam.QueueUsage, Of: "root.b", Type: "cpu"}:      "2000",
		{What: exam.TaskNode, Of: "t1"}:                         "n1",
		{What: exam.TaskNode, Of: "t2"}:                         "",
		{What: exam.TaskRequired, Of: "t1"}:                     "",
		{What: exam.QueueMax, Of: "root", Type: "cpu"}:          "",
	} {
		require.Equal(t, want, f[fact], fact)
	}
	require.Len(t, doc.Nodes, 1)
}

// TestJudge: the tables have everybody, and this library breaks nothing and comes
// to rest.
func TestJudge(t *testing.T) {
	var b strings.Builder
	papers, err := examination()
	require.NoError(t, err)
	s, err := judge(&b, "Some", papers)
	require.NoError(t, err)
	require.Zero(t, s.Broken(0))
	r, err := storms(&b, 20)
	require.NoError(t, err)
	require.Equal(t, r.Each[0].Told, r.Each[0].Quiet)
	for _, text := range []string{"| Kueue, any |", "| Kueue, lower |", "### Some", "### Storms"} {
		require.Contains(t, b.String(), text)
	}
}

// TestShow: a document that shows a fault is printed as it was asked about, with
// the answer beside the request.
func TestShow(t *testing.T) {
	for _, fault := range []exam.Fault{"guarantee", "priority", "fence", exam.Refuses} {
		text, err := show(0, "any:"+string(fault))
		require.NoError(t, err)
		require.Contains(t, text, `"proposed"`)
		papers, err := exam.Papers("shown", []byte(text))
		require.NoError(t, err)
		answer := exam.Answer{Node: papers[0].Doc.Requests[0].Proposed.Node}
		for _, v := range papers[0].Doc.Requests[0].Proposed.Victims {
			answer.Victims = append(answer.Victims, v.Key)
		}
		j, err := exam.JudgeAnswer(&exam.Rules{}, &papers[0], answer) // by all rules
		require.NoError(t, err)
		require.Contains(t, j.Faults, fault)
	}
	for _, wanted := range []string{"ours:guarantee", "nobody:guarantee"} {
		_, err := show(0, wanted)
		require.Error(t, err, wanted)
	}
}
