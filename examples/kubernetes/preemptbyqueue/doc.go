// SPDX-License-Identifier: Apache-2.0

// Package preemptbyqueue is a plugin of kube-scheduler that preempts by queue:
// pods of a queue under its guarantee take from queues over theirs, and from
// nobody else.
//
// It takes the place of DefaultPreemption. The package victims decides; this
// package tells it what the scheduler sees, and carries out what it decides.
//
// # How it works
//
// A mirror of the cluster follows the scheduler's own snapshot, node by node, by
// the generations of the nodes (mirror.go). It never follows informers: they may
// be ahead of the snapshot or behind it, and two views of one cluster race.
//
// A pod that fits nowhere comes to PostFilter (postfilter.go). The planner decides
// over the mirror. Rules that are not about amounts it asks of the scheduler (fits.go):
// which nodes are out whatever happens, which pods hold a host port that the pod needs,
// and whether all Filter plugins accept a node without the victims.
//
// A plan becomes a grant: the pod is nominated to the node, and its victims are
// evicted in the background (evict.go). Pods of one controller that wait are decided
// together, and share their victims (workload.go). Filter keeps other pods from the granted
// room (grants.go), and Reserve ends the grant. If the arguments say so, pods move that are in
// the way (moves.go).
//
// # Keys
//
// The key of a task is namespace/name/uid of its pod: a pod that is created again
// under the same name is another task.
package preemptbyqueue
