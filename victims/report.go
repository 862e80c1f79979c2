// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/object"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/resources"
)

// Reports are objects for machines: with names instead of rows, which mean nothing outside the
// process, and amounts as quantities by type. They share nothing with the decision.
//
// The words of outcomes, proofs, reasons and rules are stable, and so are the names of members. The
// summary, the cost, and the text of what can be relaxed are for people, and may be improved.

// MarshalJSON returns an object with stable fields and words.
func (d Decision) MarshalJSON() ([]byte, error) { return d.report().MarshalJSON() }

func (d *Decision) report() object.Object {
	if d.enforces() {
		return d.reportEnforcement()
	}
	a, s := &d.Plan.Ask, d.units()
	members := []any{"summary", d.summary(), "outcome", word.Or(d.Outcome)}
	if d.ofGang() {
		members = append(members, "job?", a.Key, "queue?", d.Plan.Path, "priority", a.Priority, "at?", d.Plan.At)
	} else {
		members = append(members, "ask", object.Of(
			"key", a.Key, "name?", a.Name, "application?", a.Application, "queue", d.Plan.Path,
			"resources", vectors.Quantities(s, a.Size), "priority", a.Priority,
		), "at?", d.Plan.At)
	}
	switch d.Outcome {
	case Fits, Waits, Preempts:
		members = append(members, "plan", d.Plan.report(s))
	case Refused:
		members = append(members, "refusal", d.reportRefusal())
	}
	return object.Of(members...)
}

// Summary tells a decision in a line of at most 1 KB, without its end.
func (d Decision) Summary() string { return d.summary() }

func (d *Decision) summary() string {
	line, _, _ := strings.Cut(d.describe(), "\n")
	if p := &d.Plan; d.Outcome == Preempts && len(p.Victims)+len(p.Moves) > 0 {
		switch {
		case d.enforces():
			line += ":"
		case d.ofGang(): // who has a place is not told
			line = line[:strings.LastIndex(line, ":")+1]
		}
		var names []string
		for i := range p.Victims {
			names = append(names, plain.Name(p.Victims[i].Key))
		}
		for i := range p.Moves {
			names = append(names, plain.Name(p.Moves[i].Key)+" to "+plain.Name(p.Moves[i].ToName))
		}
		line += " " + strings.Join(names, ", ")
	}
	return plain.Summary(line)
}

func (p *Plan) report(s *resources.Schema) object.Object {
	var members []any
	gang := len(p.Ask.Members) > 0
	if gang {
		var places []object.Object
		for _, at := range p.Places {
			m := p.Ask.Member(at.Member)
			places = append(places, object.Of("key", m.Key, "node", at.NodeName, "resources", vectors.Quantities(s, m.Size), "further?", at.Extra))
		}
		members = append(members, "placements?", places, "domain?", p.Domain)
	} else {
		members = append(members, "node?", p.place().NodeName)
	}
	var moves []object.Object
	for i := range p.Moves {
		m := &p.Moves[i]
		moves = append(moves, object.Of("key", m.Key, "from", m.FromName, "to", m.ToName, "grant", m.Grant))
	}
	return object.Of(append(members,
		"victims", reportVictims(s, p.Victims, gang), "moves?", moves, "cost", p.Cost.text(len(p.Moves)),
		"lost?", p.Cost.lost(), "overrun?", p.Cost.Overrun, "proof", p.Proof.String(), "ownLeaf?", p.WithinQueue,
		"ends?", rulebook.ReportEndings(s, p.Ends), "steps", p.Steps,
	)...)
}

// lost returns the work lost; nothing without victims.
func (c *Cost) lost() (lost object.Object) {
	if c.Victims > 0 {
		lost = object.Of(
			"work", c.Work.String(), // exactly: more than 64 bits
			"time", c.LostTime.String(), "type?", c.LostType, "amount?", c.lostAmount(),
		)
	}
	return lost
}

// reportVictims returns victims, with their jobs in plans for gangs.
func reportVictims(s *resources.Schema, victims []Victim, ofGang bool) []object.Object {
	all := []object.Object{}
	for i := range victims {
		v, job := &victims[i], ""
		if ofGang {
			job = v.Job
		}
		all = append(all, object.Of(
			"key", v.Key, "name?", v.Name, "queue", v.Path, "node", v.NodeName,
			"resources", vectors.Quantities(s, v.Size), "priority", v.Priority, "rank", v.Rank, "job?", job, "whole?", v.Whole,
			"forNode?", v.ForNode, "forHeadroom?", v.ForHeadroom, "forQuota?", v.ForQuota, "blocks?", v.Blocks,
			"optedOut?", v.OptedOut, "originator?", v.Originator,
		))
	}
	return all
}

func (d *Decision) reportRefusal() object.Object {
	r, s := &d.Refusal, d.units()
	unit := "" // for reasons that speak of a queue
	if r.Queue != "" {
		unit = s.Name(r.Type)
	}
	var breaches []object.Object
	for i := range r.Breaches {
		breaches = append(breaches, r.Breaches[i].report(s))
	}
	counts := make(map[string]int)
	for _, n := range r.Counts {
		counts[n.Rule] = n.Tasks
	}
	members := []any{
		"reason", r.Reason, "also?", r.Also, "ownLeaf?", r.told.OwnLeaf, "queue?", r.Queue, "type?", unit, "breaches?", breaches,
		"noneCounts?", r.told.NoneCounts, "counts?", counts, "protectedBy?", r.ProtectedBy.report(s), "cause?", r.Cause.report(s),
		"uncounted?", d.counts.by != nil,
		"candidates?", r.Candidates, "scarce?", r.ShortBudgets, "filtered?", r.Filtered, "waitsFor?", r.WaitsFor,
	}
	if r.Closest != "" {
		members = append(members, "closest?", r.Closest, "lacks?", vectors.Quantities(s, r.Lacks))
	}
	if d.ofGang() {
		members = append(members, "placeable", r.Placeable, "wanted", r.Wanted, "domain?", r.Domain,
			"domainRoom?", r.told.DomainRoom, "domainLacks?", vectors.Quantities(s, r.Lacks))
	}
	return object.Of(append(members, "retryAt?", r.RetryAt, "help", r.Help.report(), "proven", r.Proven, "steps", d.Plan.Steps)...)
}

// MarshalJSON returns an object with stable fields and words.
func (e Explanation) MarshalJSON() ([]byte, error) { return e.report().MarshalJSON() }

func (e *Explanation) report() object.Object {
	s := e.Decision.units()
	queues, nodes, tasks := []object.Object{}, []object.Object{}, []object.Object{}
	for i := range e.Queues {
		f := &e.Queues[i]
		queues = append(queues, object.Of(
			"queue", f.Queue, "onPath?", f.onPath, "starving?", f.Starving, "fence?", f.fence, "rule?", f.Rule,
			"room?", vectors.Bounds(s, f.Room), "lacks?", vectors.Quantities(s, f.Lacks), "tasks?", f.Tasks, "candidates?", f.Candidates,
		))
	}
	for i := range e.Nodes {
		f := &e.Nodes[i]
		nodes = append(nodes, object.Of(
			"node", f.Node, "verdict", f.Verdict,
			"short?", vectors.Quantities(s, f.Short), "lacks?", vectors.Quantities(s, f.Lacks), "byBound?", f.byBound,
		))
	}
	for _, f := range e.Tasks {
		tasks = append(tasks, object.Of(
			"key", f.Key, "queue", f.queue, "node", f.node,
			"rule?", f.Rule, // none: a candidate
			"victim?", f.Victim,
		))
	}
	var relaxed, members []object.Object
	for i := range e.Relaxations {
		f := &e.Relaxations[i]
		relaxed = append(relaxed, object.Of(
			"rule", f.Rule, "text", f.String(), "key?", f.Key,
			"outcome", word.Or(f.Outcome), "node", f.Place, "members?", f.Members, "victims", f.Victims,
		))
	}
	for i := range e.Members {
		f := &e.Members[i]
		var keys []string
		for _, at := range f.Members {
			keys = append(keys, e.Decision.Plan.Ask.Members[at].Key)
		}
		members = append(members, object.Of("keys", keys, "alone", f.Alone.report()))
	}
	return object.Of(
		"decision", e.Decision.report(), "queues", queues, "nodes", nodes, "tasks", tasks,
		"relaxed?", relaxed, "cutShort?", e.CutShort, "members?", members,
	)
}

// report returns a protector; nothing if there is none.
func (p *Protector) report(s *resources.Schema) (o object.Object) {
	if p.Queue != "" {
		o = object.Of("queue", p.Queue, "type", s.Name(p.Type), "job?", p.Job, "minimum?", p.minimum)
	}
	return o
}

// report returns a cause; nothing if there is none.
func (r *Cause) report(s *resources.Schema) object.Object {
	switch r.Kind {
	case "":
		return ""
	case "no-node":
		return object.Of("kind", r.Kind)
	}
	unit := s.Name(r.Type)
	return object.Of("kind", r.Kind, "type", unit, "most", resources.FormatQuantity(unit, r.Most), "node?", r.Node, "queue?", r.Queue)
}

// text says in a line why it could not run even in an empty cluster; "" if it could.
func (r *Cause) text(s *resources.Schema) string {
	amount := func() string { return vectors.Text(s, r.Type, r.Most) + " " + s.Name(r.Type) }
	switch r.Kind {
	case "no-node":
		return "there is no node that it may use"
	case "too-large":
		return fmt.Sprintf("larger than any node that it may use: %s has %s", plain.Name(r.Node), amount())
	case "above-max":
		return fmt.Sprintf("above the max of %s: %s", plain.Name(r.Queue), amount())
	}
	return ""
}

// A wholeJob is a job that goes as a whole.
type wholeJob struct {
	Job              string
	Minimum, Victims int
}

// noteWhole notes which jobs go as a whole, by name.
func (d *Decision) noteWhole(c *Cluster) {
	all := d.whole
	for i := range d.Plan.Victims {
		v := &d.Plan.Victims[i]
		if !v.Whole {
			continue
		}
		at, ok := slices.BinarySearchFunc(all, v.Job, func(j wholeJob, name string) int { return strings.Compare(j.Job, name) })
		if !ok {
			all = slices.Insert(all, at, wholeJob{Job: v.Job, Minimum: c.MinMembers(v.Job)})
		}
		all[at].Victims++
	}
	d.whole = all
}

func (d *Decision) reportEnforcement() object.Object {
	s, e := d.units(), &d.Enforcement
	amounts := func(v resources.Vector) map[string]string { return vectors.Quantities(s, v) }
	var parts, leaves, stops, jobs []object.Object // what was asked for first, and what leaves give
	for i := range e.Parts {
		p := &e.Parts[i]
		if !resources.IsZero(p.Amount) {
			parts = append(parts, object.Of("queue", p.Queue, "amount", amounts(p.Amount)))
		}
		if p.asked() {
			leaves = append(leaves, object.Of("queue", p.Queue, "asked", amounts(p.Asked), "freed", amounts(p.Freed), "victims", p.Victims))
		}
	}
	for _, o := range e.Obstacles {
		name := s.Name(o.Type)
		stops = append(stops, object.Of("type", name, "rule", o.Rule, "amount", resources.FormatQuantity(name, o.Amount), "queue", o.Queue))
	}
	for _, j := range d.whole {
		jobs = append(jobs, object.Of("job", j.Job, "minimum", j.Minimum, "victims", j.Victims))
	}
	return object.Of(
		"summary", d.summary(), "result", e.Result, "queue", d.Plan.Path, "at?", d.Plan.At, "max", vectors.Bounds(s, e.Max),
		"usage", amounts(e.Usage), "target", amounts(e.Target), "freed", amounts(e.Freed), "shortfall", amounts(e.Shortfall),
		"parts?", parts, "leaves?", leaves, "victims", reportVictims(s, d.Plan.Victims, false), "stops?", stops,
		"grants?", e.Grants, "jobs?", jobs, "overrun?", d.Plan.Cost.Overrun, "proven", e.Proven, "steps", d.Plan.Steps,
	)
}
