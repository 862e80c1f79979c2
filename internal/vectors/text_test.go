// SPDX-License-Identifier: Apache-2.0

package vectors

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/resources"
)

func TestText(t *testing.T) {
	s, err := resources.NewSchema("cpu", "memory", "a=b")
	require.NoError(t, err)
	for _, test := range []struct {
		i      int
		amount int64
		want   string
	}{
		{0, 0, "0"}, {0, 15500, "15.5"}, {0, -1, "-0.001"}, {1, 3 << 29, "1.5Gi"}, {2, 7, "7"},
		{0, math.MinInt64, "-9223372036854775.807"}, {63, 1, "1"},
	} {
		require.Equal(t, test.want, Text(s, test.i, test.amount))
	}
}

// TestQuantities shows that what machines get can be read again.
func TestQuantities(t *testing.T) {
	s, err := resources.NewSchema("cpu", "memory", "gpu")
	require.NoError(t, err)
	v := resources.Vector{1500, 0, 3}
	require.Equal(t, map[string]string{"cpu": "1500m", "gpu": "3"}, Quantities(s, v))
	again, err := s.Vector(Quantities(s, v))
	require.NoError(t, err)
	require.Equal(t, v, again)
	require.Equal(t, map[string]string{"cpu": "1"}, Quantities(s, resources.Vector{1000}), "what is beyond the end is zero")
	require.Equal(t, map[string]string{}, Quantities(s, nil))

	l := resources.Limit{Value: resources.Vector{0, 1024, 7}, Defined: 0b011}
	require.Equal(t, map[string]string{"cpu": "0", "memory": "1Ki"}, Bounds(s, l), "zero is a bound")
	read, err := s.Limit(Bounds(s, l))
	require.NoError(t, err)
	require.Equal(t, resources.Limit{Value: resources.Vector{0, 1024, 0}, Defined: 0b011}, read)
	require.Equal(t, map[string]string{}, Bounds(s, resources.Limit{}))
}
