// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/go-preempt/preempt/queue"
)

// BatchFigures are what the replay of a batch found out about a policy: the same for
// the same batch on every machine.
type BatchFigures struct {
	Policy string `json:"policy"`
	Gangs  Waits  `json:"gangs"`  // jobs of several hosts
	Others Waits  `json:"others"` // jobs of one host at most
	// Under is how many seconds virtual clusters were under their guarantee while jobs
	// of them waited, added up.
	Under       int64 `json:"underGuarantee"`
	Plans       int   `json:"plans"` // with victims
	Stops       int   `json:"stops"` // of jobs, each as often as it was stopped
	GangStops   int   `json:"gangStops"`
	Lost        int64 `json:"lost"` // GPU-seconds of work that was done in vain
	LastSecond  int64 `json:"lastSecond"`
	MostStopped int   `json:"mostStopped"` // how often the same job was
	Laws        Laws  `json:"laws"`

	guaranteed []int64 // by leaf, in the configuration
	starving   int64   // virtual clusters, from since on
	since      int64
}

// Waits sums up how long jobs were there and did not run, in seconds.
type Waits struct {
	Jobs int   `json:"jobs"`
	Mean int64 `json:"mean"`
	P95  int64 `json:"p95"`
}

func waitsOf(seconds []int64) Waits {
	if len(seconds) == 0 {
		return Waits{}
	}
	slices.Sort(seconds)
	return Waits{Jobs: len(seconds), Mean: sum(seconds) / int64(len(seconds)), P95: percentile(seconds, 95)}
}

// begin takes down what is known before anything happens.
func (f *BatchFigures) begin(x *batchPlayer) {
	f.Policy = x.Policy.Name
	for q := range queue.ID(x.configured.Len()) {
		most, _ := x.configured.Guaranteed(q).Bound(0)
		f.guaranteed = append(f.guaranteed, most)
	}
}

// stopped counts a job that is stopped and loses seconds of work.
func (f *BatchFigures) stopped(w *work, seconds int64) {
	f.Stops++
	if len(w.members) > 1 {
		f.GangStops++
	}
	f.Lost += seconds * w.GPUs
}

// look counts the virtual clusters that starve from now on.
func (x *batchPlayer) look() {
	f := &x.figures
	f.Under += f.starving * (x.now - f.since)
	f.since, f.starving = x.now, 0
	waits := make([]bool, len(f.guaranteed))
	for _, line := range x.lines {
		if len(line) > 0 {
			waits[x.work[line[0]].leaf] = true
		}
	}
	for leaf, waiting := range waits {
		if waiting && x.cluster.Tree().Usage(queue.ID(leaf))[0] < f.guaranteed[leaf] {
			f.starving++
		}
	}
}

// conclude takes down what is known at the end only.
func (f *BatchFigures) conclude(x *batchPlayer) {
	var gangs, others []int64
	for i := range x.work {
		w := &x.work[i]
		f.MostStopped = max(f.MostStopped, w.gone)
		if len(w.members) > 1 {
			gangs = append(gangs, w.waited)
		} else {
			others = append(others, w.waited)
		}
	}
	f.Gangs, f.Others, f.LastSecond = waitsOf(gangs), waitsOf(others), x.now
}
