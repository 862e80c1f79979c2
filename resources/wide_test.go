// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
)

// A big integer is the twin of a wide amount.
func TestWide_IsBig(t *testing.T) {
	most := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))
	word := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1, 2, math.MaxInt64, math.MaxUint64}))
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) (resources.Wide, *big.Int) {
			a, b := word.Draw(t, label), word.Draw(t, label)
			z := new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
			return resources.Wide(wide.Mul(a, b)), z
		}
		is := func(want *big.Int, got resources.Wide) {
			if want.Cmp(most) > 0 {
				want = most // what is beyond counts as the most there is
			}
			require.Equal(t, want.String(), got.String())
			v, ok := wide.Uint128(got).Int64()
			require.Equal(t, want.IsInt64(), ok)
			if ok {
				require.Equal(t, want.Int64(), v)
			}
		}
		x, bigX := draw("x")
		y, bigY := draw("y")
		is(bigX, x)
		require.Equal(t, bigX.Cmp(bigY), x.Compare(y))
		is(new(big.Int).Add(bigX, bigY), x.Add(y))
	})
	require.Zero(t, resources.WideOf(-1))
}
