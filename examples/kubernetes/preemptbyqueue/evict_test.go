// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
)

// TestPreEnqueue: a pod is not tried while its victims are told to stop, and afterwards only
// if something called for it meanwhile.
func TestPreEnqueue(t *testing.T) {
	c := plainCore(t)
	pl := &Plugin{core: c}
	pod := func(name string) *v1.Pod {
		return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: name, UID: types.UID(name)}}
	}
	ctx, a, b, other := context.Background(), pod("a"), pod("b"), pod("c")
	require.True(t, pl.PreEnqueue(ctx, a).IsSuccess())
	c.evicting.add([]*v1.Pod{a, b})
	require.Equal(t, fwk.UnschedulableAndUnresolvable, pl.PreEnqueue(ctx, a).Code())
	require.True(t, pl.PreEnqueue(ctx, other).IsSuccess())
	require.Equal(t, map[string]*v1.Pod{"prod/a": a}, c.evicting.remove([]*v1.Pod{a, b}))
	require.True(t, pl.PreEnqueue(ctx, a).IsSuccess())
	require.Empty(t, c.evicting.remove([]*v1.Pod{a, b}))
}
