// SPDX-License-Identifier: Apache-2.0

package world

import "slices"

// Some names are the beginnings of others, for "inside" is not "begins with".
var queueNames = []string{"a", "b", "ab", "c", "abc", "d", "e", "ad", "f", "g", "h", "i", "j", "k", "l"}

// drawQueues draws the tree with its properties and without bounds.
func (g *generator) drawQueues() {
	root := &Queue{Name: "root"}
	type row struct {
		path  []int // the way down from the root, by child index
		depth int
	}
	rows := []row{{nil, 1}}
	at := func(path []int) *Queue {
		q := root
		for _, i := range path {
			q = &q.Children[i]
		}
		return q
	}
	g.drawProperties(root)
	for i := range 2 + g.below("queues", g.shape.Queues-2) {
		parent := rows[g.below("parent", len(rows))]
		if i == 1 || parent.depth == g.shape.Depth {
			parent = rows[0] // so that there are two leaves at least
		}
		q := at(parent.path)
		child := Queue{Name: queueNames[i]}
		g.drawProperties(&child)
		path := append(append([]int(nil), parent.path...), len(q.Children))
		q.Children = append(q.Children, child)
		rows = append(rows, row{path, parent.depth + 1})
	}
	g.w.Root = *root
	for _, q := range g.w.Queues() {
		if q.IsLeaf() {
			g.leaves = append(g.leaves, q.Path)
		}
	}
}

// drawProperties draws what a queue sets for itself; most set nothing. Values
// that count as unset are among them.
func (g *generator) drawProperties(q *Queue) {
	if !g.chance("properties", 8) {
		return
	}
	q.Properties = make(map[string]string)
	set := func(key string, chance int, values ...string) {
		if g.chance(key, chance) {
			q.Properties[key] = of(g, key, values...)
		}
	}
	set("preemption.policy", 5, "disabled", "fence", "default", "fenced")
	set("priority.offset", 6, "1", "-1", "2", "-2", "2147483647", "-2147483648", "many")
	set("priority.policy", 4, "fence", "default")
	set("preemption.delay", 3, "1m", "30s", "0s", "2h", "-1s", "soon")
}

// drawBounds draws guarantees and maxes around the coming usage.
func (g *generator) drawBounds() {
	usage := g.w.Usage(true)
	path := Up(g.c.Ask.Queue)
	if !g.odd {
		delete(g.queue(g.c.Ask.Queue).Properties, "preemption.policy") // a fence there leaves no one
	}
	for i, t := range g.w.Types {
		governs := g.drawGoverning(path, i == 0)
		for _, q := range g.w.Queues() {
			used, ask := usage[q.Path][t], g.c.Ask.Size[t]
			if level := len(path) - len(Up(q.Path)); level >= 0 && path[level] == q.Path {
				g.drawOnPath(q, t, used, ask, level-governs)
			} else {
				g.drawOffPath(q, t, used)
			}
		}
	}
}

// drawGoverning draws which queue of the path governs a type: how far it is
// above the leaf, or the length of the path for none. One with all leaves in
// its subtree leaves no one to take from.
func (g *generator) drawGoverning(path []string, first bool) int {
	level := g.below("governs", len(path)+1)
	if g.odd {
		return level
	}
	narrow := 0 // the number of queues from the leaf upwards with leaves outside
	for narrow < len(path) && slices.ContainsFunc(g.leaves, func(l string) bool { return !Inside(l, path[narrow]) }) {
		narrow++
	}
	switch {
	case level < narrow:
		return level
	case first:
		return level % max(narrow, 1)
	}
	return len(path)
}

// queue returns the queue of a path.
func (g *generator) queue(path string) Place {
	list := g.w.Queues()
	return list[slices.IndexFunc(list, func(q Place) bool { return q.Path == path })]
}

// drawOnPath draws the bounds of a queue that is above the one that governs
// type t by height levels, or below it if height is negative.
func (g *generator) drawOnPath(q Place, t string, used, ask int64, height int) {
	switch {
	case height == 0 && g.odd && g.chance("at guarantee", 3):
		q.guarantee(t, used-g.amount("guarantee", 2))
	case height == 0 && g.hungry:
		q.guarantee(t, used+1+g.amount("guarantee", 12))
	case height == 0:
		q.guarantee(t, used+1+g.amount("guarantee", int(ask)))
	case height > 0 && g.chance("guaranteed above", 4):
		q.guarantee(t, used+g.amount("guarantee", 5)-3)
	}
	switch {
	case height > 0 && g.apart && ask > 0:
		q.bound(t, used)
		g.short = g.short || q.Max[t] < used+ask
	case height > 0 && g.tight && ask > 0 && g.chance("tight max", 12):
		q.bound(t, used+g.amount("max", int(ask)-1))
		g.short = g.short || q.Max[t] < used+ask
	case g.odd && g.chance("max", 4):
		q.bound(t, used+ask+g.amount("max", 5)-3)
	case g.chance("loose max", 3):
		q.bound(t, used+ask+g.amount("max", 3))
	}
}

// drawOffPath draws the bounds of a queue that does not ask.
func (g *generator) drawOffPath(q Place, t string, used int64) {
	if g.hungry && g.chance("hungry", 6) {
		q.guarantee(t, used+1+g.amount("guarantee", 12))
		return
	}
	switch g.below("guaranteed", 16) {
	default:
	case 11:
		q.guarantee(t, g.amount("guarantee", 5))
	case 12:
		q.guarantee(t, used+g.amount("guarantee", 2)-1)
	case 13, 14, 15:
		q.guarantee(t, used-g.amount("guarantee", 7))
	}
	if g.chance("max", 2) {
		q.bound(t, used+g.amount("max", 4)-2)
	}
}

// guarantee and bound set a bound, at least 0; a max is raised to the guarantee.
func (q Place) guarantee(t string, v int64) {
	if q.Guaranteed == nil {
		q.Guaranteed = make(Amounts)
	}
	q.Guaranteed[t] = max(v, 0)
}

func (q Place) bound(t string, v int64) {
	if q.Max == nil {
		q.Max = make(Amounts)
	}
	q.Max[t] = max(v, q.Guaranteed[t], 0)
}
