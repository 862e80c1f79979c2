// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// TestFaults tells what happens if the API fails, or the world changes at the worst
// moment. RBAC is on: the scheduler has the rights of config/second. After each story the
// books of the plugin are those of the API, and no law was broken.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("a second API server, and minutes of faults")
	}
	w := newWorld(t, "RBAC")
	w.apply(t, "../config/second", "../config/only")
	w.tellAll(t, []tale{
		{"as a second scheduler", secondScheduler},
		{"as the only scheduler", onlyScheduler},
		{"preemptor deleted while victims leave", preemptorDeleted},
		{"preemptor deleted within its cycle", preemptorDeletedInside},
		{"refused pod deleted within its cycle", refusedDeletedInside},
		{"victim that is never deleted", refusedForGood},
		{"busy API", busyAPI},
		{"conflict on a delete", conflict},
		{"answers that are lost", answersLost},
		{"delete that does nothing", deleteLost},
		{"restart in the middle of evictions", restartInside},
		{"informers that lag", lag},
		{"victim recreated under its name", victimRecreated},
		{"preemptor recreated under its name", preemptorRecreated},
		{"node deleted with victims marked", nodeDeleted},
		{"brief cordon", briefCordon},
		{"cordon that stays", lastingCordon},
		{"nodes that flap", flap},
		{"guarantee taken away while victims leave", guaranteeGone},
		{"gang that waits for a guarantee", gangGuarantee},
		{"max that is lowered", maxLowered},
		{"max that is lowered, and a victim that is not deleted", maxRefused},
		{"guarantee that is lowered", guaranteeLowered},
		{"shared victim that is never deleted", sharedVictimStays},
		{"pod of a deployment deleted while a victim leaves", replicaDeleted},
		{"pod that moves", podMoves},
		{"pod that moves, and the next one comes at once", podMovesAtOnce},
		{"pod that moves, and no other one comes", nobodyComes},
		{"pod that moves, and is never deleted", moveRefused},
		{"victims stuck on finalizers", allStuck},
		{"many deleted at once", many},
	})
}

// A tale is a story with a name.
type tale struct {
	name string
	tell func(*testing.T, *world)
}

// tellAll tells stories. After each of them the books of the plugin are those of the API, and
// no law was broken.
func (w *world) tellAll(t *testing.T, tales []tale) {
	for _, s := range tales {
		t.Run(s.name, func(t *testing.T) {
			w.story(t)
			s.tell(t, w)
			require.Zero(t, metric(t, "preempt_by_queue_audit_violations_total"))
			require.Zero(t, metric(t, "preempt_by_queue_drift_total"))
			require.Zero(t, metric(t, "preempt_by_queue_pods_not_mirrored_total"))
		})
	}
}

// fill makes pods of one shape on a node.
func fill(n string, prefix, queue, class, cpu string, count int) (pods []*v1.Pod) {
	for i := range count {
		pods = append(pods, on(n, pod(fmt.Sprintf("%s-%d", prefix, i), queue, class, cpu)))
	}
	return pods
}

// withDebug returns arguments that serve the debug pages, and where.
func withDebug(t *testing.T, a args) (args, string) {
	address := freeAddress(t)
	return a.with("debugAddress", address), address
}

// through runs the scheduler through a proxy, as the service account of config/second.
func (w *world) through(t *testing.T, p *proxy, a args, more ...app.Option) (stop func()) {
	profiles := a.profiles(t, "default-scheduler")
	if len(more) > 0 {
		profiles = strings.Replace(profiles, "enabled: [{name: PreemptByQueue}]", "enabled: [{name: PreemptByQueue}, {name: Meddler}]", 1)
	}
	return w.scheduleAs(t, p.config(), "leaderElection: {leaderElect: false}\n"+profiles, more...)
}

// faulty runs the scheduler through a proxy that fails, and returns it with the address of
// the debug pages.
func (w *world) faulty(t *testing.T, a args, fault func(w http.ResponseWriter, r *http.Request, pod string, try int) bool) (*proxy, string) {
	p := newProxy(t, w)
	p.fail(fault)
	a, address := withDebug(t, a)
	w.through(t, p, a)
	return p, address
}

var usedLine = regexp.MustCompile(`(?m)^( *)(\S+) +used (.*?)(?: leaving .*| guaranteed .*| max .*)?$`)

// usage returns what cpu each queue uses, in thousandths, by its path below the root, as
// the debug page has it.
func usage(t *testing.T, address string) map[string]int64 {
	tree, _ := page(t, address, "tree")
	used, path := map[string]int64{}, []string{}
	for _, m := range usedLine.FindAllStringSubmatch(tree, -1) {
		depth := len(m[1]) / 2
		if depth == 0 {
			continue // the root
		}
		path = append(path[:depth-1], m[2])
		for _, amount := range strings.Fields(m[3]) {
			if cpu, ok := strings.CutPrefix(strings.TrimSuffix(amount, ","), "cpu="); ok {
				q, err := resource.ParseQuantity(cpu)
				require.NoError(t, err, tree)
				used[strings.Join(path, ".")] = q.MilliValue()
			}
		}
	}
	return used
}

// books waits until the plugin has no grant, and for each queue the usage that the pods of
// the API add up to. It follows the scheduler whenever a pod fits nowhere: so there is one
// that never does, and is tried again as long as the two differ.
func (w *world) books(t *testing.T, address string) {
	t.Helper()
	probe := pod("probe", "system", "low", "1000")
	w.add(t, probe)
	eventually(t, "the probe is refused", func() bool { return refusal(w.get(t, probe.Name)) != "" })
	var grants string
	var used, real map[string]int64
	eventually(t, "the books are those of the API", func() bool {
		page(t, address, "explain?pod=default/probe")
		grants, _ = page(t, address, "grants")
		used, real = usage(t, address), map[string]int64{}
		for _, p := range w.all() {
			if p.Spec.NodeName == "" {
				continue
			}
			for path, i := p.Labels[queueLabel], 0; i >= 0; path = path[:max(i, 0)] {
				real[path] += p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
				i = strings.LastIndexByte(path, '.')
			}
		}
		t.Logf("grants %q, used %v, by the API %v", grants, used, real)
		return grants == "" && fmt.Sprint(used) == fmt.Sprint(real)
	})
	require.Zero(t, metric(t, "preempt_by_queue_grants"))
	w.delete(t, probe.Name)
}

// delete deletes a pod at once, and waits until it is gone.
func (w *world) delete(t *testing.T, name string) {
	t.Helper()
	zero := int64(0)
	require.NoError(t, w.client.CoreV1().Pods("default").Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: &zero}))
	eventually(t, name+" is gone", func() bool { return !w.has(name) })
}

// has reports whether there is a pod.
func (w *world) has(name string) bool {
	_, ok, _ := w.pods.GetByKey("default/" + name)
	return ok
}

// cordon cordons a node, or takes that back.
func (w *world) cordon(t *testing.T, name string, yes bool) {
	nodes := w.client.CoreV1().Nodes()
	n, err := nodes.Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	n.Spec.Unschedulable = yes
	_, err = nodes.Update(t.Context(), n, metav1.UpdateOptions{})
	require.NoError(t, err)
}

// inFlight counts the decisions that a pod waits for its place.
func inFlight(t *testing.T) float64 {
	return metric(t, "preempt_by_queue_decisions_total", "in-flight")
}

// The arguments of most stories: prod is guaranteed so much.
func guaranteed(cpu string) args { return queues(map[string]string{"prod": cpu}) }
