// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"iter"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/sat"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A site is the nodes on which members may be placed, and which units run there.
type site struct {
	hosts        []host  // in node order
	every        []int32 // all of them
	hostOf       []int32 // by node, or -1
	reservations []int32 // the members that a node is reserved for
	onHost       []int32 // units, host by host; a unit on two hosts is there twice
	freed        []int64 // the rows of host.most
	column       []int64 // scratch of addUp
}

// A host is a node on which members may be placed. Hosts are in node order, so
// that a lower host comes first there.
type host struct {
	id   victims.NodeID
	only int32            // the member that it is reserved for, as an index of Ask.Members, or -1
	rank int64            // what placing a member on it costs by the caller's account
	now  resources.Vector // what is free at present
	free resources.Vector // what is free once what is leaving has gone
	all  resources.Vector // what is free once all of its candidates have gone, too

	first, end int32 // of site.onHost: the units with a task on it
	// Over those units: row n has, per type, the most that n + 1 of them free
	// here, and least has levels that none of them goes below.
	most  []int64
	least cost.Levels
}

// findHosts finds the nodes that are schedulable and not reserved for others,
// and the members that some are reserved for. A node that is reserved for the
// job by its name takes all of its members. If the job requires a domain, nodes
// in none are no hosts.
func (c *jobCase) findHosts() {
	c.hosts, c.reservations = c.hosts[:0], c.reservations[:0]
	c.domains.begin()
	last := victims.NodeID(-1)
	for id := range c.c.Nodes() {
		last = max(last, id)
		n := c.c.NodeView(id)
		h := host{id: id, only: -1, rank: n.Penalty}
		// A domain is known from its first node on, even if that takes no tasks:
		// domains come in the order of all of their nodes.
		domain := int32(0)
		if depth := c.job.DomainDepth; depth > len(n.Domains) {
			continue
		} else if depth > 0 {
			domain = c.domains.row(n.Domains[:depth], id)
		}
		// A reservation for nobody in the job closes the node. If the member that
		// it is for is placed already, the node is a host that takes nobody.
		if n.ReservedFor != "" && n.ReservedFor != c.job.Key {
			m, ok := c.byKey[n.ReservedFor]
			if !ok {
				continue
			}
			h.only = m
			c.reservations = append(c.reservations, m)
		}
		if !n.Unschedulable {
			c.hosts = append(c.hosts, h)
			if c.job.DomainDepth > 0 {
				c.domains.of = append(c.domains.of, domain)
			}
		}
	}
	c.hostOf = rows.Zeros(c.hostOf, int(last)+1)
	for n := range c.hostOf {
		c.hostOf[n] = -1
	}
	c.every = c.every[:0]
	for i := range c.hosts {
		c.hostOf[c.hosts[i].id], c.every = int32(i), append(c.every, int32(i))
	}
	c.filter.begin(c.job, len(c.hosts))
	c.blocks.begin(len(c.job.Members), len(c.hosts))
	c.domains.group()
}

// hostAt returns the host that a node is, or -1. Closed nodes, which wait for
// their last tasks to go, are none.
func (c *jobCase) hostAt(n victims.NodeID) int32 {
	if int(n) < len(c.hostOf) {
		return c.hostOf[n]
	}
	return -1
}

// measureHosts finds out what is free on every host.
func (c *jobCase) measureHosts() {
	amounts := c.block(3 * len(c.hosts))
	for i := range c.hosts {
		h := &c.hosts[i]
		h.now = c.c.Free(c.row(amounts, 3*i), h.id)
		h.free = c.c.ComingFree(c.row(amounts, 3*i+1), h.id)
		h.all = append(c.row(amounts, 3*i+2)[:0], h.free...)
	}
}

// freeAt returns what is free on a host at a moment.
func (h *host) freeAt(m moment) resources.Vector {
	if m == present {
		return h.now
	}
	return h.free
}

// hosted returns how many members of a kind a host takes with some room, all of
// them at most.
func (c *jobCase) hosted(h int32, k *kind, room []int64) int64 {
	if !c.takes(h, k) {
		return 0
	}
	n := int64(k.end - k.first)
	for _, t := range k.types { // those with an amount, so nothing is divided by zero
		n = min(n, max(room[t], 0)/k.size[t])
	}
	return n
}

// listOnHosts lists, host by host, the units with a task on it, and adds to each
// host what they free there.
func (c *jobCase) listOnHosts() {
	for h := range c.hosts {
		c.hosts[h].end = 0
	}
	// A counting sort by host: count, lay the ranges out, fill them in. Within a
	// host units keep their order.
	c.eachOnHost(func(h *host, _ int32) { h.end++ })
	at := int32(0)
	for h := range c.hosts {
		host := &c.hosts[h]
		host.first, host.end, at = at, at, at+host.end
	}
	c.onHost = rows.Zeros(c.onHost, int(at))
	c.eachOnHost(func(h *host, u int32) {
		c.onHost[h.end] = u
		h.end++
	})
	for h := range c.hosts {
		for i := range c.candsOn(int32(h)) {
			all := c.hosts[h].all
			resources.Add(all, all, c.cands[i].size)
		}
	}
}

// eachOnHost calls f with every unit and each host that it has a task on, once.
func (c *jobCase) eachOnHost(f func(h *host, u int32)) {
	// Nearly all units are one task, and each of these adds one to the tasks. Whole
	// gangs come after them. So the task of a unit is at the unit's own row, and the
	// units themselves, which are large, need not be read.
	alone := len(c.units) - c.wholes
	for u, i := range c.tasks[:alone] {
		if h := c.grades[i].host; h >= 0 {
			f(&c.hosts[h], int32(u))
		}
	}
	for u := alone; u < len(c.units); u++ {
		tasks := c.tasksOf(int32(u))
		for n, i := range tasks {
			if h := c.grades[i].host; h >= 0 && !c.runsOn(tasks[:n], h) {
				f(&c.hosts[h], int32(u))
			}
		}
	}
}

// runsOn reports whether any of some candidates runs on a host.
func (c *jobCase) runsOn(tasks []int32, h int32) bool {
	for _, i := range tasks {
		if c.grades[i].host == h {
			return true
		}
	}
	return false
}

// unitsOn returns the units with a task on a host.
func (c *jobCase) unitsOn(h int32) []int32 {
	return c.onHost[c.hosts[h].first:c.hosts[h].end]
}

// candsOn yields the candidates on a host that some unit has, each once. A task may be
// in two units: by itself, and with all of its job.
func (c *jobCase) candsOn(h int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		alone := int32(len(c.units) - c.wholes)
		for _, u := range c.unitsOn(h) {
			if u < alone { // its task is at its own row; see eachOnHost
				if !yield(c.tasks[u]) {
					return
				}
				continue
			}
			for _, i := range c.tasksOf(u) {
				if g := &c.grades[i]; g.host == h && !g.alone && !yield(i) {
					return
				}
			}
		}
	}
}

// measureUnits works out what the units of each host could free there, and what
// that costs at least. Bounds on the cost of a host come from these rows.
func (c *jobCase) measureUnits() {
	c.freed = rows.Zeros(c.freed, len(c.onHost)*c.types)
	for h := range c.hosts {
		host := &c.hosts[h]
		host.most = c.freed[int(host.first)*c.types : int(host.end)*c.types]
		first := true
		for n, u := range c.unitsOn(int32(h)) {
			here := c.row(host.most, n)
			for _, i := range c.tasksOf(u) {
				cand := &c.cands[i]
				if cand.host != int32(h) {
					continue
				}
				resources.Add(here, here, cand.size)
				if first {
					host.least, first = cand.levels, false
				}
				for l, v := range cand.levels {
					host.least[l] = min(host.least[l], v)
				}
			}
		}
		c.addUp(host.most)
	}
}

// addUp sorts the amounts of each type, the largest first, and adds to each
// those before it.
//
// The n-th row is then the most that n units can free of a type, whichever they
// are: a bound that needs no search.
func (c *jobCase) addUp(rows []int64) {
	for t := range c.types {
		c.column = c.column[:0]
		for i := t; i < len(rows); i += c.types {
			c.column = append(c.column, rows[i])
		}
		slices.Sort(c.column)
		var sum int64
		for n := range c.column {
			sum = sat.Add(sum, c.column[len(c.column)-1-n])
			rows[n*c.types+t] = sum
		}
	}
}

// A filter remembers what the caller says of nodes and classes of members, so
// that each is asked about once in a decision.
type filter struct {
	caller  func(q *victims.Question) bool // Planner.Filter
	classes []int                          // different ones, in the order of members
	first   []int                          // the first member of each
	classOf []int32                        // by member, an index of classes
	answers []answer                       // of a class about all hosts, class by class
	hosts   int
	until   time.Time // when the first refusal ends; zero: none does
}

type answer uint8

const (
	notAsked answer = iota
	accepted
	refused
)

// begin forgets all answers, and finds the classes of the members of a job.
func (f *filter) begin(job *victims.Ask, hosts int) {
	f.classes, f.first, f.classOf = f.classes[:0], f.first[:0], f.classOf[:0]
	if f.until = (time.Time{}); f.caller == nil {
		return
	}
	for i := range job.Members {
		// There are few classes, for which a list is faster than a map.
		class := slices.Index(f.classes, job.Members[i].Class)
		if class < 0 {
			class = len(f.classes)
			f.classes, f.first = append(f.classes, job.Members[i].Class), append(f.first, i)
		}
		f.classOf = append(f.classOf, int32(class))
	}
	f.hosts = hosts
	// A byte per class and host: jobs have few classes, mostly one.
	f.answers = rows.Zeros(f.answers, len(f.classes)*hosts)
}

// of returns the class of a member; without a filter all are alike.
func (f *filter) of(member int) int32 {
	if f.caller == nil {
		return 0
	}
	return f.classOf[member]
}

// lets reports whether members of a class may ever run on a host.
func (c *jobCase) lets(class, h int32) bool {
	f := &c.filter
	if f.caller == nil {
		return true
	}
	at := &f.answers[int(class)*f.hosts+int(h)]
	if *at == notAsked {
		*at = refused
		q := &c.asked
		q.Member, q.Node, q.Until = &c.job.Members[f.first[class]], c.hosts[h].id, time.Time{}
		if f.caller(q) {
			*at = accepted
		} else {
			f.until = eligible.Sooner(f.until, q.Until, q.Now)
		}
	}
	return *at == accepted
}

// takes reports whether a host may take members of a kind at all.
func (c *jobCase) takes(h int32, k *kind) bool {
	only := c.hosts[h].only
	return (only < 0 || only == k.only) && c.lets(k.class, h)
}

// takesMember reports whether a host may take a member, by its index in the job.
func (c *jobCase) takesMember(h int32, member int) bool {
	only := c.hosts[h].only
	return (only < 0 || only == int32(member)) && c.lets(c.filter.of(member), h)
}

// takesAny reports whether a host may take any member of the job.
func (c *jobCase) takesAny(h int32) bool {
	if c.filter.caller == nil {
		return true // hosts that are reserved are so for a member
	}
	// A host that is reserved for a member takes no other, so its class alone
	// is asked.
	if only := c.hosts[h].only; only >= 0 {
		return c.lets(c.filter.of(int(only)), h)
	}
	for class := range c.filter.classes {
		if c.lets(int32(class), h) {
			return true
		}
	}
	return false
}

// filtered counts the hosts that the filter refuses to every member of todo.
func (c *jobCase) filtered() (n int) {
	if c.filter.caller == nil {
		return 0
	}
	for h := range c.hosts {
		// Counted by kinds, since members of a kind are alike to the filter.
		some := false
		for i := range c.kinds {
			some = some || c.lets(c.kinds[i].class, int32(h))
		}
		if !some {
			n++
		}
	}
	return n
}

// blocks is who the caller says blocks which nodes for which members, each asked about once.
type blocks struct {
	caller func(dst []victims.TaskID, q *victims.Question) []victims.TaskID // Options.Blockers
	spans  []span                                                           // by member and host
	tasks  []victims.TaskID
	hosts  int
}

// A span is a part of a list; of no end nobody has asked yet.
type span struct{ first, end int32 }

func (b *blocks) begin(members, hosts int) {
	if b.hosts, b.tasks = hosts, b.tasks[:0]; b.caller != nil {
		b.spans = rows.Zeros(b.spans, members*hosts)
	}
}

// asksBlockers reports whether the caller knows who blocks nodes.
func (c *jobCase) asksBlockers() bool { return c.blocks.caller != nil }

// blockers returns the tasks that must go from a host for a member, by its index in the job. It
// is good until the next call.
func (c *jobCase) blockers(member int, h int32) []victims.TaskID {
	b := &c.blocks
	if !c.asksBlockers() {
		return nil
	}
	at := &b.spans[member*b.hosts+int(h)]
	if at.end == 0 {
		at.first = int32(len(b.tasks))
		c.asked.Member, c.asked.Node = &c.job.Members[member], c.hosts[h].id
		b.tasks = b.caller(b.tasks, &c.asked)
		at.end = int32(len(b.tasks)) + 1
	}
	return b.tasks[at.first : at.end-1]
}

// blocking reports whether a task blocks one of the hosts of some members.
func (c *jobCase) blocking(members []int, at []int32, id victims.TaskID) bool {
	if !c.asksBlockers() {
		return false
	}
	for i, h := range at {
		if slices.Contains(c.blockers(members[i], h), id) {
			return true
		}
	}
	return false
}

// clears reports whether nobody blocks a host for a member once some tasks have gone: who is
// leaving is waited for, if that may be, and a grant that blocks rules the host out.
func (c *jobCase) clears(member int, h int32, gone []victims.TaskID, waits bool) bool {
	for _, id := range c.blockers(member, h) {
		switch state := c.c.State(id); {
		case isLeaving(state) && !waits, state == victims.Granted, state == victims.Running && !slices.Contains(gone, id):
			return false
		}
	}
	return true
}
