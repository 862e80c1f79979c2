// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"
	"math/rand/v2"
)

// Twin returns a workload that resembles the production trace and needs no
// files: as many nodes and pods, of the kinds that are most frequent there, about
// as often, in an order that is drawn. It is the same every time. What it lacks is
// the long tail of kinds that the trace has a few of, and the models of GPUs that
// pods want. Nothing is deleted.
func Twin() *Workload {
	w := &Workload{}
	for _, kind := range twinNodes {
		for range kind.count {
			w.Nodes = append(w.Nodes, kind.Node)
		}
	}
	for _, kind := range twinPods {
		for range kind.count {
			w.Pods = append(w.Pods, kind.Pod)
		}
	}
	// The generator and its shuffle are specified: the order is the same on every
	// machine.
	random := rand.New(rand.NewPCG(2023, 2))
	random.Shuffle(len(w.Nodes), func(i, k int) { w.Nodes[i], w.Nodes[k] = w.Nodes[k], w.Nodes[i] })
	random.Shuffle(len(w.Pods), func(i, k int) { w.Pods[i], w.Pods[k] = w.Pods[k], w.Pods[i] })
	for i := range w.Nodes {
		w.Nodes[i].Name = fmt.Sprintf("node-%04d", i)
	}
	for i := range w.Pods {
		p := &w.Pods[i]
		p.Name = fmt.Sprintf("pod-%04d", i)
		p.Created = int64(i) * 60
		p.Deleted = p.Created + 1<<40
	}
	return w
}

const gib = 1 << 10 // in MiB

// twinNodes are the machines of a twin, with the number of each.
var twinNodes = []struct {
	Node
	count int
}{
	{Node{CPU: 96000, Memory: 384 * gib, GPUs: 8}, 549},
	{Node{CPU: 104000, Memory: 512 * gib, GPUs: 2}, 390},
	{Node{CPU: 32000, Memory: 256 * gib}, 162},
	{Node{CPU: 16000, Memory: 120 * gib, GPUs: 2}, 109},
	{Node{CPU: 96000, Memory: 512 * gib}, 117},
	{Node{CPU: 128000, Memory: 768 * gib, GPUs: 8}, 68},
	{Node{CPU: 32000, Memory: 128 * gib, GPUs: 4}, 28},
	{Node{CPU: 64000, Memory: 256 * gib, GPUs: 2}, 22},
	{Node{CPU: 64000, Memory: 512 * gib}, 31},
	{Node{CPU: 96000, Memory: 384 * gib, GPUs: 4}, 25},
	{Node{CPU: 8000, Memory: 32 * gib, GPUs: 1}, 22},
}

// twinPods are the pods of a twin, with the number of each.
var twinPods = []struct {
	Pod
	count int
}{
	// Latency sensitive: whole GPUs, shares of one, none.
	{Pod{CPU: 11000, Memory: 48 * gib, GPU: 1000, QoS: LatencySensitive}, 1482},
	{Pod{CPU: 64000, Memory: 256 * gib, GPU: 8000, QoS: LatencySensitive}, 18},
	{Pod{CPU: 12000, Memory: 20 * gib, GPU: 1000, QoS: LatencySensitive}, 420},
	{Pod{CPU: 16000, Memory: 56 * gib, GPU: 1000, QoS: LatencySensitive}, 560},
	{Pod{CPU: 19000, Memory: 64 * gib, GPU: 1000, QoS: LatencySensitive}, 290},
	{Pod{CPU: 10000, Memory: 40 * gib, GPU: 1000, QoS: LatencySensitive}, 250},
	{Pod{CPU: 6000, Memory: 24 * gib, GPU: 1000, QoS: LatencySensitive}, 320},
	{Pod{CPU: 24000, Memory: 92 * gib, GPU: 1000, QoS: LatencySensitive}, 90},
	{Pod{CPU: 12000, Memory: 46 * gib, GPU: 470, QoS: LatencySensitive}, 390},
	{Pod{CPU: 12000, Memory: 46 * gib, GPU: 650, QoS: LatencySensitive}, 240},
	{Pod{CPU: 12500, Memory: 56 * gib, QoS: LatencySensitive}, 370},
	{Pod{CPU: 16000, Memory: 50 * gib, QoS: LatencySensitive}, 217},

	// Best effort.
	{Pod{CPU: 3000, Memory: 5500, GPU: 810, QoS: BestEffort}, 1080},
	{Pod{CPU: 3000, Memory: 5500, GPU: 1000, QoS: BestEffort}, 470},
	{Pod{CPU: 8000, Memory: 30 * gib, GPU: 470, QoS: BestEffort}, 360},
	{Pod{CPU: 32000, Memory: 48 * gib, QoS: BestEffort}, 284},
	{Pod{CPU: 8000, Memory: 30 * gib, QoS: BestEffort}, 163},
	{Pod{CPU: 12000, Memory: 46 * gib, GPU: 1000, QoS: BestEffort}, 153},
	{Pod{CPU: 4000, Memory: 22 * gib, GPU: 320, QoS: BestEffort}, 480},
	{Pod{CPU: 4000, Memory: 16 * gib, GPU: 200, QoS: BestEffort}, 248},
	{Pod{CPU: 4000, Memory: 10 * gib, GPU: 560, QoS: BestEffort}, 160},

	// The few that are left, whole machines among them.
	{Pod{CPU: 12000, Memory: 24 * gib, GPU: 1000, QoS: Burstable}, 82},
	{Pod{CPU: 88000, Memory: 320 * gib, GPU: 8000, QoS: Burstable}, 18},
	{Pod{CPU: 14000, Memory: 16 * gib, GPU: 1000, QoS: Guaranteed}, 7},
}
