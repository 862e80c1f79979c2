// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// The queues of tests of quotas, in tree order.
const (
	quotaRoot queue.ID = iota
	quotaA
	quotaA1
	quotaA2
	quotaB
)

// quotaTree has the queues root, root.a, root.a.1, root.a.2 and root.b, and the
// types cpu and gpu.
func quotaTree(t require.TestingT) *queue.Tree {
	schema, err := resources.NewSchema("cpu", "gpu")
	require.NoError(t, err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "a", Children: []queue.Config{{Name: "1"}, {Name: "2"}}},
		{Name: "b"},
	}})
	require.NoError(t, err)
	return tree
}

// gpus is a bound on gpu alone.
func gpus(n int64) resources.Limit { return resources.Limit{Value: resources.Vector{0, n}, Defined: 2} }

func TestQuotas_Set(t *testing.T) {
	for _, test := range []struct {
		name   string
		quota  jobs.Allowance
		strict bool
		kind   error  // nil where it is accepted
		text   string // of the error
		warns  string // of the only warning, if any
	}{
		{name: "nothing", strict: true},
		{name: "min below max", strict: true, quota: jobs.Allowance{Min: gpus(1), Max: gpus(2)}},
		{name: "min is max", strict: true, quota: jobs.Allowance{Min: gpus(2), Max: gpus(2)}},
		{name: "min without max", strict: true, quota: jobs.Allowance{Min: gpus(9)}},
		{name: "max of zero without min", strict: true, quota: jobs.Allowance{Max: gpus(0)}},
		{
			name: "min above max, lenient", quota: jobs.Allowance{Min: gpus(10), Max: gpus(4)},
			warns: "jobs: quota of root.a: min above max: gpu: min 10, max 4",
		},
		{
			name: "min above max, strict", quota: jobs.Allowance{Min: gpus(10), Max: gpus(4)}, strict: true,
			kind: jobs.ErrMinAboveMax, text: "jobs: quota of root.a: min above max: gpu: min 10, max 4",
		},
		{
			name: "amounts with units", strict: true,
			quota: jobs.Allowance{
				Min: resources.Limit{Value: resources.Vector{1500, 7}, Defined: 1},
				Max: resources.Limit{Value: resources.Vector{500, 1}, Defined: 3},
			},
			kind: jobs.ErrMinAboveMax, text: "jobs: quota of root.a: min above max: cpu: min 1.5, max 0.5",
		},
		{
			name: "negative min", quota: jobs.Allowance{Min: gpus(-1)},
			kind: jobs.ErrAmount, text: "jobs: quota of root.a: bad amount: min gpu -1",
		},
		{
			name: "negative max is no more than that", quota: jobs.Allowance{Min: gpus(1), Max: gpus(-1)}, strict: true,
			kind: jobs.ErrAmount, text: "jobs: quota of root.a: bad amount: max gpu -1",
		},
		{
			name: "negative waiting", quota: jobs.Allowance{Waiting: resources.Vector{-5}},
			kind: jobs.ErrAmount, text: "jobs: quota of root.a: bad amount: waiting cpu -0.005",
		},
		{
			name: "a type that there is not", quota: jobs.Allowance{Max: resources.Limit{Value: resources.Vector{0, 0, 3}, Defined: 4}},
			kind: jobs.ErrAmount, text: "jobs: quota of root.a: bad amount: max 3 of type 2 of 2",
		},
		{name: "zeros of no type", quota: jobs.Allowance{Waiting: resources.Vector{1, 2, 0, 0}}},
		{
			name: "all at once, in order", strict: true,
			quota: jobs.Allowance{
				Min:     resources.Limit{Value: resources.Vector{-1, 3}, Defined: 3},
				Max:     gpus(2),
				Waiting: resources.Vector{0, -2, 4},
			},
			kind: jobs.ErrMinAboveMax, text: "jobs: quota of root.a: bad amount: min cpu -0.001\n" +
				"jobs: quota of root.a: bad amount: waiting gpu -2\n" +
				"jobs: quota of root.a: bad amount: waiting 4 of type 2 of 2\n" +
				"jobs: quota of root.a: min above max: gpu: min 3, max 2",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			quotas := jobs.NewAllowances(quotaTree(t))
			quotas.Strict = test.strict
			err := quotas.Set(quotaA, test.quota)
			_, ok := quotas.Lookup(quotaA)
			require.Equal(t, test.kind == nil, ok, "an entry")
			if test.kind != nil {
				require.ErrorIs(t, err, test.kind)
				require.EqualError(t, err, test.text)
				return
			}
			require.NoError(t, err)
			if test.warns == "" {
				require.Empty(t, quotas.Warnings())
				return
			}
			require.Len(t, quotas.Warnings(), 1)
			require.EqualError(t, quotas.Warnings()[0], test.warns)
			require.ErrorIs(t, quotas.Warnings()[0], jobs.ErrMinAboveMax)
		})
	}
}

// TestQuotas_Entries: entries are copies, are replaced as a whole, stay where an
// error is, and go.
func TestQuotas_Entries(t *testing.T) {
	quotas := jobs.NewAllowances(quotaTree(t))
	_, ok := quotas.Lookup(quotaB)
	require.False(t, ok, "no entry at first")

	least, waiting := gpus(1), resources.Vector{5}
	require.NoError(t, quotas.Set(quotaB, jobs.Allowance{Min: least, Max: gpus(7), Waiting: waiting}))
	least.Value[1], waiting[0] = 3, 6
	got, ok := quotas.Lookup(quotaB)
	require.True(t, ok)
	require.True(t, got.Min.Equal(gpus(1)), "min is a copy")
	require.Equal(t, resources.Vector{5}, got.Waiting, "waiting is a copy")

	require.Error(t, quotas.Set(quotaB, jobs.Allowance{Min: gpus(-1)}))
	got, _ = quotas.Lookup(quotaB)
	require.True(t, got.Max.Equal(gpus(7)), "an error changes nothing")

	require.NoError(t, quotas.Set(quotaB, jobs.Allowance{}))
	got, ok = quotas.Lookup(quotaB)
	require.True(t, ok, "an entry that says nothing is one")
	require.Zero(t, got.Max.Defined)

	quotas.Delete(quotaB)
	_, ok = quotas.Lookup(quotaB)
	require.False(t, ok, "deleted")
}

func TestQuotas_WarningsInTreeOrder(t *testing.T) {
	quotas := jobs.NewAllowances(quotaTree(t))
	for _, q := range []queue.ID{quotaB, quotaRoot, quotaA2} {
		require.NoError(t, quotas.Set(q, jobs.Allowance{Min: gpus(2), Max: gpus(1)}))
	}
	require.NoError(t, quotas.Set(quotaA, jobs.Allowance{Min: gpus(1), Max: gpus(1)}))
	quotas.Delete(quotaA2)

	var at []string
	for _, err := range quotas.Warnings() {
		var problem *jobs.AllowanceError
		require.ErrorAs(t, err, &problem)
		at = append(at, problem.Queue)
	}
	require.Equal(t, []string{"root", "root.b"}, at)
}

// TestQuotas_Nil: no quotas are as good as quotas without an entry.
func TestQuotas_Nil(t *testing.T) {
	var quotas *jobs.Allowances
	_, ok := quotas.Lookup(quotaA)
	require.False(t, ok)
	require.Empty(t, quotas.Warnings())
}

func TestQuotas_ForeignQueuePanics(t *testing.T) {
	quotas := jobs.NewAllowances(quotaTree(t))
	require.Panics(t, func() { _ = quotas.Set(5, jobs.Allowance{}) })
}

// TestQuotaError_Names: a name can't break the line.
func TestQuotaError_Names(t *testing.T) {
	err := &jobs.AllowanceError{Queue: "root.a\nb", Err: errors.New("why")}
	require.EqualError(t, err, `jobs: quota of "root.a\nb": why`)
}

// TestQuotas_LargestAmounts: they are amounts like others.
func TestQuotas_LargestAmounts(t *testing.T) {
	quotas := jobs.NewAllowances(quotaTree(t))
	quotas.Strict = true
	require.NoError(t, quotas.Set(quotaA, jobs.Allowance{Min: gpus(math.MaxInt64), Max: gpus(math.MaxInt64)}))
	require.ErrorIs(t, quotas.Set(quotaA, jobs.Allowance{Min: gpus(math.MaxInt64), Max: gpus(math.MaxInt64 - 1)}), jobs.ErrMinAboveMax)
	require.ErrorIs(t, quotas.Set(quotaA, jobs.Allowance{Min: gpus(math.MinInt64)}), jobs.ErrAmount)
}

// check stands in for a test where there is none.
type check struct{}

func (check) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (check) FailNow()                          { panic("failed") }
