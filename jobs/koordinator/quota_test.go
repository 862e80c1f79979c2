// SPDX-License-Identifier: Apache-2.0

package koordinator_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/jobs/koordinator"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// gpus is a bound on gpu alone, and gpu an amount of it.
func gpus(n int64) resources.Limit { return resources.Limit{Value: resources.Vector{0, n}, Defined: 2} }

func gpu(n int64) resources.Vector { return resources.Vector{0, n} }

// admission is the question of a job that asks for gpus.
func admission(n, p, rem int64, fixed bool) *victims.Admission {
	return &victims.Admission{Queue: "root.a", Wants: gpu(rem), NonPreemptible: fixed, Used: gpu(n + p), UsedNonPreemptible: gpu(n)}
}

// between is a quota with a min and a max, below which so much waits.
func between(least, most, waiting int64) *koordinator.ElasticQuota {
	return &koordinator.ElasticQuota{Min: gpus(least), Max: gpus(most), Waiting: gpu(waiting)}
}

// TestElasticQuota has the rows of DESIGN.md, Jobs: admission.
func TestElasticQuota(t *testing.T) {
	schema, err := resources.NewSchema("cpu", "gpu")
	require.NoError(t, err)
	for _, test := range []struct {
		name      string
		quota     *koordinator.ElasticQuota
		n, p, rem int64
		fixed     bool   // the job is non-preemptible
		refused   string // what no victim changes
		lacks     int64  // what must go
	}{
		{name: "no quota, no bound", p: 50, rem: 50, fixed: true},

		// Non-preemptible: N + rem <= min and U + rem <= max.
		{name: "fixed to the min", quota: between(10, 20, 0), n: 4, rem: 6, fixed: true},
		{name: "fixed over the min", quota: between(10, 20, 0), n: 4, rem: 7, fixed: true, refused: "non-preemptible-min: root.a: gpu: 4 used and 7 asked for are above 10 by 1"},
		{name: "fixed to the max", quota: between(10, 20, 0), n: 4, p: 10, rem: 6, fixed: true},
		{name: "fixed over the max may preempt", quota: between(10, 20, 0), n: 4, p: 12, rem: 6, fixed: true, lacks: 2},
		{name: "fixed over both", quota: between(10, 20, 0), n: 8, p: 12, rem: 3, fixed: true, refused: "non-preemptible-min: root.a: gpu: 8 used and 3 asked for are above 10 by 1"},
		{name: "fixed, absent in min is 0", quota: &koordinator.ElasticQuota{Max: gpus(20)}, rem: 1, fixed: true, refused: "non-preemptible-min: root.a: gpu: 0 used and 1 asked for are above 0 by 1"},
		{name: "fixed, absent in max is unlimited", quota: &koordinator.ElasticQuota{Min: gpus(4)}, p: 1000, rem: 4, fixed: true},
		{name: "fixed, what waits does not matter", quota: between(10, 10, 50), n: 4, rem: 6, fixed: true},

		// Preemptible: min(min, NR) + P + rem <= max.
		{name: "nothing is withheld unasked", quota: between(10, 20, 0), p: 8, rem: 12},
		{name: "used to the max", quota: between(10, 20, 0), p: 8, rem: 13, refused: "preemptible-max: root.a: gpu: 8 used and 13 asked for are above 20 by 1"},
		{name: "what waits is withheld", quota: between(10, 20, 6), p: 8, rem: 6},
		{name: "what waits is withheld, to the unit", quota: between(10, 20, 6), p: 8, rem: 7, refused: "preemptible-max: root.a: gpu: 6 withheld, 8 used and 7 asked for are above 20 by 1"},
		{name: "no more is withheld than the min", quota: between(10, 20, 50), p: 8, rem: 2},
		{name: "running and waiting, clamped", quota: between(10, 20, 9), n: 8, p: 5, rem: 5},
		// N beyond the min, as after a lowering: only the min is withheld, and so 18 of 14 may be
		// used in the end, as the formula has it.
		{name: "non-preemptible beyond the min", quota: between(8, 14, 0), n: 12, p: 3, rem: 3},
		{name: "absent in max is unlimited", quota: &koordinator.ElasticQuota{Min: gpus(4), Waiting: gpu(9)}, p: 1000, rem: 1000},
		{name: "absent in min withholds nothing", quota: &koordinator.ElasticQuota{Max: gpus(20), Waiting: gpu(9)}, n: 4, p: 8, rem: 12},
		{name: "a max of zero bounds", quota: between(0, 0, 0), rem: 1, refused: "preemptible-max: root.a: gpu: 0 used and 1 asked for are above 0 by 1"},
		{name: "nothing asked for, nothing compared", quota: between(0, 0, 0), n: 50, p: 50},
		{name: "less than nothing", quota: between(0, 0, 0), n: 50, p: 50, rem: -3, fixed: true},
		{name: "min above max holds all the same", quota: between(10, 6, 0), n: 2, p: 2, rem: 2},

		// Sums near the end of the range neither wrap nor come out the same.
		{name: "to the end of the range", quota: &koordinator.ElasticQuota{Max: gpus(math.MaxInt64)}, p: math.MaxInt64 - 5, rem: 5},
		{name: "beyond the end of the range", quota: &koordinator.ElasticQuota{Max: gpus(math.MaxInt64)}, p: math.MaxInt64 - 5, rem: 6, refused: "preemptible-max: root.a: gpu: 9223372036854775802 used and 6 asked for are above 9223372036854775807 by 1"},
		{name: "twice the range over a max of zero", quota: between(math.MaxInt64, 0, math.MaxInt64), p: math.MaxInt64, rem: 1, refused: "preemptible-max: root.a: gpu: 9223372036854775807 withheld, 9223372036854775807 used and 1 asked for are above 0 by 9223372036854775807"},
		{name: "requests beyond the range are withheld up to the min", quota: between(math.MaxInt64-1, math.MaxInt64, math.MaxInt64), n: math.MaxInt64 - 1, rem: 1},
		{name: "non-preemptible beyond the end of the range", quota: between(math.MaxInt64, math.MaxInt64, 0), n: math.MaxInt64 - 5, rem: 6, fixed: true, refused: "non-preemptible-min: root.a: gpu: 9223372036854775802 used and 6 asked for are above 9223372036854775807 by 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := admission(test.n, test.p, test.rem, test.fixed)
			lacks, refused := test.quota.Admit(resources.Vector{9, 9}, a)
			require.Equal(t, test.refused != "", refused)
			require.Equal(t, test.lacks, lacks.At(1))
			require.Zero(t, lacks.At(0))
			text := ""
			for i := range a.Breaches {
				text += a.Breaches[i].Text(schema)
			}
			if test.lacks > 0 {
				require.Equal(t, []victims.Breach{{Formula: "used-max", Queue: "root.a", Type: 1, Used: test.n + test.p, Wants: test.rem, Bound: 20}}, a.Breaches)
				require.Equal(t, test.lacks, a.Breaches[0].Over())
			} else {
				require.Equal(t, test.refused, text)
			}
		})
	}
}

// Breaches are appended, by formula, then by type.
func TestElasticQuota_Breaches(t *testing.T) {
	q := &koordinator.ElasticQuota{Max: resources.Limit{Value: resources.Vector{1, 2}, Defined: 3}}
	a := &victims.Admission{Wants: resources.Vector{3, 4, 5}, Breaches: []victims.Breach{{Formula: "another"}}}
	_, refused := q.Admit(nil, a)
	require.True(t, refused)
	var got []string
	for _, b := range a.Breaches {
		got = append(got, fmt.Sprint(b.Formula, b.Type))
	}
	require.Equal(t, []string{"another0", "preemptible-max0", "preemptible-max1"}, got)
}

func TestElasticQuota_Laws(t *testing.T) { rapid.Check(t, quotaLaws) }

func FuzzElasticQuota(f *testing.F) { f.Fuzz(rapid.MakeFuzz(quotaLaws)) }

// quotaLaws: a quota says what DESIGN.md, Jobs: admission, says as it is written. Who asks for
// more is let in no sooner, and with what lacks gone the job is admitted, but not with less.
func quotaLaws(t *rapid.T) {
	q := &koordinator.ElasticQuota{Min: drawBound(t, "min"), Max: drawBound(t, "max"), Waiting: drawSize(t, "waiting", 5)}
	n, p := drawSize(t, "n", 5), drawSize(t, "p", 5)
	a := &victims.Admission{Wants: drawSize(t, "wants", 5), NonPreemptible: rapid.Bool().Draw(t, "fixed"), Used: resources.Add(nil, n, p), UsedNonPreemptible: n}
	lacks, refused := q.Admit(nil, a)
	want, wantRefused := twin(q, a)
	if diff := cmp.Diff(want, a.Breaches); diff != "" || refused != wantRefused {
		t.Fatalf("%+v of %+v: refused %t, %t; breaches (-want +got):\n%s", a, q, wantRefused, refused, diff)
	}
	for _, b := range a.Breaches {
		if !refused && lacks.At(b.Type) != b.Over() {
			t.Fatalf("%+v of %+v lacks %v", a, q, lacks)
		}
	}

	more := *a
	more.Breaches, more.Wants = nil, resources.Add(nil, a.Wants, drawSize(t, "more", 5))
	lacksMore, refusedMore := q.Admit(nil, &more)
	if refused && !refusedMore || !refused && !refusedMore && !resources.Fits(lacks, resources.Max(nil, lacksMore, nil)) {
		t.Fatalf("%+v lacks %v, refused %t; and %v lacks %v, refused %t", a, lacks, refused, more.Wants, lacksMore, refusedMore)
	}
	if refused || resources.IsZero(lacks) || !resources.Fits(lacks, p) { // victims are some of what the preemptible use
		return
	}
	less := *a
	less.Used = resources.Sub(nil, a.Used, lacks)
	if got, refused := q.Admit(nil, &less); refused || !resources.IsZero(got) {
		t.Fatalf("%+v lacks %v, and then %v", a, lacks, got)
	}
	for i := range resources.Positive(lacks).All() {
		less.Used[i]++
		if got, _ := q.Admit(nil, &less); resources.IsZero(got) {
			t.Fatalf("%+v lacks %v, and type %d less does", a, lacks, i)
		}
		less.Used[i]--
	}
}

// twin returns the breaches of a question, with numbers of any size.
func twin(q *koordinator.ElasticQuota, a *victims.Admission) (all []victims.Breach, refused bool) {
	sum := func(of ...int64) *big.Int {
		s := new(big.Int)
		for _, v := range of {
			s.Add(s, big.NewInt(v))
		}
		return s
	}
	check := func(formula string, t int, withheld *big.Int, used, bound int64) {
		if new(big.Int).Add(withheld, sum(used, a.Wants[t])).Cmp(big.NewInt(bound)) > 0 {
			all = append(all, victims.Breach{Formula: formula, Type: t, Withheld: withheld.Int64(), Used: used, Wants: a.Wants[t], Bound: bound})
		}
	}
	for t, rem := range a.Wants {
		if least, _ := q.Min.Bound(t); a.NonPreemptible && rem > 0 {
			check("non-preemptible-min", t, sum(), a.UsedNonPreemptible.At(t), least)
		}
	}
	if len(all) > 0 {
		return all, true
	}
	for t, rem := range a.Wants {
		least, _ := q.Min.Bound(t)
		switch most, bounded := q.Max.Bound(t); {
		case rem <= 0, !bounded:
		case a.NonPreemptible:
			check("used-max", t, sum(), a.Used.At(t), most)
		default:
			withheld := sum(a.UsedNonPreemptible.At(t), q.Waiting.At(t))
			if min := big.NewInt(least); min.Cmp(withheld) < 0 {
				withheld = min
			}
			check("preemptible-max", t, withheld, a.Used.At(t)-a.UsedNonPreemptible.At(t), most)
		}
	}
	return all, len(all) > 0 && !a.NonPreemptible
}

// drawSize draws amounts that are zero, small, or close to the end of the range.
func drawSize(t *rapid.T, name string, most int64) resources.Vector {
	size := resources.Vector{rapid.Int64Range(0, most).Draw(t, name), rapid.Int64Range(0, most).Draw(t, name)}
	if rapid.IntRange(0, 15).Draw(t, "huge") == 15 {
		size[0] = math.MaxInt64/2 - size[0]
	}
	return size[:rapid.IntRange(0, 2).Draw(t, "types")]
}

func drawBound(t *rapid.T, name string) resources.Limit {
	l := resources.Limit{Defined: resources.Mask(rapid.IntRange(0, 3).Draw(t, name+" of"))}
	for range 2 {
		v := rapid.Int64Range(0, 14).Draw(t, name)
		if rapid.IntRange(0, 7).Draw(t, "huge") == 7 {
			v = math.MaxInt64 - v
		}
		l.Value = append(l.Value, v)
	}
	return l
}

// A warm question allocates nothing.
func TestElasticQuota_NoAllocs(t *testing.T) {
	q := between(10, 20, 6)
	var lacks resources.Vector
	for _, fixed := range []bool{false, true} {
		for _, rem := range []int64{1, 9, 30} {
			a := admission(4, 14, rem, fixed)
			ask := func() {
				a.Breaches = a.Breaches[:0]
				lacks, _ = q.Admit(lacks, a)
			}
			ask()
			require.Zero(t, testing.AllocsPerRun(20, ask))
		}
	}
}

// A queue has a min of 10 gpus for the non-preemptible and a max of 20 in all. 12 are used by
// preemptible tasks, and 6 are asked for by non-preemptible ones that wait: those are withheld.
func ExampleElasticQuota_Admit() {
	schema, err := resources.NewSchema("gpu")
	if err != nil {
		panic(err)
	}
	gpu := func(n int64) resources.Limit { return resources.Limit{Value: resources.Vector{n}, Defined: 1} }
	quota := koordinator.ElasticQuota{Min: gpu(10), Max: gpu(20), Waiting: resources.Vector{6}}
	ask := func(wants int64, nonPreemptible bool) {
		a := victims.Admission{Queue: "root.a", Wants: resources.Vector{wants}, NonPreemptible: nonPreemptible, Used: resources.Vector{12}}
		lacks, refused := quota.Admit(nil, &a)
		fmt.Println(wants, nonPreemptible, "lacks", lacks, "refused", refused)
		for _, b := range a.Breaches {
			fmt.Println("  " + b.Text(schema))
		}
	}
	ask(2, false)
	ask(3, false)
	ask(8, true)
	ask(10, true)
	ask(11, true)
	// Output:
	// 2 false lacks [] refused false
	// 3 false lacks [] refused true
	//   preemptible-max: root.a: gpu: 6 withheld, 12 used and 3 asked for are above 20 by 1
	// 8 true lacks [] refused false
	// 10 true lacks [2] refused false
	//   used-max: root.a: gpu: 12 used and 10 asked for are above 20 by 2
	// 11 true lacks [] refused true
	//   non-preemptible-min: root.a: gpu: 0 used and 11 asked for are above 10 by 1
}
