// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
)

// Parts sum to what can be had, none is more than is spare, and each is within a unit of its
// share.
func TestParts(t *testing.T) {
	var dst []resources.Vector // from one draw to the next
	rapid.Check(t, func(t *rapid.T) {
		amounts := rapid.SliceOfN(rapid.Int64Range(-2, 40), 0, 3)
		target := resources.Vector(amounts.Draw(t, "target"))
		spare := rapid.SliceOfN(rapid.Map(amounts, func(v []int64) resources.Vector { return v }), 0, 5).Draw(t, "spare")
		dst = quota.Parts(dst, target, spare)
		require.Len(t, dst, len(spare))
		for i, want := range target {
			total, sum := int64(0), int64(0)
			for _, v := range spare {
				total += max(v.At(i), 0)
			}
			want = min(max(want, 0), total)
			for k, part := range dst {
				has := max(spare[k].At(i), 0)
				require.True(t, 0 <= part[i] && part[i] <= has, "part %d of %d", part[i], has)
				if total > 0 {
					off := new(big.Rat).Sub(big.NewRat(part[i], 1), big.NewRat(want*has, total))
					require.Negative(t, off.Abs(off).Cmp(big.NewRat(1, 1)))
				}
				sum += part[i]
			}
			require.Equal(t, want, sum)
		}
	})
	tie := quota.Parts(nil, resources.Vector{1}, []resources.Vector{{2}, {2}})
	require.Equal(t, []resources.Vector{{1}, {0}}, tie)
}
