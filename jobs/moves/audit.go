// SPDX-License-Identifier: Apache-2.0

package moves

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// An Auditor says which laws a plan with moves breaks, whoever made it. It shares no code
// with the planner. It judges the moves, applies them, has the rest judged by the auditor of
// asks or jobs, and takes them back. Only the auditor that is used must be set.
type Auditor struct {
	Asks *victims.Auditor
	Jobs *jobs.Auditor

	Options
}

// Audit returns the laws that moves and a plan for an ask break.
func (a *Auditor) Audit(moves *Plan, p *victims.Plan, now time.Time) []victims.Violation {
	x := judge{
		Options: a.Options, c: a.Asks.Cluster, rules: &a.Asks.Rules, blockers: a.Asks.Blockers, now: now, ask: &p.Ask, of: "ask",
		asked: p.Ask.Size, most: p.Ask.Size, stops: p.Victims, nodes: []victims.NodeID{p.Node}, onNode: p.Ask.RequiredNode != "", strict: a.Asks.StrictPriority,
	}
	return x.all(moves, func(dst []victims.Violation) []victims.Violation { return a.Asks.Audit(dst, p, now) })
}

// AuditJob returns the laws that moves and a plan for a job break.
func (a *Auditor) AuditJob(moves *Plan, p *jobs.Plan, now time.Time) []victims.Violation {
	var asked, most resources.Vector
	var nodes []victims.NodeID
	for _, at := range p.Placements {
		if !at.Further {
			size := p.Job.Members[at.Member].Size
			asked, most, nodes = resources.Add(asked, asked, size), resources.Max(most, most, size), append(nodes, at.Node)
		}
	}
	x := judge{
		Options: a.Options, c: a.Jobs.Cluster, rules: &a.Jobs.Rules, now: now, of: "job", asked: asked, most: most, stops: p.Victims, nodes: nodes,
		ask:    &victims.Ask{Key: p.Job.Name, Application: p.Job.Application, Queue: p.Job.Queue, Priority: p.Job.Priority, Job: p.Job.Name},
		strict: a.Jobs.StrictPriority || a.Jobs.ByPriority, byPriority: a.Jobs.ByPriority,
	}
	return x.all(moves, func(dst []victims.Violation) []victims.Violation { return a.Jobs.Audit(dst, p, now) })
}

// A judge holds one decision to the laws.
type judge struct {
	Options
	c        *victims.Cluster
	rules    *victims.Rules
	blockers func(dst []victims.TaskID, ask *victims.Ask, node victims.NodeID) []victims.TaskID
	now      time.Time
	ask      *victims.Ask
	of       string
	asked    resources.Vector
	most     resources.Vector // of each type, what the largest member asks for
	stops    []victims.Victim
	nodes    []victims.NodeID // of what is asked for
	onNode   bool             // the ask requires its node: raw priorities count, and queues protect nobody
	strict   bool
	out      []victims.Violation

	byPriority bool // it is a job, whose queue need not be under its guarantee
}

func (x *judge) fault(law string, m *Move) *victims.Violation {
	x.out = append(x.out, victims.Violation{Of: x.of, Law: law, Victim: m.Key, Task: m.Task})
	return &x.out[len(x.out)-1]
}

// all judges moves, and the rest in the cluster in which the movers are leaving.
func (x *judge) all(plan *Plan, rest func([]victims.Violation) []victims.Violation) []victims.Violation {
	moves := plan.Moves
	taken := map[victims.NodeID]resources.Vector{}
	gone, drawn, keys := map[victims.TaskID]bool{}, map[string]int64{}, map[string]bool{}
	var moved resources.Vector
	for i := range moves {
		m := &moves[i]
		id, ok := x.c.Lookup(m.Key)
		if !ok || id != m.Task {
			x.fault(finding.LawKnown, m)
			continue
		}
		if gone[id] {
			x.fault(finding.LawOnce, m)
			continue
		}
		gone[id] = true
		t := x.c.Task(id)
		moved = resources.Add(moved, moved, t.Size)
		for _, name := range t.Budgets {
			drawn[name]++
			if b, known := x.c.Budget(name); known && b.Hard && drawn[name] > max(b.Left, 0) {
				v := x.fault(finding.LawBudget, m)
				v.Budget, v.Have, v.Want = name, drawn[name], max(b.Left, 0)
			}
		}
		if keys[m.Ask.Key] {
			x.fault(finding.LawPlaced, m) // that grant is another mover's
		}
		keys[m.Ask.Key] = true
		x.mover(m, &t)
		x.place(m, &t, taken)
	}
	for i := range x.stops {
		if v := &x.stops[i]; gone[v.Task] {
			x.out = append(x.out, victims.Violation{Of: x.of, Law: finding.LawOnce, Victim: v.Key, Task: v.Task})
		}
	}
	x.gangs(moves, gone)
	x.helpful(moves)
	if len(moves) > 0 {
		x.amounts(moved)
		x.entitled()
	}
	if len(x.out) > 0 {
		return x.out
	}
	if len(moves) > 0 {
		if err := x.c.Apply(plan.AddTo(victims.Change{For: x.ask.Key, Version: x.c.Version(), At: x.now})); err != nil {
			x.fault(finding.LawPlaced, &moves[0])
			return x.out
		}
		defer x.c.Undo()
	}
	return rest(x.out)
}

// mover judges whether a task may move.
func (x *judge) mover(m *Move, t *victims.Task) {
	tree := x.c.Tree()
	if _, ok := x.Movable(m.Task); !ok {
		x.fault(finding.LawMovable, m)
	}
	if t.State != victims.Running {
		x.fault(finding.LawLeaving, m)
	}
	if t.RequiredNode {
		x.fault(finding.LawRequiredTask, m)
	}
	if t.Application != "" && t.Application == x.ask.Application || x.of == "job" && t.Job == x.ask.Job {
		x.fault(finding.LawApplication, m)
	}
	if x.of == "job" && t.NonPreemptible {
		x.fault(finding.LawNonPreemptible, m)
	}
	for q := range tree.Up(t.Queue) {
		for i := range tree.Max(q).Defined.All() {
			if used := tree.Usage(q)[i] - tree.Preempting(q)[i]; t.Size.At(i) > 0 && used > tree.Max(q).Value[i] {
				v := x.fault(finding.LawMax, m)
				v.Queue, v.Type, v.Have, v.Want = tree.Path(q), x.c.Schema().Name(i), used, tree.Max(q).Value[i]
			}
		}
	}
	higher := 0
	if x.onNode {
		higher = cmp.Compare(t.Priority, x.ask.Priority)
	} else {
		if root := fence.Root(tree, x.ask.Queue); !tree.Contains(root, t.Queue) {
			x.fault(finding.LawFence, m)
		}
		if tree.Policies(t.Queue).Preemption == "disabled" {
			x.fault(finding.LawDisabled, m)
		}
		higher = fence.Compare(tree, fence.Priority{Leaf: t.Queue, Raw: t.Priority}, fence.Priority{Leaf: x.ask.Queue, Raw: x.ask.Priority})
	}
	if higher > 0 || higher == 0 && x.strict {
		x.fault(finding.LawPriority, m)
	}
	if x.rules.Exempt != nil {
		until, exempt := x.rules.Exempt(victims.Exemption{Cluster: x.c, Task: m.Task, Ask: x.ask, Now: x.now})
		if exempt && (until.IsZero() || until.After(x.now)) {
			x.fault(finding.LawExempt, m)
		}
	}
}

// place judges where a task moves to, beside those that moved there before.
func (x *judge) place(m *Move, t *victims.Task, taken map[victims.NodeID]resources.Vector) {
	class, _ := x.Movable(m.Task)
	a := &m.Ask
	if a.Queue != t.Queue || a.Application != t.Application || a.Priority != t.Priority || a.Job != t.Job || !resources.Equal(a.Size, t.Size) {
		x.fault(finding.LawPlaced, m)
	}
	n, ok := x.c.LookupNode(x.c.NodeName(m.To))
	if !ok || m.To == t.Node || m.From != t.Node {
		x.fault(finding.LawNode, m)
		return
	}
	v := x.c.Node(n)
	if v.Unschedulable || x.c.Closed(n) {
		x.fault(finding.LawSchedulable, m).Node = v.Name
	}
	if v.ReservedFor != "" {
		x.fault(finding.LawReserved, m).Node = v.Name
	}
	if x.rules.Filter != nil && !x.rules.Filter(class, n) {
		x.fault(finding.LawFilter, m).Node = v.Name
	}
	if x.blockers != nil && len(x.blockers(nil, a, n)) > 0 {
		x.fault(finding.LawBlocker, m).Node = v.Name
	}
	free := x.c.ComingFree(nil, n)
	for i, want := range t.Size {
		if have := free[i] - taken[n].At(i); want > 0 && have < want {
			f := x.fault(finding.LawRoom, m)
			f.Node, f.Type, f.Have, f.Want = v.Name, x.c.Schema().Name(i), have, want
		}
	}
	taken[n] = resources.Add(taken[n], taken[n], t.Size)
}

// gangs judges that gangs move whole, into one domain if they were in one, and not to nodes
// that are freed.
func (x *judge) gangs(moves []Move, gone map[victims.TaskID]bool) {
	to := map[string]*Move{}
	freed := map[victims.NodeID]bool{}
	for i := range moves {
		freed[moves[i].From] = slices.Contains(x.nodes, moves[i].From)
	}
	for i := range moves {
		m := &moves[i]
		job := m.Ask.Job
		if !x.bound(job) {
			continue
		}
		for id := range x.members(job) {
			if !gone[id] {
				x.fault(finding.LawGang, m).Job = job
				break
			}
		}
		if freed[m.To] {
			x.fault(finding.LawReserved, m).Node = x.c.NodeName(m.To) // for who asks
		}
		first, seen := to[job]
		if !seen {
			to[job], first = m, m
		}
		for depth, was := range x.c.Node(m.From).Domains {
			if !x.allIn(job, depth, was) {
				break
			}
			a, b := x.c.Node(first.To).Domains, x.c.Node(m.To).Domains
			if depth >= len(a) || depth >= len(b) || a[depth] != b[depth] {
				x.fault(finding.LawDomain, m).Job = job
				break
			}
		}
	}
}

// helpful judges that each mover, or somebody of its gang, makes room for what is asked.
func (x *judge) helpful(moves []Move) {
	gangs := map[string]bool{}
	for i := range moves {
		if m := &moves[i]; x.bound(m.Ask.Job) && slices.Contains(x.nodes, m.From) {
			gangs[m.Ask.Job] = true
		}
	}
	for i := range moves {
		if m := &moves[i]; !slices.Contains(x.nodes, m.From) && !gangs[m.Ask.Job] {
			x.fault(finding.LawHelpful, m)
		}
	}
}

// bound reports whether a job has a minimum, so that it is a gang.
func (x *judge) bound(job string) bool {
	return job != "" && x.rules.Minimum != nil && x.rules.Minimum(job) > 0
}

// members yields the members of a gang: those that run.
func (x *judge) members(job string) iter.Seq[victims.TaskID] {
	return func(yield func(victims.TaskID) bool) {
		for id := range x.c.JobTasks(job) {
			if x.c.State(id) == victims.Running && !yield(id) {
				return
			}
		}
	}
}

// allIn reports whether all members of a gang are in a domain of some depth.
func (x *judge) allIn(job string, depth int, domain string) bool {
	for id := range x.members(job) {
		if d := x.c.Node(x.c.NodeOf(id)).Domains; depth >= len(d) || d[depth] != domain {
			return false
		}
	}
	return true
}

// amounts judges that no more moves than the option allows.
func (x *judge) amounts(moved resources.Vector) {
	for i, want := range x.asked {
		if x.MaxMoved > 0 && want > 0 && moved.At(i)/x.MaxMoved >= want && moved.At(i) > want*x.MaxMoved {
			x.out = append(x.out, victims.Violation{Of: x.of, Law: finding.LawMoved, Type: x.c.Schema().Name(i), Have: moved.At(i), Want: want * x.MaxMoved})
		}
	}
}

// entitled judges law 4, which the option Any leaves to who stops others.
func (x *judge) entitled() {
	if x.Any || x.onNode || x.byPriority {
		return
	}
	tree, governed := x.c.Tree(), false
	for i := range resources.Positive(x.asked).All() {
		for q := range tree.Up(x.ask.Queue) {
			g := tree.Guaranteed(q)
			if !(g.Defined & x.rules.Counting()).Has(i) {
				continue
			}
			governed = true
			below := g.Value[i] - (x.asked[i] - x.most[i]) // the largest member comes last
			if used := tree.Usage(q)[i] - tree.Preempting(q)[i]; used >= below {
				x.out = append(x.out, victims.Violation{
					Of: x.of, Law: finding.LawTrigger, Queue: tree.Path(q), Type: x.c.Schema().Name(i), Have: used, Want: below,
				})
			}
			break
		}
	}
	if !governed {
		x.out = append(x.out, victims.Violation{Of: x.of, Law: finding.LawTrigger})
	}
}
