// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"math/big"
	"slices"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// judge is a question with what follows from it at once.
type judge struct {
	w   *world.World
	ask *world.Ask
	o   *world.Options
	own bool // the second decision, which takes of the own leaf too

	quota *world.EnforceCase // that is judged, and no ask; nil: none

	// Of a job the ask is all of its members together, and before is what of that comes
	// before the last of them, the largest one of each type. Of an ask it is nothing.
	before world.Amounts
	// Of some members of a job, the judge of all of them, who says what guarantees let the
	// job do; else nil.
	all *judge

	queues   map[string]world.Place
	tasks    map[string]*world.Task
	wants    []string // the ask's types: an explicit zero is no wanted type
	path     []string // from the asking leaf to the root
	capacity world.Amounts

	present, coming         map[string]world.Amounts // usage by queue
	presentFree, comingFree map[string]world.Amounts // by node

	// What was worked out of tasks, of which sets ask again and again.
	ranks   map[*world.Task]int64
	weights map[*world.Task]*big.Int
}

func newJudge(w *world.World, ask *world.Ask, o *world.Options) *judge {
	w = guaranteeing(w, o.Scarce)
	// What the queues say of the own leaf comes before the option.
	own := *o
	own.OwnLeaf = w.OwnLeaf(ask.Queue, o.OwnLeaf)
	j := &judge{
		w: w, ask: ask, o: &own,
		queues:   make(map[string]world.Place),
		tasks:    make(map[string]*world.Task),
		ranks:    make(map[*world.Task]int64),
		weights:  make(map[*world.Task]*big.Int),
		path:     world.Up(ask.Queue),
		capacity: w.Capacity(),
		present:  w.Usage(false), coming: w.Usage(true),
		presentFree: w.Free(false), comingFree: w.Free(true),
	}
	for _, q := range w.Queues() {
		j.queues[q.Path] = q
	}
	for i := range w.Tasks {
		j.tasks[w.Tasks[i].Key] = &w.Tasks[i]
	}
	for _, t := range w.Types {
		if ask.Size[t] > 0 {
			j.wants = append(j.wants, t)
		}
	}
	return j
}

// guaranteeing returns a world in which guarantees of types that do not count are not
// defined.
func guaranteeing(w *world.World, scarce []string) *world.World {
	if scarce == nil {
		return w
	}
	less := *w
	less.Root = fewer(w.Root, scarce)
	return &less
}

func fewer(q world.Queue, scarce []string) world.Queue {
	all, children := q.Guaranteed, q.Children
	q.Guaranteed, q.Children = make(world.Amounts), nil
	for t, v := range all {
		if slices.Contains(scarce, t) {
			q.Guaranteed[t] = v
		}
	}
	for _, c := range children {
		q.Children = append(q.Children, fewer(c, scarce))
	}
	return q
}

// governing returns the nearest queue from the asking leaf upwards that defines
// a guarantee for the type.
func (j *judge) governing(t string) (queue string, ok bool) {
	for _, q := range j.path {
		if _, defined := j.queues[q].Guaranteed[t]; defined {
			return q, true
		}
	}
	return "", false
}

// starving returns E, the lowest governing queue of a type of the ask.
func (j *judge) starving() (queue string, ok bool) {
	if j.all != nil {
		return j.all.starving()
	}
	for _, q := range j.path {
		for _, t := range j.wants {
			if governing, ok := j.governing(t); ok && governing == q {
				return q, true
			}
		}
	}
	return "", false
}

// usable reports whether the ask may be placed on the node at all.
func (j *judge) usable(n *world.Node) bool {
	if j.ask.RequiredNode != "" {
		return n.Name == j.ask.RequiredNode && n.Has(j.ask.Selector)
	}
	return !n.Unschedulable && (n.ReservedFor == "" || n.ReservedFor == j.ask.Key) && n.Has(j.ask.Selector)
}

// filtered returns how many nodes the ask could be placed on but for their
// labels.
func (j *judge) filtered() (n int) {
	free := *j
	ask := *j.ask
	ask.Selector, free.ask = nil, &ask
	for i := range j.w.Nodes {
		if free.usable(&j.w.Nodes[i]) && !j.usable(&j.w.Nodes[i]) {
			n++
		}
	}
	return n
}

// named returns the tasks of those keys, each once, without the unknown ones.
func (j *judge) named(keys []string) (tasks []*world.Task) {
	for _, key := range keys {
		if t := j.tasks[key]; t != nil && !slices.Contains(tasks, t) {
			tasks = append(tasks, t)
		}
	}
	return tasks
}
