// SPDX-License-Identifier: Apache-2.0

package preempt_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// The promise is checked from its words alone, over all that a simulated scheduler carries
// out. Nothing here asks a planner, an auditor or a tree what is allowed.

// promise is what README.md guarantees to queues. Exceptions are apart.
var promise = []string{
	"Work of other queues never takes a queue below its guarantee, or below what it has if that is less: at every level, in every type that counts (all, or Options.Scarce).",
	"Only a queue under its guarantee takes from others (its last task may take it past the guarantee), and only one over its guarantee gives.",
}

// An exception is a part of a sentence beside the promise, and what it lets happen.
type exception struct {
	words string
	holds func(p *played, x *taking, c *complaint) bool
}

var exceptions = []exception{
	{"If its leaf says so (preemption.own-leaf, or WithinQueue), an ask may take less important work of the same leaf or branch, without a guarantee.", ownWork},
	{"That may take its own queues further below their guarantees: one guaranteed 20 GPUs that uses 16 in one gang may lose it to a task of 1. " +
		"A guarantee that is met stays met.", ownGuarantee},
	{"An ask that can run on one node only may take from guarantees and across fences.", func(_ *played, x *taking, _ *complaint) bool { return x.required }},
	{"A lowered max takes from its queue, down to guarantees of all types, whatever the priorities.", func(_ *played, x *taking, c *complaint) bool {
		return x.leaf == "" && c.queue == ""
	}},
	{"A job by priority (ByPriority) needs no guarantee.", func(p *played, x *taking, c *complaint) bool {
		return x.byPriority && c.queue == "" && (c.victim.Queue == x.leaf || x.over(p.queues, &c.victim))
	}},
}

// ownWork: the branch are the leaves below a queue that is guaranteed something that is asked for.
func ownWork(p *played, x *taking, c *complaint) bool {
	switch {
	case x.own == "" || c.queue != "":
		return false
	case c.victim.Queue == x.leaf:
		return c.victim.Priority < x.priority
	}
	return x.own == world.Branch && x.over(p.queues, &c.victim) && slices.ContainsFunc(p.queues, func(q world.Place) bool {
		return world.Inside(x.leaf, q.Path) && world.Inside(c.victim.Queue, q.Path) && x.wants(q)
	})
}

func ownGuarantee(p *played, x *taking, c *complaint) bool {
	i := slices.IndexFunc(p.queues, func(q world.Place) bool { return q.Path == c.queue })
	return x.own != "" && i >= 0 && world.Inside(x.leaf, c.queue) && x.before[c.queue][c.of] < p.queues[i].Guaranteed[c.of]
}

// A taking is what one plan, or one enforced max, took.
type taking struct {
	leaf       string // that asked; "" for a lowered max
	priority   int32
	own        string // what leaf may take of its own: "", Met or Branch
	required   bool   // the ask can run on one node only
	byPriority bool   // it was a job by that rule
	// brought is what is brought into leaf, and most the largest of it, by type.
	brought, most world.Amounts
	stopped       []world.Task
	before, after map[string]world.Amounts // effective usage by queue
	counts        func(t string) bool      // whether guarantees of a type count
	kinds         map[string]bool          // see kinds
}

// A complaint is what the promise forbids, exceptions apart: that a queue ends below its
// guarantee, or that a task stops for nobody who is under one.
type complaint struct {
	queue, of string // a queue and a type, or
	victim    world.Task
}

func (c complaint) String() string {
	if c.queue == "" {
		return fmt.Sprintf("%s of %s stops for nobody who is under a guarantee", c.victim.Key, c.victim.Queue)
	}
	return fmt.Sprintf("%s ends below its guarantee of %s", c.queue, c.of)
}

// complaints returns what a taking does against the two sentences of the promise.
func (x *taking) complaints(queues []world.Place) (all []complaint) {
	for _, q := range queues {
		for _, t := range slices.Sorted(maps.Keys(q.Guaranteed)) {
			if had, has := x.before[q.Path][t], x.after[q.Path][t]; x.counts(t) && has < min(q.Guaranteed[t], had) {
				all = append(all, complaint{queue: q.Path, of: t})
			}
		}
	}
	for _, v := range x.stopped {
		if !x.entitled(queues, v.Queue) || !x.over(queues, &v) {
			all = append(all, complaint{victim: v})
		}
	}
	return all
}

// entitled reports whether a queue that is under its guarantee takes from another. The last
// task may take it past the guarantee.
func (x *taking) entitled(queues []world.Place, other string) bool {
	return slices.ContainsFunc(queues, func(q world.Place) bool {
		if x.leaf == "" || !world.Inside(x.leaf, q.Path) || world.Inside(other, q.Path) {
			return false
		}
		for t, g := range q.Guaranteed {
			if brought := x.brought[t]; brought > 0 && x.counts(t) && x.before[q.Path][t]+brought-x.most[t] < g {
				return true
			}
		}
		return false
	})
}

// over reports whether the queue of a task is over its guarantee in each type of the task that
// counts: without a guarantee all usage is over.
func (x *taking) over(queues []world.Place, v *world.Task) bool {
	i := slices.IndexFunc(queues, func(q world.Place) bool { return q.Path == v.Queue })
	for t, g := range queues[i].Guaranteed {
		if v.Size[t] > 0 && x.counts(t) && x.before[v.Queue][t] <= g {
			return false
		}
	}
	return true
}

// wants reports whether a queue is guaranteed something that is asked for.
func (x *taking) wants(q world.Place) bool {
	for t := range q.Guaranteed {
		if x.counts(t) && x.brought[t] > 0 {
			return true
		}
	}
	return false
}

// broken returns what no exception allows, and counts what each allows in used, in their order.
func (p *played) broken(list []exception, used []int) (all []string) {
	for _, x := range p.taken {
		for _, c := range x.complaints(p.queues) {
			i := slices.IndexFunc(list, func(e exception) bool { return e.holds(p, x, &c) })
			if i < 0 {
				all = append(all, fmt.Sprintf("%v, by %s; before %v, after %v", c, x.leaf, x.before, x.after))
				continue
			}
			used[i]++
		}
	}
	return all
}

// TestPromise: whoever checks the words finds nothing, whatever is asked and whatever queues say.
func TestPromise(t *testing.T) { rapid.Check(t, promiseHolds) }

func FuzzPromise(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(promiseHolds))
}

func promiseHolds(t *rapid.T) {
	p := play(t)
	if broken := p.broken(exceptions, make([]int, len(exceptions))); len(broken) > 0 {
		t.Fatalf("%s\n%v", strings.Join(broken, "\n"), p)
	}
}

// TestPromise_Exceptions: in histories that are the same in every run each exception occurs,
// and the check fails without it. So do all kinds of plans that the words speak of.
func TestPromise_Exceptions(t *testing.T) {
	const fewest = 10
	used, seen := make([]int, len(exceptions)), make(map[string]int)
	var all []*played
	for seed := range 300 {
		p := rapid.Custom(play).Example(seed)
		require.Empty(t, p.broken(exceptions, used), "%v", p)
		for kind, n := range p.seen {
			seen[kind] += n
		}
		all = append(all, p)
	}
	t.Log(used, seen)
	for _, kind := range kinds {
		require.GreaterOrEqual(t, seen[kind], fewest, kind)
	}
	for i, e := range exceptions {
		require.GreaterOrEqual(t, used[i], fewest, e.words)
		without, broken := slices.Delete(slices.Clone(exceptions), i, i+1), 0
		for _, p := range all {
			broken += len(p.broken(without, make([]int, len(without))))
		}
		require.GreaterOrEqual(t, broken, fewest, "the check does not need: %s", e.words)
	}
}

// TestPromise_Words: every text promises the same.
func TestPromise_Words(t *testing.T) {
	for _, name := range []string{"README.md", "doc.go", "DESIGN.md"} {
		text := plainPage(t, name)
		for _, words := range promise {
			require.Contains(t, text, words, name)
		}
		for _, e := range exceptions {
			require.Contains(t, text, e.words, name)
		}
	}
}
