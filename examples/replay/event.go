// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"container/heap"
)

// An event is something that happens to a pod at an instant.
type event struct {
	at   int64 // seconds
	kind eventKind
	pod  int32
}

type eventKind uint8

// The kinds of events. What happens in the same second happens in this order,
// so that room is made before it is asked for.
const (
	ends    eventKind = 1 + iota // the pod is wanted no longer
	leaves                       // the pod, a victim, has stopped
	arrives                      // the pod is created
	matures                      // the pod has been pending for long enough to preempt
	saves                        // the job has a checkpoint
)

func (e event) compare(f event) int {
	return cmp.Or(cmp.Compare(e.at, f.at), cmp.Compare(e.kind, f.kind), cmp.Compare(e.pod, f.pod))
}

// A calendar holds events to come. Its zero value is empty.
type calendar struct{ events eventHeap }

func (c *calendar) add(e event) { heap.Push(&c.events, e) }

func (c *calendar) empty() bool { return len(c.events) == 0 }

// first returns the next event of a calendar that is not empty.
func (c *calendar) first() event { return c.events[0] }

// take removes the next event if it is of the given instant and kind, and
// returns its pod.
func (c *calendar) take(at int64, kind eventKind) (pod int32, ok bool) {
	if c.empty() || c.first().at != at || c.first().kind != kind {
		return 0, false
	}
	return heap.Pop(&c.events).(event).pod, true
}

// eventHeap implements heap.Interface.
type eventHeap []event

func (h eventHeap) Len() int           { return len(h) }
func (h eventHeap) Less(i, j int) bool { return h[i].compare(h[j]) < 0 }
func (h eventHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)        { *h = append(*h, x.(event)) }
func (h *eventHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	*h = (*h)[:last]
	return e
}
