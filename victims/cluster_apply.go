// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"time"

	"github.com/go-preempt/preempt/resources"
)

// ErrNothingApplied is returned by [Cluster.Undo] if it has nothing to undo.
var ErrNothingApplied = errors.New("nothing applied")

// A Change is what a plan of any kind does to a cluster: it marks victims and grants
// places.
type Change struct {
	For     string  // what it is for, for messages
	Version Version // of the cluster that it was made for; zero is that of no plan
	// At is when the grants are given, for [Cluster.Waiting] to tell; zero: not known.
	At      time.Time
	Victims []Victim
	Grants  []Grant
	Sequel  Sequel // of a plan of a batch
}

// A Grant is a place for an ask.
type Grant struct {
	Ask  *Ask
	Node NodeID
}

// Change returns what the plan does to a cluster, for [Cluster.Apply]. It shares
// memory with the plan. That of a refusal cannot be applied.
func (p *Plan) Change() Change {
	return Change{
		For: p.Ask.Key, Version: p.Version, Victims: p.Victims, Grants: []Grant{{Ask: &p.Ask, Node: p.Node}}, At: p.At, Sequel: p.Sequel,
	}
}

// Apply carries a change out, all or nothing: victims are marked as preempting and
// taken off their budgets, and asks are granted their nodes. Grants count as usage
// until [Cluster.Start] or [Cluster.Drop]; victims stay until [Cluster.RemoveTask].
//
// Errors wrap [ErrState] for the change of a refusal, [ErrStale] for one of another
// version, and [ErrForeign] for one of another cluster. Others name a victim that does
// not run or is named twice, or an ask that cannot be granted its node. Whether a
// change is lawful is not asked; see [Auditor].
func (c *Cluster) Apply(ch Change) error {
	switch v := ch.Version; {
	case v.IsZero():
		return fmt.Errorf("victims: plan for %q: %w: there is none", ch.For, ErrState)
	case v.line != c.version.line && v.line != c.line:
		return fmt.Errorf("victims: plan for %q made for version %v of: %w", ch.For, v, ErrForeign)
	case v != c.version:
		return fmt.Errorf("victims: plan for %q made for version %v, not %v: %w", ch.For, v, c.version, ErrStale)
	}
	// Marks and grants are made one by one. If one fails, these numbers say
	// what to take back.
	marked, granted := len(c.marked), len(c.granted)
	// Before anything is changed, for it may fail.
	since, hasSince, err := stamp(ch.At, flagScheduled)
	if err != nil {
		return fmt.Errorf("victims: plan for %q: %w", ch.For, err)
	}
	err = c.mark(&ch)
	if err == nil {
		err = c.grant(&ch)
	}
	if err != nil {
		c.takeBack(marked, granted)
		return err
	}
	// The grants wait for exactly these victims, whatever else leaves.
	c.await(&ch, c.marked[marked:], c.granted[granted:])
	for _, id := range c.granted[granted:] {
		g := c.grantOf(id)
		g.since, g.dated = since, hasSince != 0
	}
	c.note(&ch, marked, granted)
	return nil
}

// mark marks the victims of a change. It stops at the first that is none.
func (c *Cluster) mark(ch *Change) error {
	for i := range ch.Victims {
		v := &ch.Victims[i]
		if err := c.checkVictim(v); err != nil {
			// It is in the state "preempting" because the same plan named it
			// before. The true reason is the better error.
			if slices.ContainsFunc(ch.Victims[:i], func(u Victim) bool { return u.Task == v.Task }) {
				err = ErrDuplicate // and therefore marked
			}
			return fmt.Errorf("victims: plan for %q: victim %q: %w", ch.For, v.Key, err)
		}
		c.setState(v.Task, Preempting)
		c.spend(v.Task, 1)
		c.marked = append(c.marked, v.Task)
	}
	return nil
}

// checkVictim reports a victim that is no running task.
func (c *Cluster) checkVictim(v *Victim) error {
	if !c.isRow(v.Task) {
		return fmt.Errorf("row %d: %w", v.Task, ErrUnknown)
	}
	switch r := &c.tasks[v.Task]; {
	case r.key != v.Key:
		return fmt.Errorf("row %d is %q: %w", v.Task, r.key, ErrUnknown)
	case r.state != Running:
		return fmt.Errorf("state %v: %w", r.state, ErrState)
	}
	return nil
}

// grant grants the asks of a change their nodes, but for those that hold that
// very grant. It stops at the first that cannot be granted.
func (c *Cluster) grant(ch *Change) error {
	for _, g := range ch.Grants {
		if id, held := c.LookupGrant(g.Ask.Key); held {
			r := &c.tasks[id]
			// The ask was promised another place in the meantime, by someone
			// else.
			if r.node != g.Node || r.leaf != g.Ask.Queue || !resources.Equal(c.size(id), g.Ask.Size) {
				return fmt.Errorf("victims: plan for %q: grant of %q: it holds another one, on node %q: %w",
					ch.For, g.Ask.Key, c.nodes[r.node].name, ErrState)
			}
			continue
		}
		t := g.Ask.task(g.Node)
		id, err := c.insert(&t)
		if err != nil {
			return err
		}
		c.granted = append(c.granted, id)
	}
	return nil
}

// ApplyBatch carries out what [Planner.Batch] has decided, all or nothing and as one
// change. Refusals, and asks that fit by the grant that they hold, are passed over.
// Errors are those of [Cluster.Apply], with the number of the decision.
func (c *Cluster) ApplyBatch(ds []Decision) error {
	// Each plan is applied as if alone, so that errors are the same. Only the
	// way back is joined.
	first := len(c.applied)
	for i := range ds {
		if _, held := c.LookupGrant(ds[i].Plan.Ask.Key); held || ds[i].Outcome == Refused {
			continue
		}
		if err := c.Apply(ds[i].Plan.Change()); err != nil {
			for len(c.applied) > first {
				must(c.Undo())
			}
			return fmt.Errorf("%w (decision %d of %d)", err, i+1, len(ds))
		}
	}
	c.merge(first)
	return nil
}

// Undo takes the last applied change back that was not undone, version included. Any
// other change makes what was applied before it final: then the error wraps
// [ErrNothingApplied].
func (c *Cluster) Undo() error {
	last := len(c.applied) - 1
	if last < 0 {
		return fmt.Errorf("victims: undo: %w", ErrNothingApplied)
	}
	a := c.applied[last]
	c.applied = c.applied[:last]
	c.takeBack(len(c.marked)-a.victims, len(c.granted)-a.grants)
	c.version = a.before
	return nil
}

// takeBack takes the marks and grants of changes back but for the oldest ones,
// newest first, so that rows are free in the order they were before.
func (c *Cluster) takeBack(marked, granted int) {
	for len(c.granted) > granted {
		last := len(c.granted) - 1
		// Grants before marks, since they came after them.
		c.delete(c.granted[last])
		c.granted = c.granted[:last]
	}
	for _, id := range c.marked[marked:] {
		c.setState(id, Running)
		c.spend(id, -1)
	}
	c.marked = c.marked[:marked]
}

// A Version identifies a state of a cluster. Every change gives a new one, and undoing
// brings the old one back. No two clusters share one, except a clone and its original
// until either changes. Compare with ==. The zero Version is that of no plan. See
// DESIGN.md, Identity.
type Version struct {
	line   *line
	number uint64
}

// A line is the states that a cluster has by its own changes. One differs from another
// by its place in memory.
type line struct {
	seed maphash.Seed // of the seals of its sequels
}

// IsZero reports whether the version is that of no cluster.
func (v Version) IsZero() bool { return v == Version{} }

// Equal reports whether two versions are the same.
func (v Version) Equal(w Version) bool { return v == w }

// String returns the number of the version, which grows with changes.
func (v Version) String() string { return strconv.FormatUint(v.number, 10) }

// A history tells the states of a cluster apart, and has what leads back from the
// present one: the changes that were applied since the last other change.
type history struct {
	line     *line   // the cluster's identity
	version  Version // of the present state; equal versions are equal states
	versions uint64  // the largest number of a version given so far

	applied []appliedChange // oldest first
	marked  []TaskID        // the victims of all of them, oldest first
	granted []TaskID        // their grants, likewise
}

// appliedChange is what is needed to undo a change.
type appliedChange struct {
	before  Version // the version to come back to
	victims int     // how many of history.marked are its
	grants  int     // how many of history.granted are its
}

func newLine() *line { return &line{seed: maphash.MakeSeed()} }

func newHistory() history {
	line := newLine()
	return history{line: line, version: Version{line, 1}, versions: 1}
}

// Version identifies the present state.
func (h *history) Version() Version { return h.version }

// next returns a version that no state has had.
func (h *history) next() Version {
	h.versions++
	return Version{h.line, h.versions}
}

// changed gives the cluster a version of its own and forgets what could be undone.
func (h *history) changed() {
	h.version = h.next()
	h.final()
}

// final forgets what could be undone.
func (h *history) final() {
	h.applied = h.applied[:0]
	h.marked = h.marked[:0]
	h.granted = h.granted[:0]
}

// note notes that a change was applied just now, which has marked and granted what
// was added to the lists since they were so long.
func (h *history) note(ch *Change, marked, granted int) {
	h.applied = append(h.applied, appliedChange{
		before: h.version, victims: len(h.marked) - marked, grants: len(h.granted) - granted,
	})
	h.version = h.after(ch)
}

// merge makes the changes from one on a single one, which is undone as a whole.
func (h *history) merge(first int) {
	for len(h.applied) > first+1 {
		last := len(h.applied) - 1
		h.applied[first].victims += h.applied[last].victims
		h.applied[first].grants += h.applied[last].grants
		h.applied = h.applied[:last]
	}
}

// follow gives a cluster the state of another one, of which it is a copy now.
func (h *history) follow(from *history) {
	if h.line == nil {
		h.line = newLine()
	}
	h.version = from.version
	h.versions = max(h.versions, from.versions) // no number of its own twice
	h.final()
}

// A Sequel lets the plans of a batch follow each other; see [Planner.Batch].
type Sequel struct {
	version Version
	seal    uint64
}

// Equal reports whether two sequels are the same.
func (s Sequel) Equal(o Sequel) bool { return s == o }

// after returns the version of the state to which a change leads that was applied
// just now: a new one, unless its batch has been there before.
func (h *history) after(ch *Change) Version {
	if s := ch.Sequel; !s.version.IsZero() && s.seal == s.version.line.sealOf(ch) {
		return s.version
	}
	return h.next()
}

// sealOf returns a fingerprint of all of a change of which a cluster takes notice. It
// finds out that a plan was changed by mistake.
func (l *line) sealOf(ch *Change) uint64 {
	h := seal{}
	h.SetSeed(l.seed)
	h.numbers(ch.At.Unix(), int64(ch.At.Nanosecond()), int64(len(ch.Victims)))
	for i := range ch.Victims {
		h.numbers(int64(ch.Victims[i].Task))
	}
	for _, g := range ch.Grants {
		a := g.Ask
		h.texts(a.Key, a.Name, a.Application, a.Job)
		h.numbers(
			int64(a.Tag), int64(a.Queue), int64(g.Node), int64(a.Priority), a.Cost,
			a.PendingSince.Unix(), int64(a.PendingSince.Nanosecond()), int64(len(a.Budgets)), int64(len(a.Size)),
		)
		for _, flag := range [...]bool{a.Originator, a.OptedOut, a.RequiredNode != "", a.NonPreemptible} {
			if flag {
				h.WriteByte(1) // which cannot fail
			} else {
				h.WriteByte(0)
			}
		}
		h.texts(a.Budgets...)
		h.numbers(a.Size...)
	}
	return h.Sum64()
}

// A seal is a fingerprint that is being taken.
type seal struct{ maphash.Hash }

func (s *seal) numbers(list ...int64) {
	var word [8]byte
	for _, v := range list {
		binary.LittleEndian.PutUint64(word[:], uint64(v))
		s.Write(word[:])
	}
}

// texts adds texts, each after its length.
func (s *seal) texts(list ...string) {
	for _, text := range list {
		s.numbers(int64(len(text)))
		s.WriteString(text)
	}
}
