// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"encoding/binary"
	"iter"
	"slices"
	"time"

	"github.com/go-preempt/preempt/resources"
)

// A Pending holds work that waits, asks here and jobs in package jobs, and decides what is
// worth it. It is for schedulers with more asks than room: most of thousands that wait are
// refused, and stay refused until something happens that is enough for them.
//
//	for ask, d := range pending.All(now) {
//		if d.Outcome != victims.Refused {
//			err = cluster.Apply(d.Plan.Change()) // and stop the victims; then Start, and Remove
//		}
//	}
//
// What changes it reads from the cluster ([Help.Worth]). The answers are those of a loop
// that decides all of it each time. Asks that are alike share a refusal: those of one
// queue, priority, class, required node and size, equally allowed to preempt, that hold no
// grant, are past their delays, and of which no application has tasks elsewhere. With
// functions that see the ask (Exempt, Predicate, Blockers) no two are alike.
//
// If work gets a place in another way than in the loop, Add it again. If functions of the
// planner change their answers, or its options change, call
// [Pending.Forget]. One goroutine may use it, with the planner.
type Pending[W, D any] struct {
	// Order is that in which the work is decided; ties, and nil, are in that of adding. Set
	// it before anything waits.
	Order func(a, b *W) int

	kind     Kind[W, D]
	list     []*pendingWork[W, D]
	alike    map[string]*shared[D]
	reserved map[string]bool // who nodes are reserved for
	known    uint64          // the change up to which they are
	text     []byte
	err      error
}

// A Kind says what a [Pending] has to know of the work that it holds.
type Kind[W, D any] struct {
	Cluster *Cluster
	Rules   *Rules // of the planner
	// Differ: functions of the planner other than Rules see the work, so that no two are alike.
	Differ func() bool
	Decide func(dst *D, w *W, now time.Time) error
	Help   func(d *D) *Help // nil if d is no refusal
	// Ask has what the work has in common with an ask, Key the key of one of its tasks.
	Ask func(w *W) Ask
	Key func(w *W, i int) (key string, ok bool)
	// Same appends what makes work alike, but for what Ask says.
	Same func(dst []byte, w *W) []byte
}

// A pendingWork is some work that waits.
type pendingWork[W, D any] struct {
	shared *shared[D] // with those that are alike; nil until it is decided
	own    *shared[D] // if it is like no other
	gone   bool
	late   bool   // its delays were over when bounds and policies last changed at since
	since  uint64 // see late
	key    string
	text   string // all of the work that may matter
	ask    Ask    // of the work
	work   W
}

// A shared is what was last decided about work that is alike.
type shared[D any] struct {
	d       D
	refused bool
	idle    Version // of the cluster for which it was shown not to be worth another try
	at      time.Time
	users   int
	text    string
}

// NewPending returns a queue of asks, for which the planner decides.
func NewPending(p *Planner) *Pending[Ask, Decision] {
	return PendingOf(Kind[Ask, Decision]{
		Cluster: p.Cluster, Rules: &p.Rules, Decide: p.Decide,
		Differ: func() bool { return p.Predicate != nil || p.Blockers != nil },
		Help: func(d *Decision) *Help {
			if d.Outcome != Refused {
				return nil
			}
			return &d.Refusal.Help
		},
		Ask:  func(a *Ask) Ask { return *a },
		Key:  func(a *Ask, i int) (string, bool) { return a.Key, i == 0 },
		Same: func(dst []byte, _ *Ask) []byte { return dst },
	})
}

// PendingOf returns a queue of any kind of work; package jobs has one of jobs.
func PendingOf[W, D any](k Kind[W, D]) *Pending[W, D] {
	return &Pending[W, D]{kind: k, alike: make(map[string]*shared[D])}
}

// Add lets work wait. It takes the place of work with its key. The cost is linear in what
// waits. Do not call it inside of [Pending.All].
func (p *Pending[W, D]) Add(w W) {
	e := &pendingWork[W, D]{work: w}
	p.read(e)
	e.key = e.ask.Key
	p.Remove(e.key)
	at := len(p.list)
	if p.Order != nil {
		at, _ = slices.BinarySearchFunc(p.list, e, func(a, b *pendingWork[W, D]) int {
			if c := p.Order(&a.work, &b.work); c != 0 {
				return c
			}
			return -1 // after its equals
		})
	}
	p.list = slices.Insert(p.list, at, e)
}

// read reads work that has come, or that the caller has had in hand.
func (p *Pending[W, D]) read(e *pendingWork[W, D]) {
	e.ask = p.kind.Ask(&e.work)
	p.text = p.same(p.text[:0], &e.ask, &e.work)
	p.text = append(append(p.text, e.ask.Application...), 0)
	p.text = binary.AppendVarint(binary.AppendVarint(p.text, e.ask.PendingSince.UnixNano()), e.ask.LastAttempt.UnixNano())
	if string(p.text) != e.text {
		p.leave(e)
		e.text, e.late = string(p.text), false
	}
}

// Remove takes work out, for it runs or was given up. If none has the key it does nothing.
func (p *Pending[W, D]) Remove(key string) {
	for _, e := range p.list {
		if e.key == key && !e.gone {
			e.gone = true
			p.leave(e)
		}
	}
}

// Work returns all that waits, in its order.
func (p *Pending[W, D]) Work() iter.Seq[*W] {
	return func(yield func(*W) bool) {
		for _, e := range p.list {
			if !e.gone && !yield(&e.work) {
				return
			}
		}
	}
}

// Forget has everything decided again that waits.
func (p *Pending[W, D]) Forget() {
	for _, e := range p.list {
		p.leave(e)
	}
}

// Last returns the last decision about work, or nil: a refusal is that of work that is
// alike. It is good until the next use.
func (p *Pending[W, D]) Last(key string) *D {
	for _, e := range p.list {
		if e.key == key && !e.gone && e.shared != nil {
			return &e.shared.d
		}
	}
	return nil
}

// Err returns why the last [Pending.All] ended early: an error of the planner.
func (p *Pending[W, D]) Err() error { return p.err }

// All decides at the instant now, in order, what is worth it, and yields it with the
// decision. What it passes over is refused, as in [Pending.Last]. The loop may apply what it
// gets, change the work, and remove any. The cost of what it passes over is a look at each,
// and [Help.Worth] for each that is like none before it.
func (p *Pending[W, D]) All(now time.Time) iter.Seq2[*W, *D] {
	return func(yield func(*W, *D) bool) {
		p.err = nil
		p.list = slices.DeleteFunc(p.list, func(e *pendingWork[W, D]) bool { return e.gone })
		for _, e := range slices.Clone(p.list) {
			if e.gone {
				continue
			}
			p.readReserved()
			s := p.place(e, now)
			if s.refused && !p.worth(s, now) {
				continue
			}
			if p.err = p.kind.Decide(&s.d, &e.work, now); p.err != nil {
				s.refused = false
				return
			}
			if s.refused = p.kind.Help(&s.d) != nil; s.refused {
				s.idle, s.at = p.kind.Cluster.version, now
			}
			goesOn := yield(&e.work, &s.d)
			if !e.gone {
				if p.read(e); e.shared != e.own && p.placed(e) {
					p.leave(e)
				}
			}
			if !goesOn {
				return
			}
		}
	}
}

// worth reports whether to decide again what was refused.
func (p *Pending[W, D]) worth(s *shared[D], now time.Time) bool {
	c := p.kind.Cluster
	if s.idle == c.version && s.at.Equal(now) {
		return false
	}
	if p.kind.Help(&s.d).Worth(c, now) {
		return true
	}
	s.idle, s.at = c.version, now
	return false
}

// place finds with whom some work shares its decision.
func (p *Pending[W, D]) place(e *pendingWork[W, D], now time.Time) *shared[D] {
	a := &e.ask
	if p.alone(a, e, now) {
		if e.shared == nil || e.shared != e.own {
			p.leave(e)
			e.own = new(shared[D])
			e.shared = e.own
		}
		return e.shared
	}
	if e.shared != nil && e.shared != e.own {
		return e.shared
	}
	p.leave(e)
	p.text = p.same(p.text[:0], a, &e.work)
	s := p.alike[string(p.text)]
	if s == nil {
		s = &shared[D]{text: string(p.text)}
		p.alike[s.text] = s
	}
	s.users++
	e.shared = s
	return s
}

// leave forgets what was decided about some work.
func (p *Pending[W, D]) leave(e *pendingWork[W, D]) {
	if s := e.shared; s != nil && s != e.own {
		if s.users--; s.users == 0 {
			delete(p.alike, s.text)
		}
	}
	e.shared, e.own = nil, nil
}

// alone reports whether some work may get another answer than any other.
func (p *Pending[W, D]) alone(a *Ask, e *pendingWork[W, D], now time.Time) bool {
	c, r := p.kind.Cluster, p.kind.Rules
	if r.Exempt != nil || p.kind.Differ() || p.early(e, now) {
		return true
	}
	// Law 3 keeps nobody whom law 7 does not keep, if all of its tasks are in its own leaf.
	if app, there := c.apps.lookup(a.Application); there && app != 0 &&
		(c.homes[app] != a.Queue || r.OwnLeaf != OwnNever || a.RequiredNode != "") {
		return true
	}
	// Who gives it a place has had it in hand, and then it was asked about.
	return (e.shared == nil || e.shared == e.own || len(p.reserved) > 0) && p.placed(e)
}

// early reports whether some work waits for a delay to end.
func (p *Pending[W, D]) early(e *pendingWork[W, D], now time.Time) bool {
	if e.late && e.since == p.kind.Cluster.journal.rest {
		return false
	}
	a, r := &e.ask, p.kind.Rules
	delay := p.kind.Cluster.tree.Policies(a.Queue).PreemptionDelay
	e.late = !now.Before(a.PendingSince.Add(delay)) &&
		(r.Interval <= 0 || a.LastAttempt.IsZero() || !now.Before(a.LastAttempt.Add(r.Interval)))
	e.since = p.kind.Cluster.journal.rest
	return !e.late
}

// placed reports whether a part of some work has a place, or a node is reserved for it.
func (p *Pending[W, D]) placed(e *pendingWork[W, D]) bool {
	for i := 0; ; i++ {
		key, ok := p.kind.Key(&e.work, i)
		if !ok {
			return false
		}
		if p.kind.Cluster.has(key) || p.reserved[key] {
			return true
		}
	}
}

// readReserved reads who nodes are reserved for, if anything has changed.
func (p *Pending[W, D]) readReserved() {
	c := p.kind.Cluster
	if p.reserved != nil && p.known == c.journal.now {
		return
	}
	if p.reserved == nil {
		p.reserved = make(map[string]bool)
	}
	clear(p.reserved)
	p.known = c.journal.now
	for n := range c.nodes {
		if who := c.nodes[n].reservedFor; who != "" {
			p.reserved[who] = true
		}
	}
}

// same appends what makes work alike.
func (p *Pending[W, D]) same(dst []byte, a *Ask, w *W) []byte {
	dst = binary.AppendVarint(dst, int64(a.Queue))
	dst = binary.AppendVarint(dst, int64(a.Priority))
	dst = binary.AppendVarint(dst, int64(a.Class))
	flags := int64(0)
	if a.MayNot {
		flags |= 1
	}
	if a.NonPreemptible {
		flags |= 2
	}
	dst = binary.AppendVarint(dst, flags)
	dst = append(append(dst, a.RequiredNode...), 0)
	return p.kind.Same(AppendSize(dst, a.Size), w)
}

// AppendSize appends amounts, for [Kind].Same.
func AppendSize(dst []byte, size resources.Vector) []byte {
	dst = binary.AppendVarint(dst, int64(len(size)))
	for _, v := range size {
		dst = binary.AppendVarint(dst, v)
	}
	return dst
}
