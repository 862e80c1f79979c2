package quota

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// report sets dst to what was decided.
func (x *enforcement) report(dst *Outcome, max resources.Limit) {
	*dst = Outcome{
		Result: Met, Queue: x.q, Proven: !x.unproven, Steps: x.steps, Version: x.c.Version(),
		Parts: dst.Parts[:0], Leaves: dst.Leaves[:0], Victims: dst.Victims[:0],
		Stops: dst.Stops[:0], Grants: dst.Grants[:0], Jobs: dst.Jobs[:0], block: dst.block[:0],
	}
	x.reserve(dst)
	dst.Usage = x.tree.Effective(dst.amounts(x.types), x.q)
	dst.Max = resources.Limit{Value: dst.amounts(x.types), Defined: max.Defined}
	for t := range max.Defined.All() {
		dst.Max.Value[t], _ = max.Bound(t)
	}
	dst.Target = dst.copy(x.target)
	dst.Freed, dst.Shortfall = dst.amounts(x.types), dst.amounts(x.types)
	if len(x.list) == 0 {
		return
	}
	copy(dst.Freed, x.row(x.freed, x.q))
	for _, t := range x.list {
		dst.Shortfall[t] = x.short(t)
	}
	x.reportQueues(dst)
	x.reportVictims(dst)
	x.reportStops(dst)
	if x.e.JobMinimum != nil {
		x.reportJobs(dst)
	}
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

// short returns what of type t is not freed.
func (x *enforcement) short(t int) int64 { return max(x.target[t]-x.row(x.freed, x.q)[t], 0) }

// reserve makes room for all amounts of an outcome, so that they are cut from
// one piece of memory.
func (x *enforcement) reserve(dst *Outcome) {
	rows := 5
	if len(x.list) > 0 {
		rows += 3 * len(x.rows) // no queue has more than a part and, as a leaf, two amounts more
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
func (x *enforcement) reportQueues(dst *Outcome) {
	for p := x.q; p < x.tree.End(x.q); p++ {
		if part := x.row(x.parts, p); p != x.q && x.isAny(part) {
			dst.Parts = append(dst.Parts, Part{Queue: p, Amount: dst.copy(part)})
		}
		if !x.tree.IsLeaf(p) {
			continue
		}
		// What was asked for may have been left to others in the end.
		if asked := x.row(x.asked, p); x.isAny(asked) {
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
func (x *enforcement) reportVictims(dst *Outcome) {
	for _, k := range x.sortByKey() {
		c := &x.tasks[k.row]
		dst.Victims = append(dst.Victims, victims.Victim{Task: c.id, Key: c.key, ForHeadroom: true})
	}
	for w := range x.tree.Leaves(x.q) {
		x.gather(w) // the grants of those that were asked for nothing
	}
	dst.Grants = append(dst.Grants, x.grants...)
	slices.Sort(dst.Grants)
}

// keyRow is a task with the beginning of its key after what the keys of all
// have in common, so that most comparisons need not look at the keys.
type keyRow struct {
	start uint64
	row   int32
}

// sortByKey returns the victims in the order of their keys, in memory that the
// next call reuses.
func (x *enforcement) sortByKey() []keyRow {
	x.keys = x.keys[:0]
	var first string
	common := 0
	for i, taken := range x.taken {
		if !taken {
			continue
		}
		key := x.tasks[i].key
		if len(x.keys) == 0 {
			first, common = key, len(key)
		}
		common = min(common, len(key))
		for key[:common] != first[:common] {
			common--
		}
		x.keys = append(x.keys, keyRow{row: int32(i)})
	}
	for i := range x.keys {
		var start [8]byte
		copy(start[:], x.tasks[x.keys[i].row].key[common:])
		x.keys[i].start = binary.BigEndian.Uint64(start[:])
	}
	slices.SortFunc(x.keys, func(a, b keyRow) int {
		switch {
		case a.start < b.start:
			return -1
		case a.start > b.start:
			return +1
		}
		return strings.Compare(x.tasks[a.row].key, x.tasks[b.row].key)
	})
	return x.keys
}

// reportJobs lists the jobs that fall below their minimum. The cost is that of
// looking at all tasks of the cluster, where a victim has a job with one.
func (x *enforcement) reportJobs(dst *Outcome) {
	for i := range dst.Victims {
		job := x.c.TaskView(dst.Victims[i].Task).Job
		if job == "" {
			continue
		}
		n, found := slices.BinarySearchFunc(dst.Jobs, job, compareJob)
		switch least := x.e.JobMinimum(job); {
		case found:
			dst.Jobs[n].Victims++
		case least > 0:
			dst.Jobs = slices.Insert(dst.Jobs, n, JobLoss{Job: job, Minimum: least, Victims: 1})
		}
	}
	if len(dst.Jobs) == 0 {
		return
	}
	for id := range x.c.Tasks() {
		t := x.c.TaskView(id)
		if t.Job == "" || t.State != victims.Running && t.State != victims.Granted {
			continue
		}
		if n, found := slices.BinarySearchFunc(dst.Jobs, t.Job, compareJob); found {
			dst.Jobs[n].Members++
		}
	}
	for i := range dst.Jobs {
		dst.Jobs[i].Members -= dst.Jobs[i].Victims
	}
	// A job that was below its minimum before does not fall below it.
	dst.Jobs = slices.DeleteFunc(dst.Jobs, func(j JobLoss) bool {
		return j.Members >= j.Minimum || j.Members+j.Victims < j.Minimum
	})
}

func compareJob(j JobLoss, job string) int { return strings.Compare(j.Job, job) }
