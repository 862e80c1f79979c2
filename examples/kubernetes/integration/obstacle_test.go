// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// addClaim creates a bound claim that one pod at a time may use. It stays, for no controller
// takes its finalizer away: give each story another one.
func (w *world) addClaim(t *testing.T, name string) {
	size := v1.ResourceList{"storage": resource.MustParse("1Gi")}
	modes := []v1.PersistentVolumeAccessMode{v1.ReadWriteOncePod}
	_, err := w.client.CoreV1().PersistentVolumes().Create(t.Context(), &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.PersistentVolumeSpec{Capacity: size, AccessModes: modes, PersistentVolumeSource: v1.PersistentVolumeSource{
			HostPath: &v1.HostPathVolumeSource{Path: "/" + name}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = w.client.CoreV1().PersistentVolumeClaims("default").Create(t.Context(), &v1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "true"}},
		Spec:       v1.PersistentVolumeClaimSpec{VolumeName: name, AccessModes: modes, Resources: v1.VolumeResourceRequirements{Requests: size}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// withClaim has a pod use a claim.
func withClaim(name string, p *v1.Pod) *v1.Pod {
	p.Spec.Volumes = []v1.Volume{{Name: "v", VolumeSource: v1.VolumeSource{
		PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}}
	return p
}

// oneUser: a claim that one pod may use is no amount. Its user goes, though there is room,
// and others of lower priority do not.
func oneUser(t *testing.T, w *world) {
	w.addClaim(t, "data")
	w.addNodes(t, node("n1", "8"), node("n2", "8"))
	w.run(t, on("n1", withClaim("data", pod("user", "batch", "mid", "1"))), on("n1", pod("other", "batch", "low", "1")),
		on("n2", pod("etl", "batch", "low", "1")))
	w.schedule(t, queues(map[string]string{"prod": "4"}))
	w.run(t, withClaim("data", pod("web", "prod", "high", "1")))
	w.settle(t)
	require.Equal(t, []string{"batch/user"}, w.gonePods())
	require.Equal(t, "n1", w.get(t, "web").Spec.NodeName)
}

// oneUserOfGuarantee: the laws hold for a claim as for amounts. Who is within its
// guarantee keeps it.
func oneUserOfGuarantee(t *testing.T, w *world) {
	w.addClaim(t, "guarded")
	w.addNodes(t, node("n1", "8"))
	w.run(t, on("n1", withClaim("guarded", pod("user", "teamb", "low", "1"))), on("n1", pod("other", "batch", "low", "1")))
	w.schedule(t, queues(map[string]string{"prod": "4", "teamb": "1"}))
	w.add(t, withClaim("guarded", pod("web", "prod", "high", "1")))
	w.settle(t)
	require.Contains(t, refusal(w.get(t, "web")), "ReadWriteOncePod")
	require.Empty(t, w.gonePods())
}

// A jealous plugin keeps a pod that is labelled quiet off nodes with noise: it is a Filter
// plugin of somebody else, of which nobody here knows.
type jealous struct{}

func (jealous) Name() string { return "Jealous" }

func (jealous) Filter(_ context.Context, _ fwk.CycleState, pod *v1.Pod, info fwk.NodeInfo) *fwk.Status {
	noise := 0
	for _, pi := range info.GetPods() {
		if pi.GetPod().Labels["app"] == "noise" {
			noise++
		}
	}
	if pod.Labels["app"] == "quiet" && noise > 1 {
		return fwk.NewStatus(fwk.Unschedulable, "too much noise")
	}
	return nil
}

// A stingy plugin lets no pod have n1, and says so only when the pod is to have it.
type stingy struct{}

func (stingy) Name() string { return "Stingy" }

func (stingy) Reserve(_ context.Context, _ fwk.CycleState, _ *v1.Pod, node string) *fwk.Status {
	if node == "n1" {
		return fwk.NewStatus(fwk.Unschedulable, "nobody gets n1")
	}
	return nil
}

func (stingy) Unreserve(context.Context, fwk.CycleState, *v1.Pod, string) {}

// scheduleBeside runs kube-scheduler with one more plugin.
func (w *world) scheduleBeside(t *testing.T, plugin fwk.Plugin, a args) {
	profiles := strings.ReplaceAll(a.profiles(t, "default-scheduler"), "[{name: PreemptByQueue}]", "[{name: "+plugin.Name()+"}, {name: PreemptByQueue}]")
	w.scheduleAs(t, w.config, "leaderElection: {leaderElect: false}\n"+profiles,
		app.WithPlugin(plugin.Name(), func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return plugin, nil }))
}

// noise makes pods that the plugin minds.
func noise(node, queue string, classes ...string) (pods []*v1.Pod) {
	for _, c := range classes {
		pods = append(pods, on(node, labelled("app", "noise", pod(node+"-"+queue+"-"+c, queue, c, "1"))))
	}
	return pods
}

// foreignFilter: of three that make noise two have to go. On n1 they are protected, on n2
// the lower ones go, and the silent one stays. n3 has no room for the amounts, which does
// not matter.
func foreignFilter(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "8"), node("n2", "8"), node("n3", "4"))
	w.run(t, append(noise("n1", "teamb", "low", "mid", "high"), append(noise("n2", "batch", "low", "mid", "high"),
		on("n2", pod("silent", "batch", "low", "1")), on("n3", labelled("app", "noise", pod("n3-a", "teamb", "low", "2"))),
		on("n3", labelled("app", "noise", pod("n3-b", "teamb", "low", "2"))))...)...)
	w.scheduleBeside(t, jealous{}, queues(map[string]string{"prod": "4", "teamb": "7"}))
	w.run(t, labelled("app", "quiet", pod("web", "prod", "high", "1")))
	w.settle(t)
	require.Equal(t, []string{"batch/n2-batch-low", "batch/n2-batch-mid"}, w.gonePods())
}

// foreignFilterAndAmounts: what blocks the node goes, and the rest of what the amounts
// take is chosen by cost.
func foreignFilterAndAmounts(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "8"))
	w.run(t, append(noise("n1", "batch", "mid", "high"), on("n1", pod("a", "batch", "low", "2")), on("n1", pod("b", "batch", "high", "2")))...)
	w.scheduleBeside(t, jealous{}, queues(map[string]string{"prod": "4"}))
	w.run(t, labelled("app", "quiet", pod("web", "prod", "high", "4")))
	w.settle(t)
	require.Equal(t, []string{"batch/a", "batch/n1-batch-mid"}, w.gonePods())
}

// gangForReserve: n1 would cost less, but a Reserve plugin does not let anybody have it. So n2 is
// taken, and nobody goes on n1.
func gangForReserve(t *testing.T, w *world) {
	w.addGang(t, "second-best", 1)
	w.addNodes(t, node("n1", "4"), node("n2", "4"))
	w.run(t, on("n1", pod("cheap", "batch", "low", "4")), on("n2", pod("dear", "batch", "mid", "4")))
	w.scheduleBeside(t, stingy{}, queues(map[string]string{"prod": "4"}))
	w.run(t, member("second-best", pod("web", "prod", "mid", "4")))
	w.settle(t)
	require.Equal(t, []string{"batch/dear"}, w.gonePods())
	require.Equal(t, "n2", w.get(t, "web").Spec.NodeName)
}

// keptApart has a pod keep away from others by a label of nodes.
func keptApart(key, app string, p *v1.Pod) *v1.Pod {
	p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{
			TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}},
	}}
	return p
}

// zoneAntiAffinity: who is kept away by zone is as much in the way as by node. In zone a
// they are on two nodes, and a plan is for one node: zone b it is.
func zoneAntiAffinity(t *testing.T, w *world) {
	for name, zone := range map[string]string{"n1": "a", "n2": "a", "n3": "b"} {
		n := node(name, "8")
		n.Labels[v1.LabelTopologyZone] = zone
		w.addNodes(t, n)
	}
	w.run(t, on("n1", labelled("app", "noise", pod("a-1", "batch", "low", "1"))), on("n2", labelled("app", "noise", pod("a-2", "batch", "low", "1"))),
		on("n3", labelled("app", "noise", pod("b-1", "batch", "mid", "1"))), on("n3", pod("other", "batch", "low", "1")))
	w.schedule(t, queues(map[string]string{"prod": "4"}))
	w.run(t, keptApart(v1.LabelTopologyZone, "noise", pod("web", "prod", "high", "1")))
	w.settle(t)
	require.Equal(t, []string{"batch/b-1"}, w.gonePods())
}
