// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTwin: the twin has the size of the trace, is nearly full of GPUs as it is,
// and is the same every time.
func TestTwin(t *testing.T) {
	w := Twin()
	require.Len(t, w.Nodes, 1523)
	require.Len(t, w.Pods, 8152)
	require.Equal(t, w, Twin())

	var asked int64
	count := make(map[QoS]int)
	for i := range w.Pods {
		asked += w.Pods[i].GPU
		count[w.Pods[i].QoS]++
	}
	capacity := w.Capacity()[typeGPU]
	require.Equal(t, int64(6212000), capacity)
	require.Greater(t, asked, capacity*97/100)
	require.Less(t, asked, capacity)
	require.Equal(t, map[QoS]int{LatencySensitive: 4647, BestEffort: 3398, Burstable: 100, Guaranteed: 7}, count)
}
