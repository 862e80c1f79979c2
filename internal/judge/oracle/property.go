// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"strconv"
	"time"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// policy returns the preemption policy that a queue sets, or "". A bad value
// counts as unset, and on the root a policy has no effect.
func (j *judge) policy(path string) string {
	if path == j.w.Root.Name {
		return ""
	}
	switch v := j.queues[path].Properties["preemption.policy"]; v {
	case "default", "fence", "disabled":
		return v
	}
	return ""
}

// disabled holds for the queues below until one sets its own.
func (j *judge) disabled(path string) bool {
	for _, q := range world.Up(path) {
		if p := j.policy(q); p != "" {
			return p == "disabled"
		}
	}
	return false
}

// delay is what the nearest queue from the leaf upwards sets, if it is a delay.
func (j *judge) delay(leaf string) time.Duration {
	for _, q := range world.Up(leaf) {
		text, ok := j.queues[q].Properties["preemption.delay"]
		if !ok {
			continue
		}
		if d, err := time.ParseDuration(text); err == nil && d >= 0 {
			return d
		}
		break
	}
	return 30 * time.Second
}

// fenceRoot is the nearest queue on the path of a leaf, itself included, whose
// policy is fence; else the root.
func (j *judge) fenceRoot(leaf string) string {
	for _, q := range world.Up(leaf) {
		if j.policy(q) == "fence" {
			return q
		}
	}
	return j.w.Root.Name
}

// inReach reports whether law 7 lets the asking leaf take from leaf: every leaf
// strictly below the fence root, except the asking one.
func (j *judge) inReach(leaf string) bool {
	root := j.fenceRoot(j.ask.Queue)
	return leaf != root && world.Inside(leaf, root) && leaf != j.ask.Queue
}

// commonAncestor is the lowest queue that has both in its subtree.
func commonAncestor(a, b string) string {
	for _, q := range world.Up(a) {
		if world.Inside(b, q) {
			return q
		}
	}
	panic("oracle: two trees")
}

// lifted is a priority, lifted from its leaf up to the child of c.
func (j *judge) lifted(priority int32, leaf, c string) int64 {
	value := int64(priority)
	for _, q := range world.Up(leaf) {
		if q == c {
			break
		}
		properties := j.queues[q].Properties
		offset, err := strconv.ParseInt(properties["priority.offset"], 10, 32)
		if err != nil {
			offset = 0
		}
		if properties["priority.policy"] == "fence" {
			value = offset
		} else {
			value += offset
		}
	}
	return value
}

// rank is the effective priority of a task minus the ask's, both lifted to
// below their common ancestor; for required-node asks, raw minus raw.
func (j *judge) rank(t *world.Task) int64 {
	if j.ask.RequiredNode != "" {
		return int64(t.Priority) - int64(j.ask.Priority)
	}
	rank, known := j.ranks[t]
	if !known {
		c := commonAncestor(t.Queue, j.ask.Queue)
		rank = j.lifted(t.Priority, t.Queue, c) - j.lifted(j.ask.Priority, j.ask.Queue, c)
		j.ranks[t] = rank
	}
	return rank
}
