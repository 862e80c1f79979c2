// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/go-preempt/preempt/internal/judge/trace"
)

// generate returns a small workload that is the same every time, with nodes and
// pods like those of the trace that this program is for, and enough of them to
// keep a part of them waiting.
func generate() *trace.Workload {
	const pods = 1200
	w := &trace.Workload{}
	for _, kind := range nodeKinds {
		for range kind.count {
			n := kind.Node
			n.Name = fmt.Sprintf("node-%02d", len(w.Nodes))
			w.Nodes = append(w.Nodes, n)
		}
	}
	// The source alone is random, for its numbers are specified.
	random := rand.NewPCG(2023, 1)
	below := func(n uint64) int64 { return int64(random.Uint64() % n) }
	now := int64(0)
	for i := range pods {
		p := podKinds[below(uint64(len(podKinds)))]
		p.Name = fmt.Sprintf("pod-%04d", i)
		now += below(30)
		p.Created = now
		// Most pods are short, some run for hours.
		p.Deleted = now + 60 + below(60)<<below(9)
		w.Pods = append(w.Pods, p)
	}
	return w
}

// nodeKinds are the machines, each as often as it says.
var nodeKinds = []struct {
	trace.Node
	count int
}{
	{trace.Node{CPU: 96000, Memory: 384 << 10, GPUs: 8, Model: "G2"}, 8},
	{trace.Node{CPU: 104000, Memory: 512 << 10, GPUs: 2, Model: "T4"}, 6},
	{trace.Node{CPU: 32000, Memory: 256 << 10}, 2},
}

// podKinds are the pods, all of them equally often.
var podKinds = []trace.Pod{
	{CPU: 8000, Memory: 30 << 10, GPU: 1000, QoS: trace.LatencySensitive},
	{CPU: 12000, Memory: 48 << 10, GPU: 1000, QoS: trace.LatencySensitive},
	{CPU: 12000, Memory: 46 << 10, GPU: 470, QoS: trace.LatencySensitive},
	{CPU: 8000, Memory: 24 << 10, GPU: 460, QoS: trace.LatencySensitive},
	{CPU: 32000, Memory: 48 << 10, QoS: trace.LatencySensitive},
	{CPU: 6000, Memory: 12 << 10, GPU: 1000, Models: []string{"T4"}, QoS: trace.LatencySensitive},
	{CPU: 4000, Memory: 16 << 10, GPU: 320, QoS: trace.BestEffort},
	{CPU: 3000, Memory: 6 << 10, GPU: 810, QoS: trace.BestEffort},
	{CPU: 12000, Memory: 46 << 10, GPU: 1000, QoS: trace.BestEffort},
	{CPU: 11000, Memory: 50 << 10, QoS: trace.BestEffort},
	{CPU: 88000, Memory: 320 << 10, GPU: 8000, Models: []string{"G2", "G3"}, QoS: trace.Burstable},
	{CPU: 14000, Memory: 0, GPU: 1000, QoS: trace.Guaranteed},
}
