package victims

import (
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
)

// Tasks of a group are alike but for work and key. A least-cost set has no more
// of them than meet the need for headroom, and of those the first. So a pool needs
// no others, and tasks that come in some shapes make a small one. What is on the
// node that a plan is for counts apart, so as many more are kept as a node has
// tasks.

// firsts are the first tasks of each group. Memory is reused.
type firsts struct {
	byHash map[uint64]int32
	groups []firstGroup
	rest   []TaskID // that more is to be said of than their group
}

// firstGroup has the first tasks of a group in their order, and how many are
// wanted.
type firstGroup struct {
	ids  []TaskID
	most int
}

// cuts reports whether the first of so many tasks of each group are enough: nothing
// but the default costs tells them apart, and nobody asks for all candidates.
func (p *headroomPool) cuts(d *decision, tasks int) bool {
	return d.pruning() && d.p.Compare == nil && (d.p.Predicate == nil || tasks > fewElsewhere)
}

// cut keeps the first candidates of each group.
func (p *headroomPool) cut(d *decision, ids []TaskID) []TaskID {
	f := &p.firsts
	f.reset()
	on := p.firsts.fullest(d.c)
	for _, id := range ids {
		if d.special(id) {
			f.rest = append(f.rest, id)
			continue
		}
		f.add(d, id, on)
	}
	ids = ids[:0]
	for i := range f.groups {
		ids = append(ids, f.groups[i].ids...)
	}
	return append(ids, f.rest...)
}

func (f *firsts) reset() {
	if f.byHash == nil {
		f.byHash = make(map[uint64]int32)
	}
	clear(f.byHash)
	f.groups, f.rest = f.groups[:0], f.rest[:0]
}

// add adds a task to its group. Groups have room for the tasks of one node beside
// those that can be of use.
func (f *firsts) add(d *decision, id TaskID, on int) {
	h := groupHash(d, id)
	i, ok := f.byHash[h]
	switch {
	case !ok:
		f.byHash[h] = int32(len(f.groups))
		f.begin(id, on+int(min(d.usefulForHeadroom(id), int64(d.c.TaskLen()))))
	case d.compareGroup(f.groups[i].ids[0], id) != 0:
		f.rest = append(f.rest, id) // another group has the same hash
	default:
		f.groups[i].insert(d, id)
	}
}

// begin begins a group with a task.
func (f *firsts) begin(id TaskID, most int) {
	f.groups = rows.Next(f.groups)
	g := &f.groups[len(f.groups)-1]
	g.ids, g.most = append(g.ids[:0], id), most
}

// insert puts a task where it belongs, if it is one of the first.
func (g *firstGroup) insert(d *decision, id TaskID) {
	n := len(g.ids)
	if n == g.most && d.compareAlike(id, g.ids[n-1]) > 0 {
		return
	}
	at, _ := slices.BinarySearchFunc(g.ids, id, d.compareAlike)
	if n == g.most {
		g.ids = g.ids[:n-1]
	}
	g.ids = slices.Insert(g.ids, at, id)
}

// fullest returns how many tasks the fullest node has.
func (f *firsts) fullest(c *Cluster) (most int) {
	for n := range c.nodes {
		most = max(most, len(c.nodes[n].tasks))
	}
	return most
}
