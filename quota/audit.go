package quota

import (
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// An Auditor says what is wrong with an outcome, whoever made it. It shares no
// code with the [Enforcer]: it takes the outcome as it is, works out what the
// queues would be left with, and reads the laws against that.
//
// Its fields are options, with the meaning that they have for the enforcer;
// only Cluster must be set. An Auditor serves one goroutine at a time. It never
// changes the cluster.
type Auditor struct {
	Cluster   *victims.Cluster
	Overshoot Overshoot
	Miss      Miss
	Enforced  func(queue.ID) bool
	Minimum   func(job string) int

	x inspection
}

// Audit appends to dst what is wrong with outcome o for the cluster as it is
// now, before any of it is applied, and returns dst. An outcome to which
// nothing is appended is sound. Audit never panics, whatever is in o.
//
// What is judged are queue, max, amounts, result, victims, parts and leaves;
// not Version and Proven, nor what stopped it. An outcome for a queue that the
// tree does not have ends the audit.
//
// Violations come in a fixed order: of the amounts; of each victim, in the
// order of the outcome; of the guarantees, in tree order; of gangs, in the order
// of the outcome; of hard budgets, by name; of the set as a whole; of parts and
// leaves.
//
// The cost is linear in queues times types, and in victims times depth times
// types; if usage stays over, in tasks times depth times types. Members of gangs
// count as well.
func (a *Auditor) Audit(dst []Violation, o *Outcome) []Violation {
	x := &a.x
	x.a, x.c, x.tree, x.o, x.out = a, a.Cluster, a.Cluster.Tree(), o, dst
	defer func() { x.a, x.c, x.tree, x.o, x.out = nil, nil, nil, nil, nil }()
	x.run()
	return x.out
}

// inspection is one audit, and the memory for the next.
type inspection struct {
	a    *Auditor
	c    *victims.Cluster
	tree *queue.Tree
	o    *Outcome
	out  []Violation

	types  int
	target []int64 // what usage has over the max of the outcome
	taken  []int64 // by the victims, a row of amounts per queue
	most   []int64 // what each queue can release, a row of amounts per queue
	parts  []int64 // as the outcome says, likewise
	listed map[victims.TaskID]bool
	counts []int            // of victims per leaf
	good   []victims.TaskID // the victims that count: known, running, below the queue, each once
	gangs  map[string]*auditedGang
}

func (x *inspection) report(v Violation) {
	v.tree = x.tree
	x.out = append(x.out, v)
}

func (x *inspection) run() {
	q := x.o.Queue
	if q < 0 || int(q) >= x.tree.Len() {
		x.report(Violation{Law: LawQueue})
		return
	}
	x.types = x.tree.Schema().Len()
	x.taken = make([]int64, x.types*x.tree.Len())
	x.target = make([]int64, x.types)
	x.listed = make(map[victims.TaskID]bool)
	x.good = x.good[:0]
	x.gangs = make(map[string]*auditedGang)
	for t := range x.types {
		if m, ok := x.o.Max.Bound(t); ok {
			x.target[t] = max(x.used(q, t)-m, 0)
		}
	}
	x.amounts(LawUsage, x.o.Usage, func(t int) int64 { return x.used(q, t) })
	x.amounts(LawTarget, x.o.Target, func(t int) int64 { return x.target[t] })
	x.countGangs()
	for i := range x.o.Victims {
		x.victim(&x.o.Victims[i])
	}
	x.amounts(LawFreed, x.o.Freed, func(t int) int64 { return x.gone(q, t) })
	x.amounts(LawShort, x.o.Shortfall, x.short)
	x.result()
	x.guarantees()
	x.judgeGangs()
	x.judgeBudgets()
	x.set()
	x.shares()
	x.leaves()
}

// used returns the effective usage of q of type t before the plan.
func (x *inspection) used(q queue.ID, t int) int64 {
	return x.tree.Usage(q)[t] - x.tree.Preempting(q)[t]
}

// gone returns what the victims free of type t below q.
func (x *inspection) gone(q queue.ID, t int) int64 { return x.taken[int(q)*x.types+t] }

// short returns what of the target is left of type t.
func (x *inspection) short(t int) int64 { return max(x.target[t]-x.gone(x.o.Queue, t), 0) }

// amounts compares what the outcome says with what is so.
func (x *inspection) amounts(law Law, said resources.Vector, is func(t int) int64) {
	for t := range x.types {
		if have, want := said.At(t), is(t); have != want {
			x.report(Violation{Law: law, Type: t, HasType: true, Have: have, Want: want})
		}
	}
}

// result judges the word for it all.
func (x *inspection) result() {
	shortfall := make(resources.Vector, x.types)
	over, missed := false, true
	for t := range x.types {
		shortfall[t] = x.short(t)
		over = over || shortfall[t] > 0
	}
	missed = x.a.Miss.Allows(shortfall, x.target)
	want := Impossible
	switch {
	case !over:
		want = Met
	case missed:
		want = MetWithinMiss
	case len(x.o.Victims) > 0:
		want = Partial
	}
	if x.o.Result != want {
		x.report(Violation{Law: LawResult})
	}
}
