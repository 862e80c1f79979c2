// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A jobCase is everything that a job is decided on: its members, the nodes that
// could host them, what the queues are short of, and who could be stopped. The
// case files write it, in the order of [jobCase.prepare]. The engines, in the
// search files, only read it.
//
// Three kinds of rows name things in it. A member is a place in todo, a host a
// place in hosts, and a unit a place in units. A unit is what goes together: one
// candidate, or a job with all its members. Units are what engines choose.
type jobCase struct {
	c       *victims.Cluster
	tree    *queue.Tree  // with the guarantees that count
	job     *victims.Ask // own
	own     victims.Ask  // what was asked, and memory for the next
	now     time.Time
	types   int
	order   cost.Order       // of costs
	choice  *victims.Options // what decides between plans; nil is the order
	onNodes bool             // victims are on nodes of the plan

	roster   // the members of the job, and who of them has a place
	arrivals // those that are to be placed now
	site     // where they could be placed
	supply   // who could go for them

	needs   needs
	budgets budgets
	caps    rulebook.Caps
	filter  filter
	blocks  blocks
	domains domains
	area    area
	rules   rules
	rooms   *eligible.Rooms // law 2, then what else bounds a sum of victims
	gate    gate

	asked    victims.Question // that functions of the caller are asked
	memory   []int64          // amounts that live until setTodo
	counting queue.Tree       // what tree is, if not all guarantees count
	meter    *least.Meter
}

// begin makes the case one of a job at an instant. It fails if something is
// wrong with the job.
func (c *jobCase) begin(p *Planner, job *victims.Ask, now time.Time) error {
	tree, err := trees.Counting(p.Cluster.Tree(), &c.counting, p.Scarce)
	if err != nil {
		return fmt.Errorf("jobs: job %q: %w", job.Key, err)
	}
	fill(&c.own, job)
	c.c, c.tree, c.job, c.now = p.Cluster, tree, &c.own, now
	c.types = p.Cluster.Schema().Len()
	c.order, c.onNodes, c.caps, c.choice = rulebook.PlanOrder(), p.VictimsOnNode, lent.To(&p.Options).Most(), nil
	if p.Compare != nil || len(p.Levels) > 0 {
		c.choice = &p.Options
	}
	c.rules.begin(p, now)
	c.asked = victims.Question{Cluster: c.c, Now: now, Ask: c.job}
	c.filter.caller, c.blocks.caller = p.Filter, p.Blockers
	c.gate.begin(c, p)
	if err := lent.To(&p.Options).Check(); err != nil {
		return err
	}
	if err := c.roster.check(c); err != nil {
		return err
	}
	c.rules.beginLeaf(p, job.Queue)
	return nil
}

// place finds the nodes and makes all members of the minimum that have no place
// the ones to be placed: enough of a case to see whether they fit.
func (c *jobCase) place() {
	c.findHosts()
	c.setTodo(len(c.unplaced))
	c.measureHosts()
}

// prepare makes the first n members of the minimum the ones to be placed, and
// works out who could be stopped for them. It reports whether any leaf is in
// reach.
func (c *jobCase) prepare(n int) bool {
	return c.state(n) && c.gather(scope{all: true})
}

// state is prepare, but for the candidates.
func (c *jobCase) state(n int) bool {
	// Blocks of amounts live until setTodo, so everything that has some is made
	// anew after it: hosts first, for room is what needs are measured by.
	c.setTodo(n)
	c.measureHosts()
	c.gate.read(coming)
	c.needs.prepare(c)
	return c.rules.prepare(c)
}

// gather works out who in a scope could be stopped. It reports false if the caller of the
// decision has ended that early; then it was nobody.
func (c *jobCase) gather(s scope) bool {
	whole := c.gatherCandidates(s)
	c.listOnHosts()
	c.measureUnits()
	c.openAll()
	return whole
}

// stopped reports whether the caller has ended the decision.
func (c *jobCase) stopped() bool { return c.meter != nil && c.meter.Stopped }

// over reports whether the budget has ended, or the caller has ended the decision.
func (c *jobCase) over() bool { return c.meter != nil && c.meter.Over() }

// pay charges for some steps.
func (c *jobCase) pay(steps int) {
	if c.meter != nil { // in tests of parts
		c.meter.Pay(int64(steps))
	}
}

// placements appends the placements of members on hosts, one per place in todo.
func (c *jobCase) placements(dst []victims.Place, at []int32) []victims.Place {
	for i, h := range at {
		dst = append(dst, c.placement(c.todo[i], h))
	}
	return dst
}

// placement returns the placement of a member, by its index in the job, on a
// host.
func (c *jobCase) placement(member int, h int32) victims.Place {
	id := c.hosts[h].id
	return victims.Place{Member: member, Key: c.job.Members[member].Key, Node: id, NodeName: c.c.NodeName(id)}
}

// block returns n rows of zeros, one amount per type each, that live until
// setTodo.
func (c *jobCase) block(n int) []int64 {
	from := len(c.memory)
	c.memory = slices.Grow(c.memory, n*c.types)[:from+n*c.types]
	rows := c.memory[from:len(c.memory):len(c.memory)]
	clear(rows)
	return rows
}

// row returns row i of a block.
func (c *jobCase) row(block []int64, i int) resources.Vector {
	return rows.At(block, i, c.types)
}

// addTo adds sign times v to dst, in the types that dst has.
func addTo(dst, v resources.Vector, sign int64) {
	for t, amount := range v[:min(len(v), len(dst))] {
		dst[t] += sign * amount
	}
}

// A roster is the members of the job by what the cluster says of them.
type roster struct {
	byKey    map[string]int32 // indices of Ask.Members
	unplaced []int            // those of the minimum without a place
	further  []int            // those beyond it
	held     []victims.TaskID // the grants of members
	leaving  bool             // a member that is leaving is missing from the minimum
}

// check reports what is wrong with the job, and else finds out which members
// have no place yet.
func (r *roster) check(c *jobCase) error {
	job := c.job
	fail := func(err error) error { return fmt.Errorf("jobs: job %q: %w", job.Key, err) }
	// In the order in which one would read the job: its name, its queue, its
	// numbers.
	switch {
	case job.Key == "":
		return fail(invalid.Empty)
	case job.Queue < 0 || int(job.Queue) >= c.tree.Len():
		return fail(fmt.Errorf("queue %d: %w", job.Queue, victims.ErrUnknown))
	case !c.tree.IsLeaf(job.Queue):
		return fail(fmt.Errorf("queue %s: %w", c.tree.Path(job.Queue), invalid.Queue))
	case job.MinMembers < 0 || job.MinMembers > len(job.Members):
		return fail(fmt.Errorf("minimum %d of %d members: %w", job.MinMembers, len(job.Members), invalid.Range))
	case job.DomainDepth < 0:
		return fail(fmt.Errorf("domain of depth %d: %w", job.DomainDepth, invalid.Range))
	case job.RequiredNode != "":
		return fail(fmt.Errorf("requires node %q: %w", job.RequiredNode, victims.ErrState))
	case !holdable(c.now):
		return fail(fmt.Errorf("now %v: %w", c.now, invalid.Range))
	case !job.PendingSince.IsZero() && !holdable(job.PendingSince):
		return fail(fmt.Errorf("pending since %v: %w", job.PendingSince, invalid.Range))
	case !job.LastAttempt.IsZero() && !holdable(job.LastAttempt):
		return fail(fmt.Errorf("last attempt %v: %w", job.LastAttempt, invalid.Range))
	}
	if err := r.checkMembers(c); err != nil {
		return fail(err)
	}
	r.split(c)
	return nil
}

// holdable reports whether a cluster could hold the instant: it is in the years
// that 64 bits of nanoseconds reach.
func holdable(t time.Time) bool {
	const most = math.MaxInt64/int64(time.Second) - 1
	return -most <= t.Unix() && t.Unix() <= most
}

// checkMembers reports a member without a key of its own, and amounts with which
// the usage of the cluster would leave the range of int64.
func (r *roster) checkMembers(c *jobCase) error {
	if r.byKey == nil {
		r.byKey = make(map[string]int32)
	}
	clear(r.byKey)
	// Sums of this decision are sums of sizes of tasks and members, so if all of
	// them together are in range every one is, and nothing after this checks.
	c.rem = append(c.rem[:0], c.tree.Usage(0)...) // what is used with the members so far
	for i := range c.job.Members {
		m := &c.job.Members[i]
		if m.Key == "" {
			return fmt.Errorf("member %d: %w", i, invalid.Empty)
		}
		// Keys are those of tasks later on, of which there is one each.
		if _, ok := r.byKey[m.Key]; ok {
			return fmt.Errorf("member %q: %w", m.Key, victims.ErrDuplicate)
		}
		r.byKey[m.Key] = int32(i)
		if err := r.checkMember(c, m); err != nil {
			return fmt.Errorf("member %q: %w", m.Key, err)
		}
	}
	return nil
}

// checkMember checks a member and adds it to what is used.
func (r *roster) checkMember(c *jobCase, m *victims.Member) error {
	if id, ok := lookup(c.c, m.Key); ok {
		// A member that has a place already must be of this job. Another's task
		// of the same key is a mistake, and no member.
		if t := c.c.TaskView(id); t.Queue != c.job.Queue || t.Job != "" && t.Job != c.job.Job {
			return fmt.Errorf("a task of queue %s and job %q has the key: %w", c.tree.Path(t.Queue), t.Job, victims.ErrDuplicate)
		}
		return nil // the cluster has checked its size, and counts it
	}
	if err := lent.To(c.rules.options).CheckMember(m); err != nil {
		return err
	}
	schema := c.c.Schema()
	for t, v := range m.Size {
		switch {
		// A vector may be longer than the schema by zeros.
		case t >= c.types && v != 0:
			return fmt.Errorf("%d of type %d of %d: %w", v, t, c.types, invalid.Amount)
		case v < 0:
			return fmt.Errorf("%s %s: %w", schema.Name(t), vectors.Text(schema, t, v), invalid.Amount)
		case t < c.types && v > math.MaxInt64-c.rem[t]:
			return fmt.Errorf("%s %s and %s in use or asked for: %w",
				schema.Name(t), vectors.Text(schema, t, v), vectors.Text(schema, t, c.rem[t]), invalid.Range)
		case t < c.types:
			c.rem[t] += v
		}
	}
	return nil
}

// lookup returns the task or the grant of a member, by its key.
func lookup(c *victims.Cluster, key string) (victims.TaskID, bool) {
	if id, ok := c.Lookup(key); ok {
		return id, true
	}
	return c.LookupGrant(key)
}

// split finds the members without a place. The first of them make up the
// minimum, together with those that have one. A member that is leaving has no
// place, and can get none.
func (r *roster) split(c *jobCase) {
	r.unplaced, r.further, r.held, r.leaving = r.unplaced[:0], r.further[:0], r.held[:0], false
	// 0 stands for all of them: a gang in the strict sense.
	missing := cmp.Or(c.job.MinMembers, len(c.job.Members))
	for i := range c.job.Members {
		id, placed := lookup(c.c, c.job.Members[i].Key)
		if !placed {
			r.unplaced = append(r.unplaced, i)
			continue
		}
		switch state := c.c.TaskView(id).State; {
		// It holds its key until it has gone, so nobody can take its place
		// before that.
		case isLeaving(state):
			r.leaving = true
			continue
		case state == victims.Granted:
			r.held = append(r.held, id)
		}
		missing--
	}
	missing = max(missing, 0)
	// The first ones by the caller's order make up the minimum. Which ones
	// never depends on what they need.
	if missing < len(r.unplaced) {
		r.further = append(r.further, r.unplaced[missing:]...)
		r.unplaced = r.unplaced[:missing]
	}
	// What is leaving matters only if the minimum is not reached without it. Then
	// there is nothing to decide before it has gone and may be placed anew.
	r.leaving = r.leaving && missing > len(r.unplaced)
}

func isLeaving(s victims.State) bool { return s == victims.Releasing || s == victims.Marked }

// Arrivals are the members that are to be placed now: the first ones of the
// minimum that have no place.
type arrivals struct {
	todo     []int            // indices of Ask.Members, ascending
	rem      resources.Vector // the sum of their sizes, as quotas call it
	wants    resources.Mask   // the types of rem
	kinds    []kind           // the largest first
	kindOf   []int32          // by place in todo
	previous []int32          // of the same kind, by place in todo, or -1
	sorted   []int32          // places in todo, kind by kind
}

// A kind is members that are alike to every node: for them only the number on
// each node matters.
type kind struct {
	size  resources.Vector // of full length
	types []int            // those with an amount: an explicit zero is no wanted type
	// only is the member, as an index of Ask.Members, that a node is reserved
	// for, and then it is alone in its kind; else -1.
	only       int32
	class      int32 // see filter
	first, end int32 // of arrivals.sorted
}

// setTodo makes the first n members of the minimum the ones to be placed, and
// sorts them into kinds, the largest first by dominant share.
func (c *jobCase) setTodo(n int) {
	c.memory = c.memory[:0]
	c.todo = c.unplaced[:n]
	c.rem = rows.Zeros(c.rem, c.types)
	sizes := c.block(n)
	c.sorted = c.sorted[:0]
	for i, m := range c.todo {
		size := c.row(sizes, i)
		copy(size, c.job.Members[m].Size)
		c.rem = resources.Add(c.rem, c.rem, size)
		c.sorted = append(c.sorted, int32(i))
	}
	c.wants = resources.Positive(c.rem)
	slices.SortFunc(c.sorted, func(i, j int32) int { return c.compareMembers(sizes, i, j) })
	c.kinds = c.kinds[:0]
	c.kindOf, c.previous = rows.Zeros(c.kindOf, n), rows.Zeros(c.previous, n)
	for at, i := range c.sorted {
		k := kind{size: c.row(sizes, int(i)), only: c.reservedFor(i), class: c.filter.of(c.todo[i]), first: int32(at), end: int32(at)}
		// Members that are alike are neighbours, for compareMembers compares all
		// that alike does.
		last := len(c.kinds) - 1
		if last < 0 || !c.kinds[last].alike(&k) {
			last++
			c.addKind(k)
		}
		c.previous[i] = -1
		if int32(at) > c.kinds[last].first {
			c.previous[i] = c.sorted[at-1]
		}
		c.kinds[last].end++
		c.kindOf[i] = int32(last)
	}
}

// compareMembers puts members in the order of kinds: by size, by reservation,
// and then as the caller has them.
func (c *jobCase) compareMembers(sizes []int64, i, j int32) int {
	x, y := c.row(sizes, int(i)), c.row(sizes, int(j))
	capacity := c.c.Capacity()
	return cmp.Or(
		resources.DominantShare(y, capacity).Compare(resources.DominantShare(x, capacity)),
		slices.Compare(y, x),
		cmp.Compare(c.reservedFor(i), c.reservedFor(j)),
		cmp.Compare(c.filter.of(c.todo[i]), c.filter.of(c.todo[j])),
		cmp.Compare(i, j),
	)
}

// alike reports whether members of two kinds are alike to every node.
func (k *kind) alike(o *kind) bool {
	return slices.Equal(k.size, o.size) && k.only == o.only && k.class == o.class
}

// addKind adds a kind, in the memory of one that was there before.
func (c *jobCase) addKind(k kind) {
	n := len(c.kinds)
	if n < cap(c.kinds) {
		k.types = c.kinds[:n+1][n].types[:0]
	}
	for t, v := range k.size {
		if v > 0 {
			k.types = append(k.types, t)
		}
	}
	c.kinds = append(c.kinds, k)
}

// reservedFor returns the member at a place of todo if a node is reserved for
// it, else -1.
func (c *jobCase) reservedFor(i int32) int32 {
	m := int32(c.todo[i])
	for _, h := range c.reservations {
		if h == m {
			return m
		}
	}
	return -1
}

// kindAt returns the kind of the member at a place of todo.
func (c *jobCase) kindAt(m int32) *kind { return &c.kinds[c.kindOf[m]] }

// roomFor reports whether a member of the kind fits, in the types that it wants.
func (k *kind) roomFor(left resources.Vector) bool {
	for _, t := range k.types {
		if left[t] < k.size[t] {
			return false
		}
	}
	return true
}

// How large a case is: the ways to place the members, times what one of them
// takes to look at. Small cases are searched completely in about a millisecond,
// medium ones in some ten.
//
// In the full clusters of BenchmarkTowns half of small changes nothing; with twice
// small, 4 more of 144 costs are proven, for up to 1.4 times the steps. Half of
// medium saves up to 46 % of the steps, and some plans have other victims. Twice
// medium takes up to 1.35 times as many and proves no more.
const (
	small  = 1 << 14
	medium = 1 << 19
)

// within reports whether a case is below a size.
func (c *jobCase) within(size uint64) bool {
	ways, each := c.ways(), uint64(len(c.area.units)+8)
	return ways < size && ways*each < size
}

// ways returns how many ways there are to place the members if every host takes
// all of them, or the most there is: for each kind the multisets of hosts.
func (c *jobCase) ways() uint64 {
	ways := uint64(1)
	for i := range c.kinds {
		k := &c.kinds[i]
		for n := range uint64(k.end - k.first) {
			// Multisets of n+1 hosts from those of n, times hosts+n, divided
			// by n+1: exact at every step, for each kind by itself.
			hi, lo := bits.Mul64(ways, uint64(len(c.area.hosts))+n)
			if hi > n {
				return 1<<64 - 1
			}
			ways, _ = bits.Div64(hi, lo, n+1)
		}
	}
	return ways
}
