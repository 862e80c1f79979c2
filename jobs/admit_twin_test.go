// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

func TestLedger_Twin(t *testing.T) { rapid.Check(t, ledgerIsTwin) }

func FuzzLedger(f *testing.F) {
	seedBytes(f)
	f.Fuzz(rapid.MakeFuzz(ledgerIsTwin))
}

// seedBytes gives a fuzzer enough bytes to draw whole cases from.
func seedBytes(f *testing.F) {
	for i := range byte(4) {
		seed := make([]byte, 1<<14)
		rand.NewChaCha8([32]byte{i}).Read(seed)
		f.Add(seed)
	}
}

// ledgerIsTwin: a ledger has the sums, breaches and needs of its slow twin, as
// read and with tasks taken out and members added.
func ledgerIsTwin(t *rapid.T) {
	x := drawBooks(t)
	l := jobs.Ledger{Cluster: x.cluster, Allowances: x.quotas, Present: x.present}
	l.Read(x.leaf)
	x.check(t, &l)

	kept := x.counted[:0:0]
	for _, task := range x.counted {
		if rapid.Bool().Draw(t, "gone") {
			l.Remove(&task)
		} else {
			kept = append(kept, task)
		}
	}
	x.counted = kept
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		member := victims.Task{Queue: x.leaf, Size: drawSmall(t), NonPreemptible: rapid.Bool().Draw(t, "fixed")}
		l.Add(&member)
		x.counted = append(x.counted, member)
	}
	x.check(t, &l)
}

// books is what a ledger reads, and the tasks that count in it.
type books struct {
	cluster *victims.Cluster
	quotas  *jobs.Allowances
	present bool
	leaf    queue.ID
	claim   jobs.Claim
	counted []victims.Task
}

func drawBooks(t *rapid.T) *books {
	tree := quotaTree(t)
	x := &books{
		cluster: victims.NewCluster(tree), quotas: jobs.NewAllowances(tree),
		present: rapid.Bool().Draw(t, "present"),
		leaf:    rapid.SampledFrom([]queue.ID{quotaA1, quotaA2, quotaB}).Draw(t, "leaf"),
		claim:   jobs.Claim{Rem: drawSize(t), NonPreemptible: rapid.Bool().Draw(t, "non-preemptible")},
	}
	for q := range queue.ID(tree.Len()) {
		if rapid.IntRange(0, 2).Draw(t, "entry") > 0 {
			quota := jobs.Allowance{Min: drawBound(t, "min"), Max: drawBound(t, "max"), Waiting: drawSize(t)}
			require.NoError(t, x.quotas.Set(q, quota))
		}
	}
	node, err := x.cluster.AddNode(&victims.Node{Name: "n"})
	require.NoError(t, err)
	// At most one large task, for the cluster holds no sum out of range.
	large := rapid.IntRange(-9, 9).Draw(t, "large")
	for i := range rapid.IntRange(0, 9).Draw(t, "tasks") {
		task := victims.Task{
			Key: string(rune('a' + i)), Node: node,
			Queue:          rapid.SampledFrom([]queue.ID{quotaA1, quotaA2, quotaB}).Draw(t, "queue"),
			Size:           drawSmall(t),
			NonPreemptible: rapid.Bool().Draw(t, "fixed"),
			State:          rapid.SampledFrom([]victims.State{victims.Running, victims.Releasing, victims.Preempting}).Draw(t, "state"),
		}
		if i == large {
			task.Size[1] = math.MaxInt64 - 60
		}
		_, err := x.cluster.AddTask(&task)
		require.NoError(t, err)
		if x.present || task.State == victims.Running {
			x.counted = append(x.counted, task)
		}
	}
	return x
}

func drawSmall(t *rapid.T) resources.Vector {
	return resources.Vector{rapid.Int64Range(0, 5).Draw(t, "cpu"), rapid.Int64Range(0, 5).Draw(t, "gpu")}
}

// drawSize draws amounts that are zero, small, or close to the end of the range.
func drawSize(t *rapid.T) resources.Vector {
	size := drawSmall(t)
	if rapid.IntRange(0, 15).Draw(t, "huge") == 15 {
		size[0] = math.MaxInt64 - size[0]
	}
	return size[:rapid.IntRange(0, 2).Draw(t, "types")]
}

func drawBound(t *rapid.T, name string) resources.Limit {
	l := resources.Limit{Defined: resources.Mask(rapid.IntRange(0, 3).Draw(t, name+" of"))}
	for range 2 {
		v := rapid.Int64Range(0, 30).Draw(t, name)
		if rapid.IntRange(0, 7).Draw(t, "huge") == 7 {
			v = math.MaxInt64 - v
		}
		l.Value = append(l.Value, v)
	}
	return l
}

// check holds a ledger to what counts.
func (x *books) check(t *rapid.T, l *jobs.Ledger) {
	tree := x.cluster.Tree()
	var admit, preempt []jobs.Breach
	accounts := l.Accounts()
	for q := range tree.Ancestors(x.leaf) {
		quota, ok := x.quotas.Lookup(q)
		if !ok {
			continue
		}
		if len(accounts) == 0 || accounts[0].Queue != q {
			t.Fatalf("no account of queue %d in %v", q, l.Accounts())
		}
		twin := x.sums(q)
		need := make(resources.Vector, len(x.claim.Rem))
		for _, b := range twin.breaches(q, quota, x.claim) {
			admit = append(admit, b)
			if b.Formula != "used-max" {
				preempt = append(preempt, b)
			}
			if b.Formula != "non-preemptible-min" {
				need[b.Type] = b.Over()
			}
		}
		if got := accounts[0].Need(nil, x.claim); !resources.Equal(got, need) {
			t.Fatalf("need at queue %d: %v, want %v", q, got, need)
		}
		accounts = accounts[1:]
	}
	if len(accounts) > 0 {
		t.Fatalf("accounts of no queue of the path: %v", accounts)
	}
	if diff := cmp.Diff(admit, l.Admit(nil, x.claim)); diff != "" {
		t.Fatalf("admit %+v (-want +got):\n%s", x.claim, diff)
	}
	if diff := cmp.Diff(preempt, l.MayPreempt(nil, x.claim)); diff != "" {
		t.Fatalf("may preempt %+v (-want +got):\n%s", x.claim, diff)
	}
}

// twinSums are U, N and NR of a subtree, in types 0 and 1, of any size.
type twinSums struct{ used, fixed, requested [2]*big.Int }

func (x *books) sums(q queue.ID) (s twinSums) {
	for i := range 2 {
		s.used[i], s.fixed[i], s.requested[i] = new(big.Int), new(big.Int), new(big.Int)
	}
	add := func(dst *[2]*big.Int, size resources.Vector) {
		for i, v := range size {
			dst[i].Add(dst[i], big.NewInt(v))
		}
	}
	tree := x.cluster.Tree()
	for _, task := range x.counted {
		if !slices.Contains(slices.Collect(tree.Ancestors(task.Queue)), q) {
			continue
		}
		add(&s.used, task.Size)
		if task.NonPreemptible {
			add(&s.fixed, task.Size)
			add(&s.requested, task.Size)
		}
	}
	for below := range queue.ID(tree.Len()) {
		if quota, ok := x.quotas.Lookup(below); ok && slices.Contains(slices.Collect(tree.Ancestors(below)), q) {
			add(&s.requested, quota.Waiting)
		}
	}
	return s
}

// breaches lists what a claim breaks at queue q, from DESIGN.md, Jobs: admission, as it is
// written.
func (s *twinSums) breaches(q queue.ID, quota jobs.Allowance, claim jobs.Claim) (all []jobs.Breach) {
	check := func(f string, t int, withheld, used *big.Int, bound int64) {
		sum := new(big.Int).Add(withheld, used)
		if sum.Add(sum, big.NewInt(claim.Rem[t])).Cmp(big.NewInt(bound)) > 0 {
			all = append(all, jobs.Breach{
				Formula: f, Queue: q, Type: t, Withheld: withheld.Int64(), Used: used.Int64(), Rem: claim.Rem[t], Bound: bound,
			})
		}
	}
	none := new(big.Int)
	for _, f := range []string{"non-preemptible-min", "used-max", "preemptible-max"} {
		if (f == "preemptible-max") == claim.NonPreemptible {
			continue
		}
		for t, rem := range claim.Rem {
			if rem == 0 {
				continue
			}
			least, _ := quota.Min.Bound(t)
			most, bounded := quota.Max.Bound(t)
			switch {
			case f == "non-preemptible-min":
				check(f, t, none, s.fixed[t], least)
			case f == "used-max" && bounded:
				check(f, t, none, s.used[t], most)
			case f == "preemptible-max" && bounded:
				withheld := big.NewInt(least)
				if s.requested[t].Cmp(withheld) < 0 {
					withheld = s.requested[t]
				}
				check(f, t, withheld, new(big.Int).Sub(s.used[t], s.fixed[t]), most)
			}
		}
	}
	return all
}

// TestLedger_NeedIsEnough: with what is needed gone the claim is under the max
// everywhere, and with one less it is not.
func TestLedger_NeedIsEnough(t *testing.T) { rapid.Check(t, needIsEnough) }

func needIsEnough(t *rapid.T) {
	x := drawBooks(t)
	l := jobs.Ledger{Cluster: x.cluster, Allowances: x.quotas, Present: x.present}
	l.Read(x.leaf)
	for k := range l.Accounts() {
		for i := range 2 {
			l.Read(x.leaf)
			a := &l.Accounts()[k]
			need, p := at(a.Need(nil, x.claim), i), at(a.Used, i)-at(a.NonPreemptible, i)
			if need == 0 || need > p { // victims are at most what the preemptible use
				continue
			}
			for _, freed := range []int64{need - 1, need} {
				l.Read(x.leaf)
				size := resources.Vector{0, 0}
				size[i] = freed
				l.Remove(&victims.Task{Queue: x.leaf, Size: size})
				broken := slices.ContainsFunc(l.Admit(nil, x.claim), func(b jobs.Breach) bool {
					return b.Queue == l.Accounts()[k].Queue && b.Type == i && b.Formula != "non-preemptible-min"
				})
				if broken != (freed < need) {
					t.Fatalf("account %d type %d: %d of %d freed: broken %t", k, i, freed, need, broken)
				}
			}
		}
	}
}

func at(v resources.Vector, i int) int64 {
	if i < len(v) {
		return v[i]
	}
	return 0
}

// TestLedger_NoAllocs: a warm ledger allocates nothing.
func TestLedger_NoAllocs(t *testing.T) {
	l := ledgerOf(t, []quotaTask{{in: quotaA1, gpus: 8, fixed: true}, {in: quotaA2, gpus: 9}}, map[queue.ID]jobs.Allowance{
		quotaA1: {Min: gpus(5), Max: gpus(5), Waiting: resources.Vector{1, 1}}, quotaRoot: {Max: gpus(5)},
	})
	claim := jobs.Claim{Rem: resources.Vector{0, 4}, NonPreemptible: true}
	task := &victims.Task{Queue: quotaA1, Size: resources.Vector{0, 1}, NonPreemptible: true}
	breaches := make([]jobs.Breach, 0, 8)
	need := make(resources.Vector, 2)
	for _, test := range []struct {
		name string
		f    func()
	}{
		{"Read", func() { l.Read(quotaA1) }},
		{"Admit", func() { breaches = l.Admit(breaches[:0], claim) }},
		{"MayPreempt", func() { breaches = l.MayPreempt(breaches[:0], claim) }},
		{"Need", func() { need = l.Accounts()[0].Need(need, claim) }},
		{"Remove Add", func() { l.Remove(task); l.Add(task) }},
	} {
		test.f()
		if n := testing.AllocsPerRun(100, test.f); n != 0 {
			t.Errorf("%s: %v allocations", test.name, n)
		}
	}
}
