// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"cmp"
	"encoding/binary"
	"iter"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/trigger"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Pending holds what waits, and decides those for which that may help. Its answers are those of a loop that
// decides all each time. Set all fields before the first Add; only Planner must be set. It serves one
// goroutine.
//
// Asks that are alike, as in queue, priority, class and size, share a refusal, which Options.Observe sees once. With
// Exempt, Predicate, Blockers, Admit or ByPriority no two are alike.
type Pending struct {
	Planner *Planner
	// Order is that in which asks are decided; ties, and nil, are in that of Add.
	Order func(a, b *victims.Ask) int
	// Hold, asked right before an ask is decided, passes it over: limits of users, licences. Of a gang it
	// holds all or nothing.
	Hold func(a *victims.Ask) bool

	list     []*waiting
	byKey    map[string]*waiting
	alike    map[string]*shared
	reserved map[string]bool // who nodes are reserved for
	known    victims.Version // for which they are
	text     []byte
}

// A waiting is an ask that waits.
type waiting struct {
	ask    victims.Ask // with memory of its own
	text   string      // what makes it alike
	shared *shared     // with those that are alike; nil until it is decided
	own    *shared     // if it is like no other
	gone   bool

	standing standing
	seen     victims.Version // for which that is
}

// A shared is what was last decided about asks that are alike.
type shared struct {
	d       victims.Decision
	of      *waiting // of whom it was decided
	refused bool
	full    bool            // the gang runs, and there is no room for more of it
	counts  resources.Mask  // the types whose guarantees counted
	idle    victims.Version // of the cluster for which it was shown not to be worth another try
	at      time.Time
	users   int
	text    string
}

// Add lets an ask wait, in place of one with its key. The cost is linear in what waits. Do not call it in the
// loop over [Pending.Decide].
func (p *Pending) Add(ask victims.Ask) {
	if p.byKey == nil {
		p.byKey, p.alike, p.reserved = make(map[string]*waiting), make(map[string]*shared), make(map[string]bool)
	}
	e := &waiting{ask: copied(&ask)}
	p.text = appendAlike(p.text[:0], &e.ask)
	e.text = string(p.text)
	p.Remove(ask.Key)
	at := len(p.list)
	if p.Order != nil {
		at, _ = slices.BinarySearchFunc(p.list, e, func(a, b *waiting) int {
			if c := p.Order(&a.ask, &b.ask); c != 0 {
				return c
			}
			return -1 // after its equals
		})
	}
	p.list = slices.Insert(p.list, at, e)
	p.byKey[ask.Key] = e
}

// copied returns an ask that shares nothing with another.
func copied(ask *victims.Ask) victims.Ask {
	a := *ask
	a.Size, a.Budgets, a.Members = slices.Clone(a.Size), slices.Clone(a.Budgets), slices.Clone(a.Members)
	for i := range a.Members {
		m := &a.Members[i]
		m.Size, m.Budgets = slices.Clone(m.Size), slices.Clone(m.Budgets)
	}
	return a
}

// Remove takes out an ask that was given up or has ended. Its grants stay; see [victims.Cluster.Drop]. An ask
// of which all runs leaves at the next Decide; remove one that has ended before that.
func (p *Pending) Remove(key string) {
	if e := p.byKey[key]; e != nil {
		e.gone = true
		p.leave(e)
		delete(p.byKey, key)
	}
}

// All yields what waits, in order: plain data, to save.
func (p *Pending) All() iter.Seq[*victims.Ask] {
	return func(yield func(*victims.Ask) bool) {
		for _, e := range p.list {
			if !e.gone && p.standing(e) != runs && !yield(&e.ask) {
				return
			}
		}
	}
}

// Reconsider has everything decided again: call it if functions of the planner change their answers, or options
// other than Scarce change.
func (p *Pending) Reconsider() {
	for _, e := range p.list {
		p.leave(e)
	}
}

// Last returns the last decision about an ask, or nil: perhaps that of an ask that is alike. It is good until
// the next use of p.
func (p *Pending) Last(key string) *victims.Decision {
	if e := p.byKey[key]; e != nil && e.shared != nil && (e.shared.refused || e.shared.of == e) {
		return &e.shared.d
	}
	return nil
}

// Decide decides at the instant now, in order, what may have another answer, and yields each decision. The loop may
// apply it, start, and remove asks. It passes over asks on Hold, with all places that they need, or still refused,
// and gangs that run and have no room for more. An ask in error is yielded with its error, in a decision that has
// Plan.Ask only, and the loop goes on. With an interval an ask's LastAttempt is set. What is passed over costs a look at each,
// and of asks that are alike one [victims.Help.MayHaveChanged].
func (p *Pending) Decide(now time.Time) iter.Seq2[*victims.Decision, error] {
	if p.Planner == nil {
		panic("jobs: a Pending without a Planner")
	}
	return func(yield func(*victims.Decision, error) bool) {
		p.list = slices.DeleteFunc(p.list, func(e *waiting) bool {
			if !e.gone && p.standing(e) == runs {
				p.Remove(e.ask.Key)
			}
			return e.gone
		})
		for _, e := range p.list {
			if e.gone || p.standing(e) >= holds {
				continue
			}
			p.readReserved()
			s := p.place(e, now)
			if !p.worth(s, now) || p.Hold != nil && p.Hold(&e.ask) {
				continue
			}
			err := p.decide(s, e, now)
			if err == nil && s.full {
				continue
			}
			if !yield(&s.d, err) {
				return
			}
		}
	}
}

// decide decides an ask anew.
func (p *Pending) decide(s *shared, e *waiting, now time.Time) error {
	s.of, s.refused, s.full = nil, false, false
	if err := p.Planner.Decide(&s.d, &e.ask, now); err != nil {
		s.d = victims.Decision{Plan: victims.Plan{Ask: copied(&e.ask)}}
		return err
	}
	outcome := s.d.Outcome
	s.of, s.refused = e, outcome == victims.Refused
	s.full = outcome == victims.Fits && len(s.d.Plan.Places) == 0
	s.idle, s.at, s.counts = p.Planner.Cluster.Version(), now, lent.To(&p.Planner.Options).Counting()
	if p.Planner.RetryInterval > 0 && (outcome == victims.Preempts || s.refused && !rulebook.ReasonOf(s.d.Refusal.Reason).Barred) {
		e.ask.LastAttempt = now
	}
	return nil
}

// worth reports whether to decide again.
func (p *Pending) worth(s *shared, now time.Time) bool {
	c := p.Planner.Cluster
	same := s.idle == c.Version() && s.at.Equal(now)
	switch {
	case !s.refused:
		return !s.full || !same
	case s.counts != lent.To(&p.Planner.Options).Counting() || !same && s.d.Refusal.Help.MayHaveChanged(c, now):
		return true
	}
	s.idle, s.at = c.Version(), now
	return false
}

// A standing is what has a place of an ask.
type standing uint8

const (
	none  standing = iota
	part           // some member
	holds          // all that it needs; some of it does not run yet, or not any more
	runs           // all members run
)

// standing returns what of an ask has a place.
func (p *Pending) standing(e *waiting) standing {
	if v := p.Planner.Cluster.Version(); e.seen != v {
		e.standing, e.seen = p.lookUp(e), v
	}
	return e.standing
}

func (p *Pending) lookUp(e *waiting) standing {
	c := p.Planner.Cluster
	if len(e.ask.Members) == 0 {
		id, ok := lookup(c, e.ask.Key)
		switch {
		case !ok:
			return none
		case c.State(id) == victims.Running:
			return runs
		}
		return holds // or it is leaving, and holds its key
	}
	known, run, held := 0, 0, 0
	for i := range e.ask.Members {
		id, ok := lookup(c, e.ask.Members[i].Key)
		if !ok {
			continue
		}
		known++
		switch c.State(id) {
		case victims.Running:
			run++
		case victims.Granted:
			held++
		}
	}
	missing := cmp.Or(e.ask.MinMembers, len(e.ask.Members))
	switch {
	case run == len(e.ask.Members):
		return runs
	case held > 0 && run+held >= missing:
		return holds
	case known > 0 || c.JobLen(e.ask.Key) > 0:
		return part
	}
	return none
}

// place finds with whom an ask shares its decision.
func (p *Pending) place(e *waiting, now time.Time) *shared {
	if p.alone(e, now) {
		if e.shared == nil || e.shared != e.own {
			p.leave(e)
			e.own = new(shared)
			e.shared = e.own
		}
		return e.shared
	}
	if e.shared != nil && e.shared != e.own {
		return e.shared
	}
	p.leave(e)
	s := p.alike[e.text]
	if s == nil {
		s = &shared{text: e.text}
		p.alike[s.text] = s
	}
	s.users++
	e.shared = s
	return s
}

// leave forgets what was decided about an ask.
func (p *Pending) leave(e *waiting) {
	if s := e.shared; s != nil && s != e.own {
		if s.users--; s.users == 0 {
			delete(p.alike, s.text)
		}
	}
	e.shared, e.own = nil, nil
}

// alone reports whether an ask may get another answer than any other.
func (p *Pending) alone(e *waiting, now time.Time) bool {
	c, a := p.Planner.Cluster, &e.ask
	if a.Queue < 0 || int(a.Queue) >= c.Tree().Len() { // an ask in error
		return true
	}
	if p.standing(e) != none || p.Planner.seesAsks() || p.early(a, now) || p.isReserved(a) {
		return true
	}
	// Law 3 keeps nobody whom law 7 does not keep, if all of its tasks are in its own leaf.
	leaf, runs := lent.To(&p.Planner.Options).LeafOf(c, a.Application)
	return runs && (p.Planner.Moves != "" || leaf != a.Queue || eligible.WithinQueue(c.Tree(), a.Queue, p.Planner.WithinQueue) != queue.Never || a.RequiredNode != "")
}

// early reports whether an ask waits for a delay to end.
func (p *Pending) early(a *victims.Ask, now time.Time) bool {
	gate := trigger.Case{
		Tree: p.Planner.Cluster.Tree(), Leaf: a.Queue, OnNode: a.RequiredNode != "",
		PendingSince: a.PendingSince, LastAttempt: a.LastAttempt, Interval: p.Planner.RetryInterval, Now: now,
	}
	return gate.Early().Obstacle != ""
}

// isReserved reports whether a node is reserved for an ask, or for a member.
func (p *Pending) isReserved(a *victims.Ask) bool {
	return len(p.reserved) > 0 && (p.reserved[a.Key] ||
		slices.ContainsFunc(a.Members, func(m victims.Member) bool { return p.reserved[m.Key] }))
}

// readReserved reads who nodes are reserved for, if anything has changed.
func (p *Pending) readReserved() {
	c := p.Planner.Cluster
	if p.known == c.Version() {
		return
	}
	clear(p.reserved)
	p.known = c.Version()
	for who := range reservedFor(c) {
		p.reserved[who] = true
	}
}

// reservedFor yields whom nodes of a cluster are reserved for.
func reservedFor(c *victims.Cluster) iter.Seq[string] {
	return func(yield func(string) bool) {
		for n := range c.Nodes() {
			if who := c.NodeView(n).ReservedFor; who != "" && !yield(who) {
				return
			}
		}
	}
}

// appendAlike appends what asks that are alike have in common.
func appendAlike(dst []byte, a *victims.Ask) []byte {
	number := func(v int64) { dst = binary.AppendVarint(dst, v) }
	task := func(size resources.Vector, class int) {
		number(int64(class))
		number(int64(len(size)))
		for _, v := range size {
			number(v)
		}
	}
	flags := int64(0)
	if a.MayNotPreempt {
		flags |= 1
	}
	if a.NonPreemptible {
		flags |= 2
	}
	number(int64(len(a.Members)))
	number(int64(a.Queue))
	number(int64(a.Priority))
	number(flags)
	dst = append(append(dst, a.RequiredNode...), 0)
	if len(a.Members) == 0 {
		task(a.Size, a.Class)
		return dst
	}
	number(int64(a.MinMembers))
	number(int64(a.DomainDepth))
	for i := range a.Members {
		m := a.MemberAsk(i)
		task(m.Size, m.Class)
	}
	return dst
}

// seesAsks reports whether functions of the caller, or its rules, may tell alike asks apart.
func (p *Planner) seesAsks() bool {
	return p.Exempt != nil || p.Predicate != nil || p.Blockers != nil || p.Admit != nil || p.ByPriority
}
