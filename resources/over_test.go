// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/resources"
)

// The seven rows of the target of quotas in the design. What the max was before makes no
// difference.
func TestOver(t *testing.T) {
	const memory, cpu = 1, 2
	of := func(types resources.Mask, m, c int64) resources.Limit {
		return resources.Limit{Value: resources.Vector{m, c}, Defined: types}
	}
	for _, test := range []struct {
		name   string
		before resources.Limit
		max    resources.Limit
		usage  resources.Vector
		want   resources.Vector
	}{
		{"lowered", of(memory, 100, 0), of(memory, 50, 0), resources.Vector{80, 0}, resources.Vector{30, 0}},
		{"none before", resources.Limit{}, of(memory, 50, 0), resources.Vector{80, 0}, resources.Vector{30, 0}},
		{"both lowered", of(memory|cpu, 100, 100), of(memory|cpu, 50, 50), resources.Vector{80, 80}, resources.Vector{30, 30}},
		{"one raised, one lowered", of(memory|cpu, 100, 100), of(memory|cpu, 200, 50), resources.Vector{100, 80}, resources.Vector{0, 30}},
		{"a type more", of(memory, 100, 0), of(memory|cpu, 100, 100), resources.Vector{50, 500}, resources.Vector{0, 400}},
		{"a type less", of(memory|cpu, 100, 100), of(memory, 50, 0), resources.Vector{80, 100}, resources.Vector{30, 0}},
		{"another type", of(memory, 100, 0), of(cpu, 0, 100), resources.Vector{100, 500}, resources.Vector{0, 400}},
		{"no max", of(memory, 100, 0), resources.Limit{}, resources.Vector{100, 500}, nil},
		{"a max of zero", of(memory, 100, 0), of(memory, 0, 0), resources.Vector{100}, resources.Vector{100}},
		{"no usage", of(memory, 100, 0), of(memory|cpu, 50, 50), nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := resources.Over(nil, test.usage, test.max)
			require.True(t, resources.Equal(test.want, got), "want %v, have %v", test.want, got)
			require.False(t, test.before.Equal(test.max))
		})
	}
}

// It is what its definition says, for any vectors.
func TestOver_Definition(t *testing.T) { rapid.Check(t, propertyOver) }

func FuzzOver(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertyOver)) }

func propertyOver(t *rapid.T) {
	vector := rapid.SliceOfN(rapid.Int64(), 0, 4)
	most := resources.Limit{Value: vector.Draw(t, "max"), Defined: resources.Mask(rapid.Uint64Range(0, 15).Draw(t, "defined"))}
	e := resources.Vector(vector.Draw(t, "usage"))
	got := resources.Over(nil, e, most)
	left := resources.SubOnlyExisting(resources.Limit{}, most, e)
	for i := range 5 {
		want := int64(0)
		if v, bounded := left.Bound(i); bounded && v < 0 {
			want = -v
		}
		have := int64(0)
		if i < len(got) {
			have = got[i]
		}
		if have != want {
			t.Fatalf("type %d: have %d, want %d", i, have, want)
		}
	}
}
