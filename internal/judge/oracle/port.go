// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"slices"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// clash reports whether two lists of ports have one in common.
func clash(a, b []string) bool {
	return slices.ContainsFunc(a, func(port string) bool { return slices.Contains(b, port) })
}

// blocks reports whether a task holds a port of the ask on a node.
func (j *judge) blocks(t *world.Task, node string) bool {
	return t.Node == node && clash(t.Ports, j.ask.Ports)
}

// blockers returns the tasks, and the keys of the grants, that hold a port of
// the ask on a node.
func (j *judge) blockers(node string) (tasks []*world.Task, grants []string) {
	for i := range j.w.Tasks {
		if t := &j.w.Tasks[i]; j.blocks(t, node) {
			tasks = append(tasks, t)
		}
	}
	for _, g := range j.w.Grants {
		if g.Node == node && g.Ask.Key != j.ask.Key && clash(g.Ask.Ports, j.ask.Ports) {
			grants = append(grants, g.Ask.Key)
		}
	}
	return tasks, grants
}

// open reports whether nobody holds a port of the ask on a node, or nobody will
// once those already leaving are gone.
func (j *judge) open(node string, coming bool) bool {
	tasks, grants := j.blockers(node)
	return len(grants) == 0 && !slices.ContainsFunc(tasks, func(t *world.Task) bool {
		return !coming || !t.State.Leaving()
	})
}

// hopeless reports whether somebody blocks a node that cannot go: a grant, or a
// task that some rule keeps.
func (j *judge) hopeless(node string) bool {
	tasks, grants := j.blockers(node)
	return len(grants) > 0 || slices.ContainsFunc(tasks, func(t *world.Task) bool {
		return !t.State.Leaving() && j.rule(t) != ""
	})
}
