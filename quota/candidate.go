package quota

import (
	"math"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A candidate is a task that may be taken, with what decides when.
type candidate struct {
	key   string
	order uint64 // what comes before age, the lowest first; see orderOf
	age   int64  // the lowest is the youngest
	id    victims.TaskID
	node  victims.NodeID
	leaf  queue.ID
}

// gather lists the candidates of leaf w, if that was not done: the running
// tasks that share a type with the target. "Required-node, releasing and
// preempting tasks never." It also lists the grants.
func (x *enforcement) gather(w queue.ID) {
	row := x.at(w)
	if row.gathered {
		return
	}
	row.gathered, row.first = true, int32(len(x.tasks))
	for id := range x.c.TasksIn(w) {
		t := x.c.TaskView(id)
		if t.State == victims.Granted {
			x.grants = append(x.grants, t.Key)
		}
		if t.State != victims.Running || t.RequiredNode || !x.isAny(t.Size) {
			continue // an explicit zero of a type is not sharing it
		}
		x.tasks = append(x.tasks, candidate{key: t.Key, order: x.orderOf(&t), age: ageOf(&t), id: id, node: t.Node, leaf: w})
		x.sizes = append(x.sizes, t.Size...)
		x.taken = append(x.taken, false)
	}
	row.end = int32(len(x.tasks))
}

// orderOf packs what the order of tasks looks at before their age into a
// number: how well the types match, where that counts, then originators,
// priority and opting out.
func (x *enforcement) orderOf(t *victims.Task) uint64 {
	order := uint64(int64(t.Priority) - math.MinInt32)
	if t.Originator {
		order |= 1 << 32
	}
	order <<= 1
	if t.OptedOut {
		order |= 1
	}
	if x.e.Order == ClosestMatch {
		exact, others := x.match(t.Size)
		if order |= uint64(others) << 34; !exact {
			order |= 1 << 41
		}
	}
	return order
}

// match reports whether a size has exactly the types of the target, and how
// many types it has beside them.
func (x *enforcement) match(size resources.Vector) (exact bool, others int) {
	has := resources.Positive(size)
	return has == x.wanted, (has &^ x.wanted).Len()
}

// ageOf returns a number that is lower for younger tasks. Those of which it is
// not known when they were created are the oldest.
func ageOf(t *victims.Task) int64 {
	if t.Created.IsZero() {
		return math.MaxInt64
	}
	return ^t.Created.UnixNano() // in range: the cluster has checked it
}

// compareAlike orders tasks whose order and age are the same: "then smaller,
// key". It is negative where i is taken before j, and never 0 for two tasks.
func (x *enforcement) compareAlike(i, j int32) int {
	a, b := x.size(i), x.size(j)
	if !slices.Equal(a, b) {
		capacity := x.c.Capacity()
		if c := resources.DominantShare(a, capacity).Compare(resources.DominantShare(b, capacity)); c != 0 {
			return c
		}
	}
	return strings.Compare(x.tasks[i].key, x.tasks[j].key)
}

// size returns the size of a candidate.
func (x *enforcement) size(i int32) resources.Vector {
	at := int(i) * x.types
	return x.sizes[at : at+x.types : at+x.types]
}
