// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// TestSignPod: pods of one queue are alike to the plugin, those of two are not, and a
// pod with a grant is like no other.
func TestSignPod(t *testing.T) {
	pl := &Plugin{core: testCore(t)}
	of := func(queue, uid string) *v1.Pod {
		p := newPlainPod(uid, 1, 0)
		p.ObjectMeta.Labels = map[string]string{"go-preempt.github.io/queue": queue}
		return p
	}
	sign := func(p *v1.Pod) any {
		fragments, status := pl.SignPod(t.Context(), p)
		require.True(t, status.IsSuccess())
		return fragments
	}
	require.Equal(t, sign(of("prod", "a")), sign(of("prod", "b")))
	require.NotEqual(t, sign(of("prod", "a")), sign(of("batch", "a")))
	require.Equal(t, sign(of("other", "a")), sign(of("nowhere", "a")), "the default queue")

	node := framework.NewNodeInfo()
	node.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: v1.NodeStatus{Allocatable: list(4)}})
	pl.core.syncNode(pl.core.mirror.at("n"), node, plainStart)
	ask, err := pl.core.ask(of("prod", "a"))
	require.NoError(t, err)
	id, ok := pl.core.cluster.LookupNode("n")
	require.True(t, ok)
	_, err = pl.core.cluster.GrantPlace(&ask, id, time.Time{})
	require.NoError(t, err)
	pl.core.given(ask.Key)
	_, status := pl.SignPod(t.Context(), of("prod", "a"))
	require.False(t, status.IsSuccess())
	require.Equal(t, sign(of("prod", "b")), sign(of("prod", "c")))
}
