package quota

import (
	"slices"
	"strings"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// reporter tells what was decided.
type reporter struct {
	*roster
	finder *finder
	rounds *rounds

	keys  []keyRow
	dealt []keyRow // scratch of dealByStart
	stops [][NumRules]Stop
	rest  resources.Vector // see stopOf
}

// report sets dst to what was decided.
func (x *reporter) report(dst *Outcome, most resources.Limit) {
	*dst = Outcome{
		Result: Met, Queue: x.q, Proven: !x.finder.unproven, Steps: x.finder.steps, Version: x.c.Version(),
		Parts: dst.Parts[:0], Leaves: dst.Leaves[:0], Victims: dst.Victims[:0],
		Stops: dst.Stops[:0], Grants: dst.Grants[:0], Jobs: dst.Jobs[:0], block: dst.block[:0],
	}
	x.reserve(dst)
	dst.Usage = dst.copy(x.usage)
	dst.Max = resources.Limit{Value: dst.amounts(x.types), Defined: most.Defined}
	for t := range most.Defined.All() {
		dst.Max.Value[t], _ = most.Bound(t)
	}
	dst.Target = dst.copy(x.target)
	dst.Freed, dst.Shortfall = dst.amounts(x.types), dst.amounts(x.types)
	if len(x.list) == 0 {
		return
	}
	copy(dst.Freed, x.row(x.freed, x.q))
	for _, t := range x.list {
		dst.Shortfall[t] = max(x.target[t]-dst.Freed[t], 0)
	}
	x.reportQueues(dst)
	x.reportVictims(dst)
	x.reportStops(dst)
	x.reportJobs(dst)
	dst.Overrun = x.budgets.overrun()
	switch {
	case resources.IsZero(dst.Shortfall):
	case x.e.Miss.Allows(dst.Shortfall, dst.Target):
		dst.Result = MetWithinMiss
	case len(dst.Victims) > 0:
		dst.Result = Partial
	default:
		dst.Result = Impossible
	}
}

// reserve makes room for all amounts of an outcome, so that they are cut from
// one piece of memory.
func (x *reporter) reserve(dst *Outcome) {
	rows := 5
	if len(x.list) > 0 {
		rows += 3 * x.len() // no queue has more than a part and, as a leaf, two amounts more
		for _, taken := range x.taken {
			if taken {
				rows++ // its size
			}
		}
	}
	dst.block = slices.Grow(dst.block, rows*x.types)
}

// amounts returns n zero amounts of the outcome's memory.
func (o *Outcome) amounts(n int) resources.Vector {
	from := len(o.block)
	o.block = o.block[:from+n]
	clear(o.block[from:])
	return o.block[from : from+n : from+n]
}

func (o *Outcome) copy(v resources.Vector) resources.Vector {
	dst := o.amounts(len(v))
	copy(dst, v)
	return dst
}

// reportQueues lists the parts and what the leaves made of them.
func (x *reporter) reportQueues(dst *Outcome) {
	for p := x.q; p < x.tree.End(x.q); p++ {
		if part := x.row(x.rounds.parts, p); p != x.q && x.isAny(part) {
			dst.Parts = append(dst.Parts, Part{Queue: p, Amount: dst.copy(part)})
		}
		if !x.tree.IsLeaf(p) {
			continue
		}
		// What was asked for may have been left to others in the end.
		if asked := x.row(x.rounds.asked, p); x.isAny(asked) {
			leaf := Leaf{Queue: p, Asked: dst.copy(asked), Freed: dst.copy(x.row(x.freed, p))}
			row := x.at(p)
			for i := row.first; i < row.end; i++ {
				if x.taken[i] {
					leaf.Victims++
				}
			}
			dst.Leaves = append(dst.Leaves, leaf)
		}
	}
}

// reportVictims lists the victims and the grants.
func (x *reporter) reportVictims(dst *Outcome) {
	sorted := x.sortByKey()
	dst.Victims = slices.Grow(dst.Victims, len(sorted))
	for _, k := range sorted {
		c := &x.tasks[k.row]
		t := x.c.TaskView(c.id)
		dst.Victims = append(dst.Victims, victims.Victim{
			Task: c.id, Key: t.Key, Name: t.Name, Path: x.tree.Path(t.Queue), Place: x.c.NodeName(t.Node),
			Priority: t.Priority, Size: dst.copy(t.Size),
			OptedOut: t.OptedOut, Originator: t.Originator, ForHeadroom: true,
		})
	}
	for w := range x.tree.Leaves(x.q) {
		x.gather(w) // the grants of those that were asked for nothing
	}
	dst.Grants = append(dst.Grants, x.grants...)
	slices.Sort(dst.Grants)
}

// reportJobs lists the jobs that go as a whole.
func (x *reporter) reportJobs(dst *Outcome) {
	for i := range x.gangs.rows {
		g := &x.gangs.rows[i]
		if !g.gone {
			continue
		}
		loss := JobLoss{Job: x.c.Job(x.tasks[g.first].id)}
		loss.Minimum = x.e.Minimum(loss.Job)
		for m := g.first; m != noTask; m = x.gangs.next[m] {
			loss.Victims++
		}
		dst.Jobs = append(dst.Jobs, loss)
	}
	slices.SortFunc(dst.Jobs, func(a, b JobLoss) int { return strings.Compare(a.Job, b.Job) })
}
