// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// An Auditor says which laws a decision breaks, whoever made it. It shares no code with planners. Only Cluster
// must be set.
type Auditor struct {
	Cluster *Cluster

	Options

	court court
}

// Audit appends to dst what is wrong at the instant now with a decision that is not applied yet, and returns dst. It
// never panics. For a plan of another scheduler set in Plan the Ask, the Places (Member and Node) and the Victims
// (Task and Key); no Outcome is needed.
//
// It judges ask, places and tasks, not version, cost or proof. Without victims, or for an ask that holds a grant, it
// judges room and blockers only. For law 1 it tries to do without each opted-out victim of a lone ask, and to take one
// other task in its place.
//
// Of several decisions it judges each for a clone to which those before it were applied. Asks that share a plan are
// held to law 4 in order. It judges those of package quota, too.
//
// The order of violations is fixed (DESIGN.md, Explanations and audits). The cost is linear in nodes, queues·types and
// victims·depth·types. Admit adds tasks, each opted-out victim tasks·depth·types.
func (a *Auditor) Audit(dst []Violation, d *Decision, now time.Time) []Violation {
	if d.Outcome == Refused && !d.enforces() {
		return dst
	}
	x, told := &a.court, len(dst)
	switch dst = x.begin(a.charge(d, now), dst); {
	case len(dst) > told:
		x.close()
		return dst
	case x.moving():
		return x.auditMoves(dst)
	}
	return x.hear(dst)
}

// A charge is a plan as the laws see it: who asks, for what places, and who stops for them. The
// court forgets it all but for memory.
type charge struct {
	Of string // the word in violations: "ask", "job" or "quota"
	c  *Cluster
	Options
	Now      time.Time
	decision *Decision

	// Ask is who asks, whatever its Size and Class. A gang may not stop tasks of its own Job, nor
	// those that are not preemptible.
	Ask     Ask
	Wants   []want
	Victims []Victim
	// Movers stop here and start elsewhere, so that their queues keep what they have. They are
	// judged first, and if they break no law the rest for a copy of the cluster in which they move.
	Movers []Move

	Together bool // wants are asks that share a plan: law 4 is for them in their order, and nobody of their own leaf goes
}

// A want is a place for somebody.
type want struct {
	Member      // nodes may be reserved for its Key
	Index   int // of Ask.Members
	Node    NodeID
	Further bool // nobody may stop for it
}

// charge makes a charge of a decision.
func (a *Auditor) charge(d *Decision, now time.Time) charge {
	p := &d.Plan
	ch := charge{Of: "ask", c: a.Cluster, Options: a.Options, Now: now, decision: d, Ask: p.Ask, Wants: a.court.Wants[:0], Victims: p.Victims, Movers: p.Moves}
	if d.enforces() {
		ch.Of, ch.Ask, ch.Movers = "quota", Ask{Queue: p.Ask.Queue}, nil
		ch.Options = Options{NeverOvershoot: a.NeverOvershoot, Enforced: a.Enforced}
		return ch
	}
	if len(p.Ask.Members) == 0 && (p.Ask.RequiredNode != "" || !a.ByPriority && a.Admit == nil) {
		ch.ByPriority, ch.Admit = false, nil // of gangs
		ch.Wants = append(ch.Wants, want{Member: p.Ask.asMember(), Node: p.place().Node})
		return ch
	}
	ch.Of, ch.Together, ch.Ask.Job = "job", len(d.SharedBy) > 0, p.Ask.MemberAsk(0).Job
	for _, at := range p.Places {
		if ch.has(at.Member) {
			ch.Wants = append(ch.Wants, want{Member: p.Ask.Member(at.Member), Index: at.Member, Node: at.Node, Further: at.Extra})
		}
	}
	return ch
}

// members returns the number of members. A lone ask is its own.
func (ch *charge) members() int { return max(1, len(ch.Ask.Members)) }

func (ch *charge) has(member int) bool { return 0 <= member && member < ch.members() }

// begin takes a charge, and appends to dst what is wrong with the members of a gang.
func (x *court) begin(ch charge, dst []Violation) []Violation {
	x.charge, x.out, x.trial = ch, dst, false
	if x.Of == "job" {
		x.named()
		x.minimum()
		x.shared()
	}
	return x.out
}

// hear appends to dst what is wrong with movers, or with a plan without.
func (x *court) hear(dst []Violation) (out []Violation) {
	defer func() { // also if a function of the caller panics
		out = x.out
		x.close()
	}()
	if x.open(dst) {
		x.run()
	}
	return nil
}

// The laws of moves; see DESIGN.md, Moves. What keeps a task from moving whatever the others do is
// among those of victims.

// auditMoves judges who moves, and then the rest of the plan in the cluster in which they do.
func (x *court) auditMoves(dst []Violation) []Violation {
	rest, told := x.charge, len(dst)
	rest.Wants, rest.Movers = slices.Clone(x.Wants), nil
	movers := x.Movers
	x.Victims = nil
	dst = x.hear(dst)
	for i := range rest.Victims {
		v := &rest.Victims[i]
		if slices.ContainsFunc(movers, func(m Move) bool { return m.Task == v.Task }) {
			dst = append(dst, Violation{of: rest.Of, Law: finding.LawOnce, Victim: v.Key})
		}
	}
	if len(dst) > told {
		return dst
	}
	var err error
	if rest.c, err = afterMoves(rest.c, movers); err != nil {
		return append(dst, Violation{of: rest.Of, Law: finding.LawPlaced, Victim: movers[0].Key})
	}
	x.charge = rest
	return x.hear(dst)
}

// afterMoves returns a copy of a cluster in which tasks move.
func afterMoves(c *Cluster, moves []Move) (*Cluster, error) {
	c = c.Clone()
	return c, c.applyChange(change{Version: c.Version(), Moves: moves})
}

// judgeMovers holds all laws of moves against a charge.
func (x *court) judgeMovers() {
	var known []*Move
	var moved resources.Vector
	for i := range x.Movers {
		if m := &x.Movers[i]; x.judgeOne(m.Task, m.Key) {
			known = append(known, m)
			moved = resources.Add(moved, moved, x.c.size(m.Task))
			x.draw(m.Task, +1)
		}
	}
	x.budget()
	if !x.required() && !x.ByPriority && x.Options.Moves != MovesAny {
		x.entitled()
	}
	taken, keys := map[NodeID]resources.Vector{}, map[string]bool{x.Ask.Key: true}
	for i := range x.Wants {
		keys[x.Wants[i].Key] = true
	}
	for _, m := range known {
		x.faultBy(keys[m.Grant], m.Key, Violation{Law: finding.LawPlaced}) // it is somebody else's
		keys[m.Grant] = true
		x.faultBy(!x.c.tasks[m.Task].flags.has(flagMovable) || x.Options.Moves == "", m.Key, Violation{Law: finding.LawMovable})
		x.movesTo(m, taken)
	}
	x.movesTogether(known)
	for _, m := range known {
		job := x.c.tasks[m.Task].job
		frees := func(o *Move) bool {
			return (o == m || x.isGang(job) && x.c.tasks[o.Task].job == job) && x.isFreed(o.From)
		}
		x.faultBy(!slices.ContainsFunc(known, frees), m.Key, Violation{Law: finding.LawHelpful})
	}
	for i := range x.wants.All() {
		if want := x.asked[i]; x.MaxMoved > 0 && moved.At(i)/x.MaxMoved >= want && moved.At(i) > want*x.MaxMoved {
			x.fault(Violation{Law: finding.LawMoved, Type: x.tree.Schema().Name(i), Have: moved.At(i), Want: want * x.MaxMoved})
		}
	}
}

// movesTo is whether a task can go where it moves to, beside those that moved there before.
func (x *court) movesTo(m *Move, taken map[NodeID]resources.Vector) {
	if m.From != x.c.tasks[m.Task].node || m.To == m.From || !x.isNode(m.To) {
		x.faultBy(true, m.Key, Violation{Law: finding.LawNode})
		return
	}
	n, ask := &x.c.nodes[m.To], m.ask(x.c)
	q := ask.question(x.c, x.Now)
	q.Node = m.To
	x.faultBy(n.unschedulable, m.Key, Violation{Law: finding.LawSchedulable, node: n.name})
	x.faultBy(n.reservedFor != "", m.Key, Violation{Law: finding.LawReserved, node: n.name})
	x.faultBy(x.Filter != nil && !x.Filter(q), m.Key, Violation{Law: finding.LawFilter, node: n.name})
	x.faultBy(x.Blockers != nil && len(x.Blockers(nil, q)) > 0, m.Key, Violation{Law: finding.LawBlocker, node: n.name})
	free := x.c.ComingFree(nil, m.To)
	for i, want := range ask.Size {
		have := free[i] - taken[m.To].At(i)
		x.faultBy(want > 0 && have < want, m.Key, Violation{Law: finding.LawRoom, node: n.name, Type: x.tree.Schema().Name(i), Have: have, Want: want})
	}
	taken[m.To] = resources.Add(taken[m.To], taken[m.To], ask.Size)
}

// movesTogether is that gangs move whole, into one domain if they were in one, and not to nodes
// that are freed.
func (x *court) movesTogether(known []*Move) {
	first := map[int32][]string{} // the domains of the first of a job
	for _, m := range known {
		job := x.c.tasks[m.Task].job
		if !x.isGang(job) || !x.isNode(m.To) {
			continue
		}
		to, stay, shared := x.c.nodes[m.To].domains, false, x.c.nodes[x.c.tasks[m.Task].node].domains
		if _, seen := first[job]; !seen {
			first[job] = to
		}
		for _, id := range x.c.membersOf(job) {
			if x.c.tasks[id].state == Running {
				stay = stay || x.marks[id] != markJudged
				shared = shared[:inCommon(shared, x.c.nodes[x.c.tasks[id].node].domains)]
			}
		}
		x.faultBy(stay, m.Key, Violation{Law: finding.LawGang, job: x.c.jobs.name(job)})
		freed := func(o *Move) bool { return o.From == m.To && x.isFreed(o.From) }
		x.faultBy(slices.ContainsFunc(known, freed), m.Key, Violation{Law: finding.LawReserved, node: x.c.nodes[m.To].name}) // for who asks
		x.faultBy(inCommon(to, first[job]) < len(shared), m.Key, Violation{Law: finding.LawDomain, job: x.c.jobs.name(job)})
	}
}

// inCommon returns how many domains are the same, from the widest on.
func inCommon(a, b []string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// isGang reports whether members of a job move together: whether it has a minimum.
func (x *court) isGang(job int32) bool { return job != 0 && x.c.minimumOf(job) > 0 }

// isFreed reports whether somebody who has to have a place gets one on a node.
func (x *court) isFreed(n NodeID) bool {
	return slices.ContainsFunc(x.Wants, func(w want) bool { return w.Node == n && !w.Further })
}

// A Violation is a law that a plan or outcome breaks. What is not at fault is "". String and MarshalJSON also tell
// what was judged, and which member, job or node is at fault.
type Violation struct {
	Law    string // a word of DESIGN.md, Explanations and audits
	Victim string // at fault: its key in the plan
	Budget string // at fault
	Queue  string // at fault
	Type   string // at fault

	of     string // "ask", "job" or "quota"
	member string // its key
	other  string // the key of a task to take instead ("opted-out"), or that blocks and stays ("blocker")
	job    string // it runs
	node   string

	// Have is what there is, Want what the law compares: amounts of Type, priorities, members ("gang",
	// "minimum"), victims ("budget", "overrun"), or nanoseconds ("delay", "interval"); else 0.
	Have, Want int64
}

// String tells the violation in a line, as in
//
//	guarantee (law 2): root.a: cpu 3 after the plan, want at least 5
func (v Violation) String() string {
	f := v.finding()
	return f.Line()
}

// MarshalJSON writes an object, with amounts as quantities.
func (v Violation) MarshalJSON() ([]byte, error) {
	f := v.finding()
	return f.JSON().MarshalJSON()
}

func (v *Violation) finding() finding.Finding {
	f := finding.Finding{Of: v.of, Law: v.Law, Queue: v.Queue, Type: v.Type, Have: v.Have, Want: v.Want, Other: v.other}
	victim := "victim"
	if v.Law == finding.LawSpared {
		victim = "task" // it is not to go, and could
	}
	for _, s := range []finding.Subject{
		{What: "member", Name: v.member}, {What: victim, Name: v.Victim}, {What: "job", Name: v.job},
		{What: "budget", Name: v.Budget}, {What: "node", Name: v.node},
	} {
		if s.Name != "" {
			f.Who = append(f.Who, s)
		}
	}
	return f
}

// Cost returns what a plan costs at the instant now. It is 0 if nothing can be judged, and of a queue over its
// max.
func (a *Auditor) Cost(d *Decision, now time.Time) (c Cost) {
	if d.Outcome == Refused || d.enforces() {
		return c
	}
	x := &a.court
	defer x.close()
	if len(x.begin(a.charge(d, now), nil)) > 0 {
		return c
	}
	if x.Movers = nil; len(d.Plan.Moves) > 0 {
		after, err := afterMoves(a.Cluster, d.Plan.Moves)
		if err != nil {
			return c
		}
		x.c = after
	}
	if x.open(nil) {
		c = x.cost()
	}
	return c
}

// cost sums up what the victims that count cost.
func (x *court) cost() (c Cost) {
	x.losses.Begin(x.c.Capacity())
	for i, id := range x.victims {
		r := &x.c.tasks[id]
		// The ranks are law 6's own numbers, lifted queue by queue. The planner
		// has its ranks from package fence.
		have, most := x.priorities(r, false)
		rank := have - most
		if x.StrictPriority || x.ByPriority {
			rank-- // most is one less than the ask's
		}
		// The first value, not 0, is where a maximum begins: ranks and
		// priorities may be below it.
		if i == 0 {
			c.MaxRank, c.MaxPriority = rank, int64(r.priority)
		}
		c.MaxRank, c.MaxPriority = max(c.MaxRank, rank), max(c.MaxPriority, int64(r.priority))
		c.Victims++
		c.SumRanks += rank
		c.SumPriorities += int64(r.priority)
		if r.flags.has(flagOptedOut) {
			c.OptedOut++
		}
		if r.flags.has(flagOriginator) {
			c.Originators++
		}
		c.Preemptions += int64(x.c.preempted.at(int(id)))
		c.Own = c.Own.Add(resources.WideOf(x.c.costOf(id)))
		// By the exported method, which converts what is stored back to times:
		// a wrong conversion would show as a wrong cost.
		t := x.c.TaskView(id)
		c.Work = c.Work.Add(x.losses.Work(t.Size, rulebook.Lost(t.Scheduled, t.Checkpoint, x.Now)))
		x.losses.Add(t.Size, rulebook.Lost(t.Scheduled, t.Checkpoint, x.Now))
	}
	x.losses.Tell((*rulebook.Cost)(&c), x.c.Schema())
	(*rulebook.Cost)(&c).Drop(x.unnamed())
	c.Overrun = x.overrun()
	for i := range x.gangs {
		// Fewer stay than are needed, also if fewer ran before.
		if g := &x.gangs[i]; g.running-g.taken < g.minimum {
			c.Jobs++
		}
	}
	c.Excess = x.excess()
	c.NodePenalty = x.penalty()
	if x.Of == "ask" { // nodes of gangs are compared in the order of members
		c.Node = int(x.c.nodes[x.Wants[0].Node].seq)
	}
	return c
}

// overrun returns by how much the victims overrun soft budgets.
func (x *court) overrun() (sum int64) {
	for name, b := range x.c.Budgets() {
		// A hard budget is a law and no cost. What was overdrawn before is
		// nobody's fault: only what the plan adds counts.
		if row, _ := x.c.findBudget(name); !b.Hard {
			sum += max(0, x.drawn[row]-max(0, b.Left))
		}
	}
	return sum
}

// penalty returns what the nodes of the plan cost together, saturated.
func (x *court) penalty() int64 {
	sum := new(big.Int)
	for i := range x.Wants {
		if w := &x.Wants[i]; !w.Further {
			sum.Add(sum, big.NewInt(x.c.nodes[w.Node].rank))
		}
	}
	switch {
	case sum.IsInt64():
		return sum.Int64()
	case sum.Sign() > 0:
		return math.MaxInt64
	}
	return math.MinInt64
}

// excess returns the largest share of the cluster that is freed beyond need,
// over all types. The victims free what is taken of the root.
func (x *court) excess() (most resources.Share) {
	for i, capacity := range x.c.Capacity() {
		// Shares of different totals are compared exactly, by cross products.
		// See resources.Share.
		share := resources.Share{Amount: max(0, x.gone(queue.Root, i)-x.lacks(i)), Of: capacity}
		if i == 0 || share.Compare(most) > 0 {
			most = share
		}
	}
	return most
}

// lacks returns what is lacking of a type before the plan: on all nodes of it together, or
// below the queue that lacks most, at least 0.
func (x *court) lacks(i int) (need int64) {
	// What is freed of a type that the ask does not want is all beyond need.
	if !x.wants.Has(i) {
		return 0
	}
	for at := range x.nodes {
		// A node may be over: that is nobody's need who wants nothing of the type there.
		if want := x.load[at*x.types+i]; want > 0 {
			need += max(0, want-x.free[at*x.types+i])
		}
	}
	x.maxima(x.Ask.Queue, 1<<i, func(q queue.ID, i int, most int64) {
		// Victims below a queue with too little headroom serve that and the
		// nodes at once, so that the larger need is the whole need.
		need = max(need, x.usage(q, i)+x.asked[i]-most)
	})
	if x.Admit != nil {
		for q := range x.tree.Ancestors(x.Ask.Queue) {
			need = max(need, rows.At(x.short, int(q), x.types)[i])
		}
	}
	return need
}

// fitsNow reports whether there is room for the ask without waiting for anybody.
func (x *court) fitsNow() bool {
	if _, held := x.held(); held {
		return true // if not, other laws say so
	}
	fits := len(x.blockers) == 0
	for i := range x.wants.All() {
		// Present amounts: what is leaving has not left.
		fits = fits && x.c.row(x.c.present, x.Wants[0].Node)[i] >= x.asked[i]
	}
	x.maxima(x.Ask.Queue, x.wants, func(q queue.ID, i int, most int64) {
		fits = fits && most-x.present(q, i) >= x.asked[i]
	})
	return fits
}

// What is of gangs alone: who its members are, whose turn it is, and which domain they share.

// named reports names that are none, or not different.
func (x *court) named() {
	if x.Ask.Key == "" {
		x.fault(Violation{Law: finding.LawKey})
	}
	x.keys = x.keys[:0]
	for i := range x.Ask.Members {
		x.keys = append(x.keys, x.Ask.Members[i].Key)
	}
	// Equal keys are neighbours then.
	slices.Sort(x.keys)
	for i, key := range x.keys {
		if key == "" || i > 0 && x.keys[i-1] == key {
			x.fault(Violation{Law: finding.LawKey, member: key})
		}
	}
}

// standing says which task or grant a member is, if it is one, and whether that is leaving.
func (x *court) standing(i int) (id TaskID, leaving, known bool) {
	key := x.Ask.Member(i).Key
	if id, known = x.c.Lookup(key); !known {
		id, known = x.c.LookupGrant(key)
	}
	return id, known && x.c.State(id).leaving(), known
}

// minimum reports places that are not of the members whose turn it is: the first without a
// place make up the minimum, in their order; others come further.
func (x *court) minimum() {
	missing := cmp.Or(x.Ask.MinMembers, x.members())
	x.done, x.placed = rows.Zeros(x.done, x.members()), x.placed[:0]
	for i := range x.done {
		id, leaving, known := x.standing(i)
		if x.done[i] = known; known && !leaving {
			missing--
			x.placed = append(x.placed, id)
		}
	}
	next, given := 0, 0
	for _, at := range x.decision.Plan.Places {
		// A member has one place. One that is leaving can get none before it has gone.
		taken := !x.has(at.Member) || x.done[at.Member]
		if !taken && !at.Extra {
			for next < at.Member && x.done[next] {
				next++
			}
			taken = next != at.Member
			given++
		}
		if taken {
			v := Violation{Law: finding.LawPlaced}
			if x.has(at.Member) {
				v.member = x.Ask.Member(at.Member).Key
			}
			x.fault(v)
			return
		}
		x.done[at.Member] = true
	}
	// Neither fewer, which would be of no use, nor more at the cost of victims.
	if missing = max(missing, 0); given != missing {
		x.fault(Violation{Law: finding.LawMinimum, Have: int64(given), Want: int64(missing)})
	}
}

// shared reports members that are not the asks that share the plan, or have no place.
func (x *court) shared() {
	asks, places := x.decision.SharedBy, x.decision.Plan.Places
	switch {
	case !x.Together:
		return
	case len(asks) != len(x.Ask.Members) || len(asks) != len(places):
		x.fault(Violation{Law: finding.LawPlaced, job: x.Ask.Key})
		return
	}
	first := resources.Positive(x.Ask.Member(0).Size)
	for i := range asks {
		ask, m := &asks[i], x.Ask.Member(i)
		for _, law := range [...]struct {
			broken bool
			word   string
		}{
			{places[i].Member != i, finding.LawPlaced},
			{m.Key != ask.Key, finding.LawKey},
			{x.Ask.Queue != ask.Queue, finding.LawLeaf},
			{!resources.Equal(m.Size, ask.Size), finding.LawSize},
			{resources.Positive(m.Size) != first, finding.LawTrigger},
			{x.Ask.Priority != ask.Priority, finding.LawMember},
			{x.Ask.Application != ask.Application, finding.LawApplication},
			{ask.MayNotPreempt && !x.Ask.MayNotPreempt, finding.LawMayPreempt},
			{ask.PendingSince.After(x.Ask.PendingSince), finding.LawDelay},
			{ask.LastAttempt.After(x.Ask.LastAttempt), finding.LawInterval},
			{ask.RequiredNode != "", finding.LawNode},
		} {
			if law.broken {
				x.fault(Violation{Law: law.word, member: ask.Key})
			}
		}
	}
}

// standings is what the members that run must be.
func (x *court) standings() {
	x.domain()
	for _, id := range x.placed {
		// Two jobs whose members run at another raw priority could take each other's members
		// for ever.
		t := &x.c.tasks[id]
		if t.state != Granted && t.priority != x.Ask.Priority {
			x.fault(Violation{Law: finding.LawMember, member: t.key, Have: int64(t.priority), Want: int64(x.Ask.Priority)})
		}
	}
}

// domain is that all members share a domain of the depth that the job requires. Members that
// have places already come before those of the plan, for they are bound to theirs.
func (x *court) domain() {
	depth := x.Ask.DomainDepth
	if depth <= 0 {
		return
	}
	// The first member that is in a domain names it for all others.
	var common []string
	check := func(key string, node NodeID) {
		list := x.c.NodeView(node).Domains
		if len(list) >= depth && common == nil {
			common = list[:depth]
		}
		if len(list) < depth || !slices.Equal(list[:depth], common) {
			x.fault(Violation{Law: finding.LawDomain, member: key, node: x.c.NodeName(node)})
		}
	}
	for _, id := range x.placed {
		check(x.c.Key(id), x.c.NodeOf(id))
	}
	for i := range x.Wants {
		check(x.Wants[i].Key, x.Wants[i].Node)
	}
}

// What a decision about a queue over its max says of itself.

// surveyGoal works out what the queue has over the max that the decision states.
func (x *court) surveyGoal() {
	x.goal = rows.Zeros(x.goal, x.types)
	for i := range x.goal {
		if most, ok := x.decision.Enforcement.Max.Bound(i); ok {
			x.goal[i] = max(x.usage(x.Ask.Queue, i)-most, 0)
		}
	}
}

// over returns what of the target is left of a type.
func (x *court) over(i int) int64 { return max(x.goal[i]-x.gone(x.Ask.Queue, i), 0) }

// stated is that amounts and result are what cluster and victims make them.
func (x *court) stated() {
	e, q := &x.decision.Enforcement, x.Ask.Queue
	over := false
	for _, amounts := range [...]struct {
		law  string
		said resources.Vector
		is   func(i int) int64
	}{
		{finding.LawUsage, e.Usage, func(i int) int64 { return x.usage(q, i) }},
		{finding.LawTarget, e.Target, func(i int) int64 { return x.goal[i] }},
		{finding.LawFreed, e.Freed, func(i int) int64 { return x.gone(q, i) }},
		{finding.LawShort, e.Shortfall, x.over},
	} {
		for i := range x.types {
			if have, want := amounts.said.At(i), amounts.is(i); have != want {
				x.fault(Violation{Law: amounts.law, Type: x.tree.Schema().Name(i), Have: have, Want: want})
			}
			over = over || x.over(i) > 0
		}
	}
	result, outcome := "met", Preempts
	switch {
	case resources.IsZero(x.goal):
		outcome = Fits
	case over && len(x.Victims) > 0:
		result = "partial"
	case over:
		result, outcome = "impossible", Refused
	}
	if e.Result != result || x.decision.Outcome != outcome {
		x.fault(Violation{Law: finding.LawResult})
	}
	if have, want := x.decision.Plan.Cost.Overrun, x.overrun(); have != want {
		x.fault(Violation{Law: finding.LawOverrun, Have: have, Want: want})
	}
}

// parts is how the target was divided, from the queue downwards, and what leaves made of it.
func (x *court) parts() {
	q, list := x.Ask.Queue, x.decision.Enforcement.Parts
	last, counts := q-1, make([]int, x.tree.Len())
	for _, id := range x.victims {
		counts[x.c.tasks[id].leaf]++
	}
	x.most, x.asks = rows.Zeros(x.most, x.types*x.tree.Len()), rows.Zeros(x.asks, x.types*x.tree.Len())
	for p := trees.End(x.tree, q) - 1; p >= q; p-- {
		x.release(p)
	}
	for i := range list {
		p := &list[i]
		row, known := x.tree.Lookup(p.Queue)
		if !known || row <= last || row >= trees.End(x.tree, q) || row == q && !x.tree.IsLeaf(q) {
			x.fault(Violation{Law: finding.LawParts})
			return
		}
		last = row
		for t := range x.types {
			x.asks[int(last)*x.types+t] = p.Amount.At(t)
		}
		if x.tree.IsLeaf(row) {
			x.gives(p, row, counts[row])
		}
	}
	for i := range x.types {
		x.asks[int(q)*x.types+i] = min(x.goal[i], x.most[int(q)*x.types+i])
		for p := q; p < trees.End(x.tree, q); p++ {
			x.divided(p, i)
		}
	}
}

// release works out what a queue can release: its surplus, and no more than its children
// can.
func (x *court) release(p queue.ID) {
	if p != x.Ask.Queue && x.Enforced != nil && x.Enforced(p) {
		return
	}
	for i := range x.types {
		most := x.usage(p, i)
		if g, ok := x.tree.Guaranteed(p).Bound(i); ok {
			most -= min(g, most)
		}
		if !x.tree.IsLeaf(p) {
			most = min(most, x.ofChildren(x.most, p, i))
		}
		x.most[int(p)*x.types+i] = most
	}
}

// ofChildren returns what the children of p have of a type in a block.
func (x *court) ofChildren(block []int64, p queue.ID, i int) (sum int64) {
	for c := range x.tree.Children(p) {
		sum += block[int(c)*x.types+i]
	}
	return sum
}

// divided is that the parts of the children of p are within one unit of their share, not above
// what they can release, and sum to its part.
func (x *court) divided(p queue.ID, i int) {
	if x.tree.IsLeaf(p) {
		return
	}
	whole, total := x.asks[int(p)*x.types+i], x.ofChildren(x.most, p, i)
	if have := x.ofChildren(x.asks, p, i); have != whole {
		x.fault(x.ofQueue(finding.LawParts, p, i, have, whole))
	}
	for c := range x.tree.Children(p) {
		part, most := x.asks[int(c)*x.types+i], x.most[int(c)*x.types+i]
		if part < 0 || part > most || !near(part, whole, most, total) {
			x.fault(x.ofQueue(finding.LawParts, c, i, part, most))
		}
	}
}

// near reports whether part is within less than one unit of whole*share/total.
func near(part, whole, share, total int64) bool {
	if total == 0 {
		return part == 0
	}
	off := new(big.Int).Mul(big.NewInt(part), big.NewInt(total))
	off.Sub(off, new(big.Int).Mul(big.NewInt(whole), big.NewInt(share)))
	return off.CmpAbs(big.NewInt(total)) < 0
}

// gives is that a leaf frees what its victims have, and no more than it was asked for if it
// must not overshoot.
func (x *court) gives(p *Part, leaf queue.ID, victims int) {
	if victims != p.Victims {
		x.fault(Violation{Law: finding.LawLeaf, Queue: p.Queue})
	}
	for i := range x.types {
		have, want := p.Freed.At(i), x.gone(leaf, i)
		if have != want {
			x.fault(x.ofQueue(finding.LawLeaf, leaf, i, have, want))
		}
		if most := p.Asked.At(i); x.NeverOvershoot && x.goal[i] > 0 && want > most {
			x.fault(x.ofQueue(finding.LawExact, leaf, i, want, most))
		}
	}
}
