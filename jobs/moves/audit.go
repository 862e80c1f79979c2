// SPDX-License-Identifier: Apache-2.0

package moves

import (
	"iter"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/aside"
	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// An Auditor says which laws a plan with moves breaks, whoever made it. It shares no code
// with the planner. It judges the moves, and has the rest judged by the auditor of asks or jobs,
// over a copy of the cluster in which the movers are leaving. Only the auditor that is used must be set.
type Auditor struct {
	Asks *victims.Auditor
	Jobs *victims.Auditor

	Options

	aside aside.Copy // in which movers are leaving
}

// Audit returns the laws that moves and a plan for an ask break.
func (a *Auditor) Audit(moves *Plan, p *victims.Plan, now time.Time) []victims.Violation {
	x := judge{Options: a.Options, stops: p.Victims, charge: victims.Charge{
		Of: "ask", Cluster: a.Asks.Cluster, Options: a.Asks.Options, Now: now, Ask: p.Ask,
	}}
	for _, at := range p.Places {
		x.charge.Wants = append(x.charge.Wants, victims.Want{Member: *p.Ask.Question(a.Asks.Cluster, now).Member, Node: at.Node})
	}
	return x.all(a, moves, func(c *victims.Cluster) []victims.Violation {
		original := a.Asks.Cluster
		defer func() { a.Asks.Cluster = original }()
		a.Asks.Cluster = c
		return a.Asks.Audit(nil, &victims.Decision{Plan: *p}, now)
	})
}

// AuditJob returns the laws that moves and a plan for a job break.
func (a *Auditor) AuditJob(moves *Plan, p *victims.Plan, now time.Time) []victims.Violation {
	job := &p.Ask
	x := judge{Options: a.Options, stops: p.Victims, charge: victims.Charge{
		Of: "job", Cluster: a.Jobs.Cluster, Options: a.Jobs.Options, Now: now, Ask: *job,
	}}
	x.charge.Ask.Job = job.Key
	for _, at := range p.Places {
		if 0 <= at.Member && at.Member < len(job.Members) && !at.Extra {
			x.charge.Wants = append(x.charge.Wants, victims.Want{Member: job.Member(at.Member), Index: at.Member, Node: at.Node})
		}
	}
	return x.all(a, moves, func(c *victims.Cluster) []victims.Violation {
		original := a.Jobs.Cluster
		defer func() { a.Jobs.Cluster = original }()
		a.Jobs.Cluster = c
		return a.Jobs.Audit(nil, &victims.Decision{Plan: *p}, now)
	})
}

// A judge holds one decision to the laws that are of moves alone.
type judge struct {
	Options
	charge victims.Charge
	stops  []victims.Victim
	out    []victims.Violation
}

func (x *judge) fault(law string, m *Move) *victims.Violation {
	x.out = append(x.out, victims.Violation{Of: x.charge.Of, Law: law, Victim: m.Key, Task: m.Task})
	return &x.out[len(x.out)-1]
}

// all judges moves, and the rest in the cluster in which the movers are leaving.
func (x *judge) all(a *Auditor, plan *Plan, rest func(*victims.Cluster) []victims.Violation) []victims.Violation {
	moves, c := plan.Moves, x.charge.Cluster
	if len(moves) == 0 {
		return rest(c)
	}
	ch := x.charge
	for i := range moves {
		ch.Movers = append(ch.Movers, victims.Victim{Task: moves[i].Task, Key: moves[i].Key})
	}
	x.out = ch.Audit(nil)
	if x.Any { // it leaves law 4 to who stops others
		x.out = slices.DeleteFunc(x.out, func(v victims.Violation) bool { return v.Law == finding.LawTrigger })
	}
	taken := map[victims.NodeID]resources.Vector{}
	gone, keys := map[victims.TaskID]bool{}, map[string]bool{}
	var moved resources.Vector
	for i := range moves {
		m := &moves[i]
		id, ok := c.Lookup(m.Key)
		if !ok || id != m.Task || gone[id] {
			continue // which the charge has told
		}
		gone[id] = true
		t := c.Task(id)
		moved = resources.Add(moved, moved, t.Size)
		if keys[m.Ask.Key] {
			x.fault(finding.LawPlaced, m) // that grant is another mover's
		}
		keys[m.Ask.Key] = true
		if !t.Movable {
			x.fault(finding.LawMovable, m)
		}
		x.place(m, &t, taken)
	}
	for i := range x.stops {
		if v := &x.stops[i]; gone[v.Task] {
			x.out = append(x.out, victims.Violation{Of: x.charge.Of, Law: finding.LawOnce, Victim: v.Key, Task: v.Task})
		}
	}
	x.gangs(moves, gone)
	x.helpful(moves)
	x.amounts(moved)
	if len(x.out) > 0 {
		return x.out
	}
	own := a.aside.Of(c)
	if err := own.ApplyChange(plan.AddTo(victims.Change{For: x.charge.Ask.Key, Version: own.Version(), At: x.charge.Now})); err != nil {
		x.fault(finding.LawPlaced, &moves[0])
		return x.out
	}
	defer own.Undo()
	return rest(own)
}

// place judges where a task moves to, beside those that moved there before.
func (x *judge) place(m *Move, t *victims.Task, taken map[victims.NodeID]resources.Vector) {
	a := &m.Ask
	asked := a.Question(x.charge.Cluster, x.charge.Now)
	if a.Queue != t.Queue || a.Application != t.Application || a.Priority != t.Priority || a.Job != t.Job || a.Class != t.Class || !resources.Equal(a.Size, t.Size) {
		x.fault(finding.LawPlaced, m)
	}
	n, ok := x.charge.Cluster.LookupNode(x.charge.Cluster.NodeName(m.To))
	if !ok || m.To == t.Node || m.From != t.Node {
		x.fault(finding.LawNode, m)
		return
	}
	asked.Node = n
	v := x.charge.Cluster.Node(n)
	if v.Unschedulable || x.charge.Cluster.Closed(n) {
		x.fault(finding.LawSchedulable, m).Node = v.Name
	}
	if v.ReservedFor != "" {
		x.fault(finding.LawReserved, m).Node = v.Name
	}
	if x.charge.Filter != nil && !x.charge.Filter(asked) {
		x.fault(finding.LawFilter, m).Node = v.Name
	}
	if x.charge.Blockers != nil && len(x.charge.Blockers(nil, asked)) > 0 {
		x.fault(finding.LawBlocker, m).Node = v.Name
	}
	free := x.charge.Cluster.ComingFree(nil, n)
	for i, want := range t.Size {
		if have := free[i] - taken[n].At(i); want > 0 && have < want {
			f := x.fault(finding.LawRoom, m)
			f.Node, f.Type, f.Have, f.Want = v.Name, x.charge.Cluster.Schema().Name(i), have, want
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
		freed[moves[i].From] = x.isWanted(moves[i].From)
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
			x.fault(finding.LawReserved, m).Node = x.charge.Cluster.NodeName(m.To) // for who asks
		}
		first, seen := to[job]
		if !seen {
			to[job], first = m, m
		}
		for depth, was := range x.charge.Cluster.Node(m.From).Domains {
			if !x.allIn(job, depth, was) {
				break
			}
			a, b := x.charge.Cluster.Node(first.To).Domains, x.charge.Cluster.Node(m.To).Domains
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
		if m := &moves[i]; x.bound(m.Ask.Job) && x.isWanted(m.From) {
			gangs[m.Ask.Job] = true
		}
	}
	for i := range moves {
		if m := &moves[i]; !x.isWanted(m.From) && !gangs[m.Ask.Job] {
			x.fault(finding.LawHelpful, m)
		}
	}
}

// bound reports whether a job has a minimum, so that it is a gang.
func (x *judge) bound(job string) bool {
	return x.charge.Cluster.MinMembers(job) > 0
}

// members yields the members of a gang: those that run.
func (x *judge) members(job string) iter.Seq[victims.TaskID] {
	return func(yield func(victims.TaskID) bool) {
		for id := range x.charge.Cluster.JobTasks(job) {
			if x.charge.Cluster.State(id) == victims.Running && !yield(id) {
				return
			}
		}
	}
}

// allIn reports whether all members of a gang are in a domain of some depth.
func (x *judge) allIn(job string, depth int, domain string) bool {
	for id := range x.members(job) {
		if d := x.charge.Cluster.Node(x.charge.Cluster.NodeOf(id)).Domains; depth >= len(d) || d[depth] != domain {
			return false
		}
	}
	return true
}

// amounts judges that no more moves than the option allows.
func (x *judge) amounts(moved resources.Vector) {
	var asked resources.Vector
	for i := range x.charge.Wants {
		asked = resources.Add(asked, asked, x.charge.Wants[i].Size)
	}
	for i, want := range asked {
		if x.MaxMoved > 0 && want > 0 && moved.At(i)/x.MaxMoved >= want && moved.At(i) > want*x.MaxMoved {
			x.out = append(x.out, victims.Violation{
				Of: x.charge.Of, Law: finding.LawMoved, Type: x.charge.Cluster.Schema().Name(i), Have: moved.At(i), Want: want * x.MaxMoved,
			})
		}
	}
}

// isWanted reports whether room is wanted on a node.
func (x *judge) isWanted(n victims.NodeID) bool {
	return slices.ContainsFunc(x.charge.Wants, func(w victims.Want) bool { return w.Node == n })
}
