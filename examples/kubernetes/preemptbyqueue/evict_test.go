// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientsetfake "k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
)

// TestOthersWait: pods of a group that wait have no place, and no node either.
func TestOthersWait(t *testing.T) {
	s := newStage(t, workloadQueues, nil)
	add := func(i int, change func(p *v1.Pod)) *v1.Pod {
		p := s.waiting(i).DeepCopy()
		p.Name, p.UID = p.Name+"-of-g", p.UID+"-of-g"
		if change != nil {
			change(p)
		}
		s.joins(p, "g")
		return p
	}
	a := add(0, nil)
	_, status := s.try(0) // so that the mirror has the nodes; web-0 itself is in no group
	require.True(t, status.IsSuccess(), status)
	grant := func(p *v1.Pod) {
		s.core.mu.Lock()
		defer s.core.mu.Unlock()
		ask, err := s.core.ask(p)
		require.NoError(t, err)
		n, ok := s.core.cluster.LookupNode("n1")
		require.True(t, ok)
		_, err = s.core.cluster.GrantPlace(&ask, n, time.Time{})
		require.NoError(t, err)
	}
	require.True(t, s.core.othersWait(a), "it has no place itself")
	grant(a)
	require.False(t, s.core.othersWait(a))
	add(1, func(p *v1.Pod) { p.Spec.NodeName = "n1" })
	require.False(t, s.core.othersWait(a))
	b := add(2, nil)
	require.True(t, s.core.othersWait(a))
	grant(b)
	require.False(t, s.core.othersWait(a))
}

// TestPreEnqueue: a pod is not tried until all of its victims leave, or their eviction ends.
func TestPreEnqueue(t *testing.T) {
	pods := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	c := plainCore(t)
	c.lister = corelisters.NewPodLister(pods)
	pl := &Plugin{core: c}
	pod := func(name, uid string) *v1.Pod {
		p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: name, UID: types.UID(uid)}}
		require.NoError(t, pods.Add(p))
		return p
	}
	a, b, other, v, w := pod("a", "1"), pod("b", "2"), pod("c", "3"), pod("v", "4"), pod("w", "5")
	waits := func(p *v1.Pod) bool {
		status := pl.PreEnqueue(context.Background(), p)
		return status.Code() == fwk.UnschedulableAndUnresolvable
	}
	e := &eviction{pods: []*v1.Pod{a, b}, victims: []victim{{pod: v, key: key(v)}, {pod: w, key: key(w)}}}
	require.False(t, waits(a))
	c.hold(e)
	require.True(t, waits(a))
	require.True(t, waits(b))
	require.False(t, waits(other))

	leaves := v.DeepCopy()
	leaves.DeletionTimestamp = &metav1.Time{}
	require.NoError(t, pods.Update(leaves))
	require.True(t, waits(a), "the other one stays")
	pod("w", "6")
	require.False(t, waits(a), "another pod has its name")

	require.NoError(t, pods.Update(w))
	require.True(t, waits(a))
	newer := &eviction{pods: []*v1.Pod{a}, victims: e.victims}
	c.hold(newer)
	c.release(e)
	require.True(t, waits(a), "for those of the newer eviction")
	require.False(t, waits(b))
	require.True(t, c.release(newer), "it has kept a pod")
	require.False(t, waits(a))
	require.False(t, newer.keeps(c), "it is over")

	idle := &eviction{pods: []*v1.Pod{b}, victims: e.victims}
	c.hold(idle)
	require.False(t, c.release(idle), "nobody asked meanwhile")
}

// TestTakenOver: who takes a place over tells those to stop who make room for it, for whoever
// was to have it may not have told them yet.
func TestTakenOver(t *testing.T) {
	s := newFragments(t, "{}", func(s *stage, large *v1.Pod) {
		*s.pods[1].Spec.Priority = 300
		urgent, priority := large.DeepCopy(), int32(200)
		urgent.Name, urgent.UID, urgent.Spec.Priority, urgent.OwnerReferences = "web-1", "web-1", &priority, nil
		s.others = append(s.others, urgent)
	})
	for i := range 2 {
		place, status := s.try(i)
		require.True(t, status.IsSuccess(), status)
		require.Equal(t, "n1", place)
		require.Equal(t, []string{fmt.Sprintf("web-%d on n1", i)}, s.granted())
		require.Equal(t, []int64{1}, s.leaving())
		require.Eventually(t, func() bool {
			return slices.ContainsFunc(s.handle.ClientSet().(*clientsetfake.Clientset).Actions(), func(a clienttesting.Action) bool {
				patch, ok := a.(clienttesting.PatchAction)
				return ok && patch.GetName() == "teamb-0" && strings.Contains(string(patch.GetPatch()), fmt.Sprintf("preempted by ns/web-%d ", i))
			})
		}, time.Minute, 10*time.Millisecond)
	}
}
