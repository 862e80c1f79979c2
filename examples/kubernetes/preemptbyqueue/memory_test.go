// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podsPerNode is what BenchmarkMemory has run on each node.
const podsPerNode = 30

// BenchmarkMemory tells the memory of a scheduler with a full cluster, in MiB: what lives
// once nobody was refused yet, what of it the plugin adds with its first decision, and the
// most that the process had. Run one size at a time, for the last is of all that ran:
//
//	go test ./preemptbyqueue -run '^$' -bench 'Memory/nodes=5000' -benchtime 1x
func BenchmarkMemory(b *testing.B) {
	for _, nodes := range []int{1000, 5000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			w := crowd(nodes)
			for b.Loop() {
				call := w.attempt(b, Name)
				before := liveMiB()
				call()
				after := liveMiB()
				b.ReportMetric(before, "scheduler-MiB")
				b.ReportMetric(after-before, "plugin-MiB")
				runtime.KeepAlive(call)
			}
			var usage syscall.Rusage
			require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
			b.ReportMetric(float64(usage.Maxrss)/1024, "peak-MiB")
		})
	}
}

// liveMiB is what the collector leaves.
func liveMiB() float64 {
	runtime.GC()
	runtime.GC() // what finalizers held, too
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}

// crowd makes a cluster that is full of pods as controllers and kubelets leave them.
func crowd(nodes int) *bench {
	w := &bench{}
	amounts := v1.ResourceList{"cpu": resource.MustParse("30"), "memory": resource.MustParse("128Gi"), "pods": resource.MustParse("110")}
	for i := range nodes {
		n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("node-", i)}, Status: v1.NodeStatus{Capacity: amounts, Allocatable: amounts}}
		w.nodes = append(w.nodes, n)
		for range podsPerNode {
			w.add(n.Name, "batch", "1", 0)
			dress(w.pods[len(w.pods)-1])
		}
	}
	w.ask = w.pod("prod", "4", 100)
	return w
}

// dress gives a pod what a usual one has besides its requests.
func dress(p *v1.Pod) {
	yes := true
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: p.Name + "-owner", UID: p.UID, Controller: &yes}}
	p.Annotations = map[string]string{"example.org/checksum": fmt.Sprintf("%064d", len(p.Name)), "example.org/revision": p.Name}
	for i := range 4 {
		p.Labels[fmt.Sprint("example.org/label-", i)] = fmt.Sprint(p.Name, "-", i)
	}
	c := &p.Spec.Containers[0]
	c.Name, c.Image = "main", "example.org/team/"+p.Name+":1.2.3"
	for i := range 12 {
		c.Env = append(c.Env, v1.EnvVar{Name: fmt.Sprint("VARIABLE_", i), Value: fmt.Sprint(p.Name, " value ", i)})
	}
	for _, name := range []string{"config", "data", "token"} {
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: name, VolumeSource: v1.VolumeSource{
			ConfigMap: &v1.ConfigMapVolumeSource{LocalObjectReference: v1.LocalObjectReference{Name: p.Name + name}}}})
		c.VolumeMounts = append(c.VolumeMounts, v1.VolumeMount{Name: name, MountPath: "/var/" + p.Name + "/" + name})
	}
	for _, kind := range []v1.PodConditionType{v1.PodScheduled, v1.PodInitialized, v1.PodReady, v1.ContainersReady, v1.PodReadyToStartContainers} {
		p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{Type: kind, Status: v1.ConditionTrue})
	}
	p.Status.Phase = v1.PodRunning
	p.Status.ContainerStatuses = []v1.ContainerStatus{{Name: "main", Image: c.Image, ImageID: c.Image + fmt.Sprintf("@sha256:%064d", 1),
		State: v1.ContainerState{Running: &v1.ContainerStateRunning{}}}}
}
