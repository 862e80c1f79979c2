// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/go-preempt/preempt/examples/kubernetes/preemptqueues"
)

// manifests returns the files of a folder of config/, by its kustomization and those below it.
func manifests(t *testing.T, folder string) (files []string) {
	text, err := os.ReadFile(filepath.Join(folder, "kustomization.yaml"))
	require.NoError(t, err)
	var k struct{ Resources []string }
	require.NoError(t, sigsyaml.Unmarshal(text, &k))
	for _, r := range k.Resources {
		if path := filepath.Join(folder, r); filepath.Ext(r) == "" {
			files = append(files, manifests(t, path)...)
		} else {
			files = append(files, path)
		}
	}
	return files
}

// plurals are the resources of the kinds in config/. A Deployment has nobody to run it.
var plurals = map[string]string{"Namespace": "namespaces", "ServiceAccount": "serviceaccounts", "ClusterRole": "clusterroles",
	"ClusterRoleBinding": "clusterrolebindings", "RoleBinding": "rolebindings", "Role": "roles",
	"PodDisruptionBudget": "poddisruptionbudgets", "Deployment": "deployments",
	"CustomResourceDefinition": "customresourcedefinitions", "PreemptQueue": "preemptqueues"}

// apply creates what the folders of config/ have, as kubectl apply -k does. What is there already stays.
func (w *world) apply(t *testing.T, folders ...string) {
	client := dynamic.NewForConfigOrDie(w.config)
	for _, folder := range folders {
		for _, file := range manifests(t, folder) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
				var u unstructured.Unstructured
				if err := d.Decode(&u.Object); errors.Is(err, io.EOF) {
					break
				} else {
					require.NoError(t, err, file)
				}
				gv, err := schema.ParseGroupVersion(u.GetAPIVersion())
				require.NoError(t, err)
				require.Contains(t, plurals, u.GetKind(), file)
				_, err = client.Resource(gv.WithResource(plurals[u.GetKind()])).Namespace(u.GetNamespace()).Create(
					t.Context(), &u, metav1.CreateOptions{})
				if !apierrors.IsAlreadyExists(err) {
					require.NoError(t, err, file)
				}
				if u.GetKind() == "CustomResourceDefinition" {
					eventually(t, "the API serves it", func() bool {
						_, err := client.Resource(preemptqueues.Resource).List(t.Context(), metav1.ListOptions{})
						return err == nil
					})
				}
			}
		}
	}
}

// secondScheduler: the service account of config/second schedules with leader election and
// the queues of a ConfigMap, and may not touch the lease of anybody else.
func secondScheduler(t *testing.T, w *world) {
	w.schedulesAs(t, serviceAccount(w.config), "preempt-system", "preempt-scheduler")
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "n1", Namespace: "preempt-system"}}
	leases := w.client.CoordinationV1().Leases("preempt-system")
	lease, err := leases.Create(t.Context(), lease, metav1.CreateOptions{})
	require.NoError(t, err)
	theirs := kubernetes.NewForConfigOrDie(serviceAccount(w.config)).CoordinationV1().Leases("preempt-system")
	_, err = theirs.Update(t.Context(), lease, metav1.UpdateOptions{})
	require.True(t, apierrors.IsForbidden(err), "%v", err)
}

// onlyScheduler: the user of a static pod schedules with what config/only gives it.
func onlyScheduler(t *testing.T, w *world) {
	w.schedulesAs(t, as(w.config, "system:kube-scheduler", "system:authenticated"), "kube-system", "kube-scheduler")
}

// scheduleSecond runs the scheduler with the rights of config/second.
func (w *world) scheduleSecond(t *testing.T, a args) (stop func()) {
	return w.scheduleAs(t, serviceAccount(w.config), "leaderElection: {leaderElect: false}\n"+a.profiles(t, "default-scheduler"))
}

// leads has somebody become the leader, by a lease. kube-scheduler ends its process when
// it does not lead any more, so it is not what is run here.
func leads(t *testing.T, as *rest.Config, namespace, name string) {
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, namespace, name,
		resourcelock.ResourceLockConfig{Identity: t.Name()}, as, 10*time.Second)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	led := make(chan struct{})
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(led); cancel() }, OnStoppedLeading: func() {},
		},
	})
	select {
	case <-led:
	default:
		t.Fatalf("%s in %s: no leader", name, namespace)
	}
}

// schedulesAs has somebody lead, schedule and preempt.
func (w *world) schedulesAs(t *testing.T, as *rest.Config, namespace, lease string) {
	leads(t, as, namespace, lease)
	maps := w.client.CoreV1().ConfigMaps("preempt-system")
	m := queueMap("queues:\n- {name: system}\n- {name: batch}\n- {name: prod, guaranteed: {cpu: 4}}\n")
	m.Namespace = "preempt-system"
	_, err := maps.Create(t.Context(), m, metav1.CreateOptions{})
	require.NoError(t, err)
	defer func() { w.report(maps.Delete(t.Context(), m.Name, metav1.DeleteOptions{})) }()
	w.addNodes(t, node("n1", "4"))
	w.run(t, fill("n1", "etl", "batch", "mid", "1", 4)...)
	a, address := withDebug(t, queues(nil).with("queuesConfigMap", "preempt-system/queues"))
	w.scheduleAs(t, as, "leaderElection: {leaderElect: false}\n"+a.profiles(t, "default-scheduler"))
	w.run(t, pod("web", "prod", "high", "4"))
	w.settle(t)
	require.Equal(t, 4, w.evictedOf("batch"))
	eventually(t, "events are written", func() bool { return w.event(t, "Preempted", "Preempted by pod ") })
	w.books(t, address)
}
