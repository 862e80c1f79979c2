// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Laws of admission that hold for any books: what may be relied on without knowing
// the formulas.

// broken reports whether a claim breaks a formula at a queue in a type.
func broken(all []jobs.Breach, b *jobs.Breach) bool {
	return slices.ContainsFunc(all, func(o jobs.Breach) bool {
		return o.Formula == b.Formula && o.Queue == b.Queue && o.Type == b.Type
	})
}

// Who asks for more is admitted no sooner: what keeps a claim out keeps out every
// larger one.
func TestLedger_MoreIsNoEasier(t *testing.T) { rapid.Check(t, moreIsNoEasier) }

func FuzzLedger_MoreIsNoEasier(f *testing.F) {
	seedBytes(f)
	f.Fuzz(rapid.MakeFuzz(moreIsNoEasier))
}

func moreIsNoEasier(t *rapid.T) {
	x := drawBooks(t)
	x.claim.Rem = drawSmall(t)
	larger := jobs.Claim{Rem: resources.Add(nil, x.claim.Rem, drawSmall(t)), NonPreemptible: x.claim.NonPreemptible}
	l := jobs.Ledger{Cluster: x.cluster, Allowances: x.quotas, Present: x.present}
	l.Read(x.leaf)
	for _, ask := range []func([]jobs.Breach, jobs.Claim) []jobs.Breach{l.Admit, l.MayPreempt} {
		less, more := ask(nil, x.claim), ask(nil, larger)
		for i := range less {
			require.True(t, broken(more, &less[i]), "%v keeps out %v, and not %v", less[i], x.claim, larger)
			require.Positive(t, less[i].Over())
		}
	}
}

// Whoever is admitted may preempt, though it need not. Of a preemptible job both are
// one question.
func TestLedger_AdmittedMayPreempt(t *testing.T) { rapid.Check(t, admittedMayPreempt) }

func admittedMayPreempt(t *rapid.T) {
	x := drawBooks(t)
	l := jobs.Ledger{Cluster: x.cluster, Allowances: x.quotas, Present: x.present}
	l.Read(x.leaf)
	admit, preempt := l.Admit(nil, x.claim), l.MayPreempt(nil, x.claim)
	for i := range preempt {
		require.True(t, broken(admit, &preempt[i]))
		require.True(t, x.claim.NonPreemptible || preempt[i].Formula == "preemptible-max")
	}
	if !x.claim.NonPreemptible {
		require.Equal(t, admit, preempt)
	}
	// The leaf's breaches come first, and of one queue those of one formula are
	// together, type by type.
	require.True(t, slices.IsSortedFunc(admit, func(a, b jobs.Breach) int {
		if a.Queue != b.Queue {
			return int(b.Queue) - int(a.Queue) // in tree order a queue comes before those below it
		}
		return cmp.Or(strings.Compare(a.Formula, b.Formula), a.Type-b.Type)
	}))
}

// What is added and taken out again leaves no trace, in any order.
func TestLedger_AddRemove(t *testing.T) { rapid.Check(t, addAndRemove) }

func addAndRemove(t *rapid.T) {
	x := drawBooks(t)
	l := jobs.Ledger{Cluster: x.cluster, Allowances: x.quotas, Present: x.present}
	l.Read(x.leaf)
	type amounts struct{ used, fixed, waiting resources.Vector }
	read := func() (all []amounts) {
		for _, a := range l.Accounts() {
			all = append(all, amounts{slices.Clone(a.Used), slices.Clone(a.NonPreemptible), slices.Clone(a.Waiting)})
		}
		return all
	}
	before := read()
	var tasks []victims.Task
	for range rapid.IntRange(0, 4).Draw(t, "tasks") {
		task := victims.Task{
			Queue: rapid.SampledFrom([]queue.ID{quotaA1, quotaA2, quotaB}).Draw(t, "queue"),
			Size:  drawSmall(t), NonPreemptible: rapid.Bool().Draw(t, "fixed"),
		}
		tasks = append(tasks, task)
		l.Add(&task)
	}
	for _, task := range rapid.Permutation(tasks).Draw(t, "order") {
		l.Remove(&task)
	}
	require.Equal(t, before, read())
}

// What is present is at least what is coming, of every account: only what leaves is
// between them.
func TestLedger_PresentIsMore(t *testing.T) { rapid.Check(t, presentIsMore) }

func presentIsMore(t *rapid.T) {
	x := drawBooks(t)
	now := jobs.Ledger{Cluster: x.cluster, Allowances: x.quotas, Present: true}
	then := jobs.Ledger{Cluster: x.cluster, Allowances: x.quotas}
	now.Read(x.leaf)
	then.Read(x.leaf)
	require.Len(t, now.Accounts(), len(then.Accounts()))
	for i, a := range now.Accounts() {
		b := then.Accounts()[i]
		require.Equal(t, a.Queue, b.Queue)
		require.Equal(t, a.Waiting, b.Waiting)
		require.True(t, resources.Fits(b.Used, a.Used), "%v, and %v", b.Used, a.Used)
		require.True(t, resources.Fits(b.NonPreemptible, a.NonPreemptible))
	}
	// So a claim that is admitted now, and is not preemptible, is admitted then.
	claim := jobs.Claim{Rem: drawSmall(t), NonPreemptible: true}
	if len(now.Admit(nil, claim)) == 0 {
		require.Empty(t, then.Admit(nil, claim))
	}
}

// A queue of the path that has no quota bounds nothing, whatever other queues say.
func TestLedger_OnlyThePath(t *testing.T) { rapid.Check(t, onlyThePath) }

func onlyThePath(t *rapid.T) {
	x := drawBooks(t)
	l := jobs.Ledger{Cluster: x.cluster, Allowances: x.quotas}
	l.Read(x.leaf)
	tree := x.cluster.Tree()
	want := 0
	for q := range tree.Ancestors(x.leaf) {
		if _, ok := x.quotas.Lookup(q); ok {
			require.Equal(t, q, l.Accounts()[want].Queue, "the innermost first")
			want++
		}
	}
	require.Len(t, l.Accounts(), want)
	before := l.Admit(nil, x.claim)
	for q := range queue.ID(tree.Len()) { // others may say what they like of min and max
		if !tree.Contains(q, x.leaf) {
			quota, _ := x.quotas.Lookup(q)
			quota.Min, quota.Max = gpus(0), gpus(0)
			require.NoError(t, x.quotas.Set(q, quota))
		}
	}
	l.Read(x.leaf)
	require.Equal(t, before, l.Admit(nil, x.claim))
}
