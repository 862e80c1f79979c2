// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/victims"
)

// moves writes for whom tasks may move, who may, and where they may run.
func (w *writer) moves() {
	if w.p.Moves == "" {
		return
	}
	o := &w.doc.Options
	o.Moves, o.MaxMoved = string(w.p.Moves), min(w.p.MaxMoved, math.MaxInt32)
	if w.p.MaxMoved > math.MaxInt32 {
		w.lacks("move", "", fmt.Sprintf("at most %d times what is asked may move", math.MaxInt32))
	}
	w.movers = make(map[victims.TaskID]map[string]string)
	selectors := w.moverSelectors()
	for id := range w.c.Tasks() {
		if w.c.State(id) != victims.Running {
			continue
		}
		if t := w.c.TaskView(id); t.Movable {
			w.movers[id] = selectors(t.Class)
		}
	}
	w.moverPorts()
}

// moverSelectors returns a function from classes of movers to what selects their nodes.
// Classes that may run on the same nodes share a label.
func (w *writer) moverSelectors() func(class int) map[string]string {
	filter := w.p.Filter
	byClass, byNodes := make(map[int]map[string]string), make(map[string]map[string]string)
	return func(class int) map[string]string {
		if s, known := byClass[class]; known || filter == nil {
			return s
		}
		may, all := w.mayRun(func(n victims.NodeID) bool { return filter(w.about(&victims.Ask{Class: class}, n)) })
		nodes := fmt.Sprint(may)
		if _, known := byNodes[nodes]; !known && !all {
			byNodes[nodes] = w.labelled("move-"+strconv.Itoa(len(byNodes)+1), may)
		}
		byClass[class] = byNodes[nodes]
		return byClass[class]
	}
}

// A clash is a task that may move, and who must go from a node before it can run there.
type clash struct{ mover, blocker victims.TaskID }

// moverPorts gives each mover and each task that is in its way a port that nobody else has.
// A port is in the way of both, which is told if only one of two movers is in the other's.
func (w *writer) moverPorts() {
	if w.p.Blockers == nil {
		return
	}
	clashes := make(map[clash]bool)
	var in []victims.TaskID
	for id := range w.movers {
		m := victims.Move{Task: id, Grant: w.c.Key(id) + "+"}
		ask := lent.To(&w.p.Options).AskOf(&m, w.c)
		for n := range w.c.Nodes() {
			in = w.p.Blockers(in[:0], w.about(&ask, n))
			for _, b := range in {
				if b != id {
					clashes[clash{id, b}] = true
				}
			}
		}
	}
	all := slices.SortedFunc(maps.Keys(clashes), func(a, b clash) int {
		return cmp.Or(cmp.Compare(a.mover, b.mover), cmp.Compare(a.blocker, b.blocker))
	})
	for i, c := range all {
		back := clashes[clash{c.blocker, c.mover}]
		if back && c.blocker < c.mover {
			continue // they have a port
		}
		if _, moves := w.movers[c.blocker]; moves && !back {
			w.lacks("move", w.c.Key(c.blocker), fmt.Sprintf("it cannot move to where %q is", w.c.Key(c.mover)))
		}
		port := "move-" + strconv.Itoa(i+1)
		w.ports[c.mover] = append(w.ports[c.mover], port)
		w.ports[c.blocker] = append(w.ports[c.blocker], port)
	}
}
