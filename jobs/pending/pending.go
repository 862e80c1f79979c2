// SPDX-License-Identifier: Apache-2.0

// Package pending holds asks and jobs that wait, and decides those that are worth it. Use it
// if there are more of them than room: most of thousands that wait are refused, and stay
// refused until something happens that is enough for them.
//
//	waiting := pending.Asks(&planner) // or pending.Jobs
//	waiting.Add(ask)
//	for ask, d := range waiting.All(now) {
//		if d.Outcome != victims.Refused {
//			err = cluster.Apply(d.Plan.Change()) // and stop the victims; then Start, and Remove
//		}
//	}
//
// The answers are those of a loop that decides all that waits each time. What has changed is
// read from the cluster ([victims.Help.Worth]). Asks that are alike share a refusal: those of
// one queue, priority, class, required node and size, equally allowed to preempt, that hold no
// grant, are past their delays, for which no node is reserved, and of which no application has
// tasks elsewhere. Jobs are alike if their members are, too, in their order, and none of them
// has a place. With functions that see the work (Exempt, Predicate, Blockers, Admit,
// ByPriority) no two are alike.
package pending

import (
	"encoding/binary"
	"iter"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/eligible"
	"github.com/go-preempt/preempt/internal/trigger"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A List holds work that waits, and what was last decided about it. If work gets a place in
// another way than in the loop over [List.All], or loses it ([victims.Cluster.RemoveNode]), Add
// it again. If functions of the planner
// change their answers, or its options other than Scarce change, call [List.Forget]. One goroutine may use it,
// with the planner.
type List[W, D any] struct {
	// Order is that in which the work is decided; ties, and nil, are in that of adding. Set
	// it before anything waits.
	Order func(a, b *W) int

	kind     kind[W, D]
	list     []*waiting[W, D]
	alike    map[string]*shared[D]
	reserved map[string]bool // who nodes are reserved for
	known    victims.Version // for which they are
	text     []byte
	err      error
}

// A kind says what a [List] has to know of the work that it holds.
type kind[W, D any] struct {
	cluster *victims.Cluster
	rules   *victims.Options // of the planner
	// differ: functions of the planner other than Exempt see the work, so that no two are alike.
	differ func() bool
	decide func(dst *D, w *W, now time.Time) error
	help   func(d *D) *victims.Help // nil if d is no refusal
	// ask has what the work has in common with an ask, key the key of one of its tasks.
	ask func(w *W) victims.Ask
	key func(w *W, i int) (key string, ok bool)
	// same appends what makes work alike, but for what ask says.
	same func(dst []byte, w *W) []byte
}

// A waiting is some work that waits.
type waiting[W, D any] struct {
	shared *shared[D] // with those that are alike; nil until it is decided
	own    *shared[D] // if it is like no other
	gone   bool
	key    string
	text   string      // all of the work that may matter
	ask    victims.Ask // of the work
	work   W
}

// A shared is what was last decided about work that is alike.
type shared[D any] struct {
	d       D
	refused bool
	counts  resources.Mask  // the types whose guarantees counted
	idle    victims.Version // of the cluster for which it was shown not to be worth another try
	at      time.Time
	users   int
	text    string
}

// Asks returns a list of asks, for which the planner decides.
func Asks(p *victims.Planner) *List[victims.Ask, victims.Decision] {
	return list(kind[victims.Ask, victims.Decision]{
		cluster: p.Cluster, rules: &p.Options, decide: p.Decide,
		differ: func() bool { return p.Predicate != nil || p.Blockers != nil },
		help: func(d *victims.Decision) *victims.Help {
			if d.Outcome != victims.Refused {
				return nil
			}
			return &d.Refusal.Help
		},
		ask:  func(a *victims.Ask) victims.Ask { return *a },
		key:  func(a *victims.Ask, i int) (string, bool) { return a.Key, i == 0 },
		same: func(dst []byte, _ *victims.Ask) []byte { return dst },
	})
}

// list returns an empty list.
func list[W, D any](k kind[W, D]) *List[W, D] {
	return &List[W, D]{kind: k, alike: make(map[string]*shared[D]), reserved: make(map[string]bool)}
}

// Add lets work wait. It takes the place of work with its key. The cost is linear in what
// waits. Do not call it inside of [List.All].
func (p *List[W, D]) Add(w W) {
	e := &waiting[W, D]{work: w}
	p.read(e)
	e.key = e.ask.Key
	p.Remove(e.key)
	at := len(p.list)
	if p.Order != nil {
		at, _ = slices.BinarySearchFunc(p.list, e, func(a, b *waiting[W, D]) int {
			if c := p.Order(&a.work, &b.work); c != 0 {
				return c
			}
			return -1 // after its equals
		})
	}
	p.list = slices.Insert(p.list, at, e)
}

// read reads work that has come, or that the caller has had in hand.
func (p *List[W, D]) read(e *waiting[W, D]) {
	e.ask = p.kind.ask(&e.work)
	p.text = p.same(p.text[:0], &e.ask, &e.work)
	p.text = append(append(p.text, e.ask.Application...), 0)
	p.text = binary.AppendVarint(binary.AppendVarint(p.text, e.ask.PendingSince.UnixNano()), e.ask.LastAttempt.UnixNano())
	if string(p.text) != e.text {
		p.leave(e)
		e.text = string(p.text)
	}
}

// Remove takes work out, for it runs or was given up. If none has the key it does nothing.
func (p *List[W, D]) Remove(key string) {
	for _, e := range p.list {
		if e.key == key && !e.gone {
			e.gone = true
			p.leave(e)
		}
	}
}

// Work returns all that waits, in its order.
func (p *List[W, D]) Work() iter.Seq[*W] {
	return func(yield func(*W) bool) {
		for _, e := range p.list {
			if !e.gone && !yield(&e.work) {
				return
			}
		}
	}
}

// Forget has everything decided again that waits.
func (p *List[W, D]) Forget() {
	for _, e := range p.list {
		p.leave(e)
	}
}

// Last returns the last decision about work, or nil: a refusal is that of work that is
// alike. It is good until the next use.
func (p *List[W, D]) Last(key string) *D {
	for _, e := range p.list {
		if e.key == key && !e.gone && e.shared != nil {
			return &e.shared.d
		}
	}
	return nil
}

// Err returns why the last [List.All] ended early: an error of the planner.
func (p *List[W, D]) Err() error { return p.err }

// All decides at the instant now, in order, what is worth it, and yields it with the
// decision. What it passes over is refused, as in [List.Last]. The loop may apply what it
// gets, change the work, and remove any. The cost of what it passes over is a look at each,
// and [victims.Help.Worth] for each that is like none before it.
func (p *List[W, D]) All(now time.Time) iter.Seq2[*W, *D] {
	return func(yield func(*W, *D) bool) {
		p.err = nil
		p.list = slices.DeleteFunc(p.list, func(e *waiting[W, D]) bool { return e.gone })
		for _, e := range slices.Clone(p.list) {
			if e.gone {
				continue
			}
			p.readReserved()
			s := p.place(e, now)
			if s.refused && !p.worth(s, now) {
				continue
			}
			if p.err = p.kind.decide(&s.d, &e.work, now); p.err != nil {
				s.refused = false
				return
			}
			if s.refused = p.kind.help(&s.d) != nil; s.refused {
				s.idle, s.at, s.counts = p.kind.cluster.Version(), now, p.kind.rules.Counting()
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
func (p *List[W, D]) worth(s *shared[D], now time.Time) bool {
	c := p.kind.cluster
	if s.counts != p.kind.rules.Counting() {
		return true
	}
	if s.idle == c.Version() && s.at.Equal(now) {
		return false
	}
	if p.kind.help(&s.d).Worth(c, now) {
		return true
	}
	s.idle, s.at = c.Version(), now
	return false
}

// place finds with whom some work shares its decision.
func (p *List[W, D]) place(e *waiting[W, D], now time.Time) *shared[D] {
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
func (p *List[W, D]) leave(e *waiting[W, D]) {
	if s := e.shared; s != nil && s != e.own {
		if s.users--; s.users == 0 {
			delete(p.alike, s.text)
		}
	}
	e.shared, e.own = nil, nil
}

// alone reports whether some work may get another answer than any other.
func (p *List[W, D]) alone(a *victims.Ask, e *waiting[W, D], now time.Time) bool {
	c, r := p.kind.cluster, p.kind.rules
	if r.Exempt != nil || p.kind.differ() || p.early(e, now) {
		return true
	}
	// Law 3 keeps nobody whom law 7 does not keep, if all of its tasks are in its own leaf.
	if leaf, runs := c.LeafOf(a.Application); runs &&
		(leaf != a.Queue || eligible.WithinQueue(c.Tree(), a.Queue, r.WithinQueue) != queue.Never || a.RequiredNode != "") {
		return true
	}
	// Who gives it a place has had it in hand, and then it was asked about.
	return (e.shared == nil || e.shared == e.own || len(p.reserved) > 0) && p.placed(e)
}

// early reports whether some work waits for a delay to end.
func (p *List[W, D]) early(e *waiting[W, D], now time.Time) bool {
	gate := trigger.Case{
		Tree: p.kind.cluster.Tree(), Leaf: e.ask.Queue, OnNode: e.ask.RequiredNode != "",
		PendingSince: e.ask.PendingSince, LastAttempt: e.ask.LastAttempt, Interval: p.kind.rules.RetryInterval, Now: now,
	}
	return gate.Early().Obstacle != ""
}

// placed reports whether a part of some work has a place, or a node is reserved for it,
// or for the work by its name.
func (p *List[W, D]) placed(e *waiting[W, D]) bool {
	for i := 0; !p.reserved[e.key]; i++ {
		key, ok := p.kind.key(&e.work, i)
		if !ok {
			return false
		}
		if p.kind.has(key) || p.reserved[key] {
			return true
		}
	}
	return true
}

// has reports whether a task or grant has the key.
func (k *kind[W, D]) has(key string) bool {
	_, runs := k.cluster.Lookup(key)
	_, held := k.cluster.LookupGrant(key)
	return runs || held
}

// readReserved reads who nodes are reserved for, if anything has changed.
func (p *List[W, D]) readReserved() {
	c := p.kind.cluster
	if p.known == c.Version() {
		return
	}
	clear(p.reserved)
	p.known = c.Version()
	for n := range c.Nodes() {
		if who := c.NodeView(n).ReservedFor; who != "" {
			p.reserved[who] = true
		}
	}
}

// same appends what makes work alike.
func (p *List[W, D]) same(dst []byte, a *victims.Ask, w *W) []byte {
	dst = binary.AppendVarint(dst, int64(a.Queue))
	dst = binary.AppendVarint(dst, int64(a.Priority))
	dst = binary.AppendVarint(dst, int64(a.Class))
	flags := int64(0)
	if a.NeverPreempts {
		flags |= 1
	}
	if a.NonPreemptible {
		flags |= 2
	}
	dst = binary.AppendVarint(dst, flags)
	dst = append(append(dst, a.RequiredNode...), 0)
	return p.kind.same(appendSize(dst, a.Size), w)
}

// appendSize appends amounts.
func appendSize(dst []byte, size resources.Vector) []byte {
	dst = binary.AppendVarint(dst, int64(len(size)))
	for _, v := range size {
		dst = binary.AppendVarint(dst, v)
	}
	return dst
}
