// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/go-preempt/preempt/queue"
)

// A hunger is how long queues were under their guarantee while pods of them
// waited: what preemption is there to shorten. The queues of a tenant are added
// up, so an hour in which two of them starve counts for two.
type hunger struct {
	seconds  [tenants]int64 // by tenant, until since
	starving [tenants]int64 // queues, from since on
	since    int64
}

// until lets time pass in which nothing changes.
func (h *hunger) until(now int64) {
	for tenant, queues := range h.starving {
		h.seconds[tenant] += queues * (now - h.since)
	}
	h.since = now
}

// look counts the leaves that starve now: a pod waits in line, and the queue
// that governs a type which the pod asks for is under its guarantee of it.
func (x *player) look() {
	h := &x.figures.hunger
	h.until(x.now)
	h.starving = [tenants]int64{}
	clear(x.starving)
	for _, i := range x.line {
		p := &x.pods[i]
		if !x.starving[p.leaf] && x.starves(p) {
			x.starving[p.leaf] = true
			h.starving[p.tenant]++
		}
	}
}

// starves reports whether a pod in line has a claim that is not met.
func (x *player) starves(p *pod) bool {
	for t, amount := range p.size {
		if amount == 0 {
			continue
		}
		if q, governed := x.cluster.Tree().Governing(p.leaf, t); governed && x.under(q, t) {
			return true
		}
	}
	return false
}

// under reports whether a queue has less of a type than it is guaranteed.
func (x *player) under(q queue.ID, t int) bool {
	guaranteed, effective := x.watch.amounts(q, t)
	return effective < guaranteed
}
