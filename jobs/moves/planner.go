// SPDX-License-Identifier: Apache-2.0

package moves

import (
	"cmp"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/internal/trigger"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Planner decides asks and jobs over a cluster. Of the two planners only the one whose
// Decide is called must be set; both have the same cluster. It tries moves on a copy of that.
type Planner struct {
	Asks *victims.Planner
	Jobs *jobs.Planner

	Options

	search search
}

// Options are what planner and auditor share.
type Options struct {
	// Any lets asks and jobs that law 4 keeps from preempting have plans that only move, or
	// stop tasks of the own leaf by the option for that.
	Any bool
	// MaxMoved refuses plans that move more than so many times what is asked, in some type
	// that is asked for; 0 is no bound.
	MaxMoved int64
}

// AskOf returns a task as it asks for the place that it moves to: blockers and the grant get it.
// A plan makes its key longer if that is taken.
func AskOf(c *victims.Cluster, id victims.TaskID) victims.Ask {
	t := c.Task(id)
	return victims.Ask{
		Key: t.Key + "+", Name: t.Name, Tag: t.Tag, Application: t.Application, Queue: t.Queue, Size: t.Size, Priority: t.Priority, Class: t.Class,
		Originator: t.Originator, OptedOut: t.OptedOut, Movable: t.Movable, Job: t.Job, NonPreemptible: t.NonPreemptible,
		Cost: t.Cost, Budgets: t.Budgets,
	}
}

// A Move is a task that stops on one node, and has a grant on another.
type Move struct {
	Task     victims.TaskID
	Key      string
	From, To victims.NodeID
	// Ask is its grant. Its key is that of the task and "+", longer if that is taken.
	Ask victims.Ask
}

// A disturbance says whom moves disturb. It counts after who stops, and before work and excess of
// those who stop. The smaller one is smaller in the first field in which they differ; ties
// go by node order and keys.
type disturbance struct {
	optedOut int             // movers that opted out
	moves    int             // movers
	lost     resources.Wide  // their work, since they started or last saved
	excess   resources.Share // what they free beyond what the ask lacks; 0 for a job
}

// compare compares two of them, the lesser first.
func (c *disturbance) compare(d *disturbance) int {
	return cmp.Or(cmp.Compare(c.optedOut, d.optedOut), cmp.Compare(c.moves, d.moves), c.lost.Compare(d.lost), c.excess.Compare(d.excess))
}

// A Plan says who moves, beside the plan for an ask or a job. No moves are none.
type Plan struct {
	Moves []Move // sorted by key
	cost  disturbance
	// Proven: no plan stops less, or as much and moves less. Of a refusal: there is no
	// plan. Small clusters are searched to the end, for asks.
	Proven bool
	Steps  int64 // elementary steps of the whole call; see Planner.Decide
}

// AddTo returns a change with the moves in it, for [victims.Cluster.Apply]. Grants of movers
// come first: they do not wait for others.
func (p *Plan) AddTo(ch victims.Change) victims.Change {
	if len(p.Moves) == 0 {
		return ch
	}
	places := ch.Places
	ch.Victims, ch.Places = slices.Clone(ch.Victims), nil
	for i := range p.Moves {
		m := &p.Moves[i]
		ch.Victims = append(ch.Victims, victims.Victim{Task: m.Task, Key: m.Key})
		ch.Places = append(ch.Places, victims.ChangePlace{Ask: &m.Ask, Node: m.To, Mover: m.Key})
	}
	ch.Places = append(ch.Places, places...)
	return ch
}

// Decide sets dst to what should happen for an ask, and returns who moves for that: the plan
// with the cheapest stops, and of those the one with the cheapest moves that was found. dst is
// decided in the cluster in which the movers are leaving; with moves it is Preempts, also if
// nobody stops. The Help of a refusal is anything, if moves were looked for. Errors
// are those of [victims.Planner.Decide].
//
// Stop and Steps of the planner of asks hold for the whole call. Without Steps, the search
// for moves may take 9 times the steps that the decision without them took, or
// [victims.DefaultSteps] if that is more. What they cut short is lawful, and not proven.
func (p *Planner) Decide(dst *victims.Decision, ask *victims.Ask, now time.Time) (plan Plan, err error) {
	a := p.Asks
	observe := a.Observe
	a.Observe = nil // of trials
	defer func() { a.Observe = observe }()
	x := subject{
		best:   dst,
		decide: func(d *victims.Decision) error { return a.Decide(d, ask, now) },
		trial: func(d *victims.Decision, c *victims.Cluster, only victims.NodeID, stop func() bool) error {
			cluster, before, filter := a.Cluster, a.Stop, a.Filter
			defer func() { a.Cluster, a.Stop, a.Filter = cluster, before, filter }()
			a.Cluster, a.Stop = c, stop
			a.Filter = func(q *victims.Question) bool { return q.Node == only && (filter == nil || filter(q)) }
			return a.Decide(d, ask, now)
		},
	}
	q := question{
		Options: p.Options, c: a.Cluster, rules: &a.Options, asked: ask.Question(a.Cluster, now), now: now,
		steps: a.Steps, stop: a.Stop, keys: []string{ask.Key}, ask: ask, arriving: ask.Size,
	}
	q.members = []member{{size: ask.Size, class: ask.Class, of: q.asked.Member}}
	err = run(&p.search, &x, &q, &plan)
	if len(plan.Moves) > 0 {
		dst.Outcome = victims.Preempts // who moves has to be told
	}
	if err == nil && observe != nil {
		observe(dst)
	}
	return plan, err
}

// DecideJob is Decide for a job. Its required members are given places one by one, the
// largest first, each with the cheapest moves, in one domain after the other.
func (p *Planner) DecideJob(dst *victims.Decision, job *victims.Ask, now time.Time) (plan Plan, err error) {
	j := p.Jobs
	observe := j.Observe
	j.Observe = nil // of trials
	defer func() { j.Observe = observe }()
	x := subject{
		best:   dst,
		decide: func(d *victims.Decision) error { return j.Decide(d, job, now) },
		trial: func(d *victims.Decision, c *victims.Cluster, _ victims.NodeID, stop func() bool) error {
			cluster, before := j.Cluster, j.Stop
			defer func() { j.Cluster, j.Stop = cluster, before }()
			j.Cluster, j.Stop = c, stop
			return j.Decide(d, job, now)
		},
	}
	asks := *job
	asks.Job = job.Key
	q := question{
		Options: p.Options, c: j.Cluster, rules: &j.Options, asked: asks.Question(j.Cluster, now), now: now, job: true, byPriority: j.ByPriority, domain: job.DomainDepth,
		steps: j.Steps, stop: j.Stop, ask: &asks,
	}
	q.need(job)
	err = run(&p.search, &x, &q, &plan)
	if len(plan.Moves) > 0 {
		dst.Outcome = victims.Preempts
	}
	if err == nil && observe != nil {
		observe(dst)
	}
	return plan, err
}

// need lists the required members of a job that have no place, the largest first.
func (q *question) need(job *victims.Ask) {
	missing := len(job.Members)
	if job.MinMembers > 0 {
		missing = job.MinMembers
	}
	for i := range job.Members {
		m := job.Member(i)
		q.keys = append(q.keys, m.Key)
		id, there := q.c.Lookup(m.Key)
		_, held := q.c.LookupGrant(m.Key)
		switch {
		case held, there && q.c.State(id) == victims.Running:
			missing--
		case !there: // who is leaving has no place, and can get none
			q.members = append(q.members, member{size: m.Size, class: m.Class, of: &m})
		}
	}
	q.members = q.members[:max(min(missing, len(q.members)), 0)]
	for i := range q.members {
		q.arriving = resources.Add(q.arriving, q.arriving, q.members[i].size)
	}
	if len(q.members) > 0 {
		q.asked.Member = q.members[0].of
	}
	capacity := q.c.Capacity()
	slices.SortStableFunc(q.members, func(a, b member) int {
		return cmp.Or(
			resources.DominantShare(b.size, capacity).Compare(resources.DominantShare(a.size, capacity)),
			cmp.Compare(a.class, b.class), slices.Compare(a.size, b.size), // alike ones together
		)
	})
}

// A question is what is asked, of asks and jobs alike.
type question struct {
	Options
	c          *victims.Cluster
	rules      *victims.Options
	asked      *victims.Question // of who asks: of a job the first member without a place
	now        time.Time
	steps      int64 // of the caller's; 0: none
	stop       func() bool
	keys       []string     // of what asks: no mover's grant has one of them
	ask        *victims.Ask // of a job what exemptions are told, and who asks
	arriving   resources.Vector
	members    []member // one for an ask
	job        bool
	byPriority bool
	domain     int
}

// A member is something that needs a node.
type member struct {
	size  resources.Vector
	class int
	of    *victims.Member
}

// A subject is an ask or a job: the best decision about it, and another one.
type subject struct {
	best   *victims.Decision
	other  victims.Decision
	decide func(*victims.Decision) error
	// trial decides over a cluster in which some tasks move: of an ask, for one node. stop
	// ends it.
	trial func(d *victims.Decision, c *victims.Cluster, only victims.NodeID, stop func() bool) error
}

// An answer is what moves have to know of a decision.
type answer struct {
	outcome victims.Outcome
	cause   *victims.Refusal
	cost    victims.Cost
	proof   victims.Proof
	victims []victims.Victim
	nodes   []victims.NodeID // of what has to be placed
	version *victims.Version
	second  bool // it takes from the own leaf, or branch, what others have not
	steps   int64
}

// read returns what moves have to know of a decision.
func (q *question) read(d *victims.Decision) answer {
	a := answer{
		outcome: d.Outcome, cause: &d.Refusal, cost: d.Plan.Cost, proof: d.Plan.Proof,
		victims: d.Plan.Victims, version: &d.Plan.Version,
		second: d.Plan.WithinQueue && !q.byPriority && q.ask.RequiredNode == "", steps: d.Plan.Steps + d.Refusal.Steps,
	}
	for i := range d.Plan.Places {
		if at := &d.Plan.Places[i]; !at.Extra {
			a.nodes = append(a.nodes, at.Node)
		}
	}
	return a
}

// proven reports whether nothing better was possible.
func (a *answer) proven() bool {
	switch a.outcome {
	case victims.Refused:
		return a.cause.Proven
	case victims.Preempts:
		return a.proof.Proven()
	}
	return true
}

// entitled reports whether law 4 lets the ask or job take from others.
func (q *question) entitled() bool {
	if q.byPriority || q.ask.RequiredNode != "" {
		return true
	}
	var most resources.Vector
	for i := range q.members {
		most = resources.Max(most, most, q.members[i].size)
	}
	var counting queue.Tree
	tree, _ := trees.Counting(q.c.Tree(), &counting, q.rules.Scarce)
	asks := trigger.Case{Tree: tree, Leaf: q.ask.Queue, Arriving: q.arriving, Before: resources.Sub(nil, q.arriving, most)}
	return asks.Guarantees().Hold()
}

// opens reports whether moves may help after an answer.
func (a *answer) opens() bool {
	return a.outcome == victims.Preempts || a.outcome == victims.Refused && rulebook.ReasonOf(a.cause.Reason).Moves
}
