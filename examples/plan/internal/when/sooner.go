// SPDX-License-Identifier: Apache-2.0

package when

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/examples/plan/internal/say"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/resources"
)

// A Sooner is a change after which the request has a place now: it fits, or there
// is a plan for it. The amount is a whole number of units, the largest that people use for which
// one unit less does not do. Both were decided.
type Sooner struct {
	Change string           `json:"change"` // node, guaranteed, max, quota-min, quota-max or budget
	Of     string           `json:"of"`     // the node that it is like, or the queue or budget
	Type   string           `json:"type,omitempty"`
	By     string           `json:"by"`
	Unit   string           `json:"unit"`
	Then   *scenario.Result `json:"then"`
}

// A lever is something that may be changed by an amount of units, at most so much.
type lever struct {
	change, of, kind string
	most             int64
	with             func(by int64) *scenario.Document
}

// sooner tries every lever. An amount is found by bisection between nothing, which
// does not do, and the most. Whether more always does if less does is not certain,
// so the claim is no more than this: the amount does, and one unit less does not.
func (a *again) sooner(w *Waiting) error {
	levers := a.levers(w)
	for i := range levers {
		l := &levers[i]
		by, unit, r, err := a.pull(l, w)
		if errors.Is(err, errEffort) {
			w.Untried = len(levers) - i
			return nil
		}
		if err != nil {
			return err
		}
		if by == 0 {
			continue
		}
		s := Sooner{Change: l.change, Of: l.of, Type: l.kind, By: fmt.Sprint(by), Unit: "1", Then: r}
		if l.kind != "" {
			s.By, s.Unit = resources.FormatQuantity(l.kind, by), resources.FormatQuantity(l.kind, unit)
		}
		w.Sooner = append(w.Sooner, s)
	}
	return nil
}

// pull returns the amount of a lever that does while one unit less does not, or 0.
func (a *again) pull(l *lever, w *Waiting) (by, unit int64, found *scenario.Result, err error) {
	does := func(by int64) (*scenario.Result, error) {
		r, err := a.decide(l.with(by))
		if _, bad := errors.AsType[*scenario.Error](err); bad {
			return nil, nil // bounds that contradict each other help nobody
		}
		if err != nil || !hasPlace(r.Outcome, w.Outcome) {
			return nil, err
		}
		return r, nil
	}
	if l.most <= 0 {
		return 0, 0, nil, nil
	}
	if found, err = does(l.most); err != nil || found == nil {
		return 0, 0, nil, err
	}
	if by, found, err = bisect(0, l.most, found, does); err != nil {
		return 0, 0, nil, err
	}
	for _, unit := range unitsOf(l.kind) {
		round := (by-1)/unit*unit + unit
		if round > l.most {
			continue
		}
		r, err := does(round)
		var less *scenario.Result
		if err == nil && round > unit {
			less, err = does(round - unit)
		}
		switch {
		case errors.Is(err, errEffort):
			return by, 1, found, nil // which holds all the same
		case err != nil:
			return 0, 0, nil, err
		case r != nil && less == nil:
			return round, unit, r, nil
		}
	}
	return by, 1, found, nil
}

// unitsOf returns the units in which people set amounts of a type, the largest first, but for
// the smallest.
func unitsOf(kind string) []int64 {
	switch {
	case resources.FormatQuantity(kind, 1000) == "1":
		return []int64{1000, 100, 10}
	case resources.FormatQuantity(kind, 1<<30) == "1Gi":
		return []int64{1 << 30, 1 << 20, 1 << 10}
	}
	return nil
}

// hasPlace reports whether an outcome gives a place sooner. What waits has a place,
// and only to fit is sooner; what is refused has none.
func hasPlace(now, before scenario.Outcome) bool {
	return now == fitsWord || before == refusedWord && now != refusedWord
}

// levers returns what may be changed: nodes first, then bounds from the leaf upwards,
// then budgets.
func (a *again) levers(w *Waiting) []lever {
	all := a.nodeLevers()
	wants := a.wants()
	for path := w.Queue; path != ""; {
		all = append(all, a.queueLevers(path, wants)...)
		cut := strings.LastIndexByte(path, '.')
		path = path[:max(0, cut)]
	}
	for i := range a.doc.Budgets {
		all = append(all, a.budgetLever(i))
	}
	return all
}

// wants returns what the request asks for of each type.
func (a *again) wants() resources.Vector {
	q := &a.doc.Requests[len(a.doc.Requests)-1]
	if q.Ask != nil {
		return q.Ask.Resources
	}
	var sum resources.Vector
	for i := range q.Job.Members {
		sum = resources.Add(sum, sum, q.Job.Members[i].Resources)
	}
	return sum
}

// nodeLevers returns a lever for each kind of node: those that differ in nothing but
// their names, and in who is there, are of one kind. Of no kind a request can need more
// than a node for each member without a place.
func (a *again) nodeLevers() (all []lever) {
	var kinds []*scenario.Node
	name := "one-more"
	for i := range a.doc.Nodes {
		n := &a.doc.Nodes[i]
		for strings.HasPrefix(n.Name, name) {
			name += "-"
		}
		alike := func(k *scenario.Node) bool {
			return resources.Equal(k.Capacity, n.Capacity) && maps.Equal(k.Labels, n.Labels) && slices.Equal(k.Domains, n.Domains)
		}
		if !n.Unschedulable && !slices.ContainsFunc(kinds, alike) {
			kinds = append(kinds, n)
		}
	}
	most := int64(1)
	if job := a.doc.Requests[len(a.doc.Requests)-1].Job; job != nil {
		most = 0
		for i := range job.Members {
			if job.Members[i].Node == "" {
				most++
			}
		}
	}
	for _, k := range kinds {
		all = append(all, lever{change: "node", of: k.Name, most: most, with: func(by int64) *scenario.Document {
			doc := *a.doc
			doc.Nodes = slices.Clone(doc.Nodes)
			for i := range by {
				more := *k
				more.Name, more.ReservedFor = name, ""
				if i > 0 {
					more.Name += fmt.Sprint("-", i+1)
				}
				doc.Nodes = append(doc.Nodes, more)
			}
			return &doc
		}})
	}
	return all
}

// queueLevers returns the levers of a queue: what bounds it of the types that are
// wanted. Guarantees may become as large as the max, and everything as large as all
// nodes together.
func (a *again) queueLevers(path string, wants resources.Vector) (all []lever) {
	q := queueAt(&a.doc.Root, path)
	bound := func(change string, kind int, l resources.Limit, most int64, put func(*scenario.Document, resources.Limit)) {
		base, _ := l.Bound(kind)
		all = append(all, lever{change: change, of: path, kind: a.doc.Schema.Name(kind), most: most - base,
			with: func(by int64) *scenario.Document {
				doc := *a.doc
				put(&doc, withBound(l, kind, base+by))
				return &doc
			}})
	}
	for kind := range resources.Positive(wants).All() {
		most := a.mostOf(kind, wants)
		ceiling := most
		if m, bounded := q.Max.Bound(kind); bounded {
			ceiling = min(most, m)
		}
		if !a.doc.Options.FairShares {
			bound("guaranteed", kind, q.Guaranteed, ceiling, func(d *scenario.Document, l resources.Limit) {
				d.Root = withQueue(d.Root, path, func(q *scenario.Queue) { q.Guaranteed = l })
			})
		}
		if _, bounded := q.Max.Bound(kind); bounded {
			bound("max", kind, q.Max, most, func(d *scenario.Document, l resources.Limit) {
				d.Root = withQueue(d.Root, path, func(q *scenario.Queue) { q.Max = l })
			})
		}
		for i := range a.doc.Quotas {
			quota := &a.doc.Quotas[i]
			if quota.Queue != path {
				continue
			}
			put := func(set func(*scenario.Quota, resources.Limit)) func(*scenario.Document, resources.Limit) {
				return func(d *scenario.Document, l resources.Limit) {
					d.Quotas = slices.Clone(d.Quotas)
					set(&d.Quotas[i], l)
				}
			}
			bound("quota-min", kind, quota.Min, most, put(func(q *scenario.Quota, l resources.Limit) { q.Min = l }))
			if _, bounded := quota.Max.Bound(kind); bounded {
				bound("quota-max", kind, quota.Max, most, put(func(q *scenario.Quota, l resources.Limit) { q.Max = l }))
			}
		}
	}
	return all
}

// mostOf returns an amount that no bound needs to exceed: all that nodes have, all
// that tasks use, and what is asked for, up to half of what an int64 holds.
func (a *again) mostOf(kind int, wants resources.Vector) int64 {
	sum := wants.At(kind)
	add := func(v int64) { sum += min(v, max(0, math.MaxInt64/2-sum)) }
	for i := range a.doc.Nodes {
		add(a.doc.Nodes[i].Capacity.At(kind))
	}
	for i := range a.doc.Tasks {
		add(a.doc.Tasks[i].Resources.At(kind))
	}
	for i := range a.doc.Grants {
		add(a.doc.Grants[i].Resources.At(kind))
	}
	return sum
}

// budgetLever returns the lever of a budget: as many more as there are tasks.
func (a *again) budgetLever(i int) lever {
	left := max(0, a.doc.Budgets[i].Left)
	return lever{
		change: "budget", of: a.doc.Budgets[i].Name, most: min(int64(len(a.doc.Tasks)), math.MaxInt64-left),
		with: func(by int64) *scenario.Document {
			doc := *a.doc
			doc.Budgets = slices.Clone(doc.Budgets)
			doc.Budgets[i].Left = left + by
			return &doc
		},
	}
}

// queueAt returns the queue of a path, which is there.
func queueAt(root *scenario.Queue, path string) *scenario.Queue {
	_, rest, more := strings.Cut(path, ".")
	if !more {
		return root
	}
	name, _, _ := strings.Cut(rest, ".")
	i := slices.IndexFunc(root.Children, func(q scenario.Queue) bool { return q.Name == name })
	return queueAt(&root.Children[i], rest)
}

// withQueue returns a tree with one queue of it changed; the given one stays as it is.
func withQueue(root scenario.Queue, path string, set func(*scenario.Queue)) scenario.Queue {
	_, rest, more := strings.Cut(path, ".")
	if !more {
		set(&root)
		return root
	}
	name, _, _ := strings.Cut(rest, ".")
	root.Children = slices.Clone(root.Children)
	i := slices.IndexFunc(root.Children, func(q scenario.Queue) bool { return q.Name == name })
	root.Children[i] = withQueue(root.Children[i], rest, set)
	return root
}

// withBound returns a limit that bounds a type by an amount.
func withBound(l resources.Limit, kind int, amount int64) resources.Limit {
	value := make(resources.Vector, max(kind+1, len(l.Value)))
	copy(value, l.Value)
	value[kind] = amount
	return resources.Limit{Value: value, Defined: l.Defined | 1<<kind}
}

// Write writes what was found about a request.
func (w *Waiting) Write(out io.Writer) {
	what := string(w.Outcome)
	if w.Reason != "" {
		what += ", " + w.Reason
	}
	fmt.Fprintf(out, "request %d: %s in %s: %s\n", w.Request, plain.Name(w.Key), plain.Name(w.Queue), what)
	fmt.Fprintf(out, "  when: %s\n", w.Starts())
	if len(w.Sooner) == 0 {
		fmt.Fprintln(out, "  sooner: no single change was found that gives it a place now")
	} else {
		fmt.Fprintln(out, "  sooner: any one of these gives it a place now, and one unit less does not")
		t := say.NewTable(out, "    ", "change", "of", "by", "unit", "then")
		for i := range w.Sooner {
			s := &w.Sooner[i]
			t.Row(s.What(), plain.Name(s.Of), "+"+s.By, s.Unit, say.Result(s.Then))
		}
		t.End()
	}
	for _, note := range w.Notes() {
		fmt.Fprintf(out, "  %s\n", note)
	}
}

// Starts says when a request starts.
func (w *Waiting) Starts() string {
	s := w.Start
	if s == nil {
		return "unknown: " + w.NoStart
	}
	names := make([]string, len(s.Gone))
	for i, key := range s.Gone {
		names[i] = plain.Name(key)
	}
	place := say.Result(&scenario.Result{Outcome: "fits", Node: s.Node, Placements: s.Placements})
	return fmt.Sprintf("in %s, at %s, if nobody else starts before: %s, after %s",
		s.After, s.At.Format(time.RFC3339Nano), place, say.Some(names))
}

// Notes says what the answer leaves out.
func (w *Waiting) Notes() (all []string) {
	if w.Untried > 0 {
		all = append(all, fmt.Sprintf("%s not tried: the search ended after %d decisions", say.Counted(w.Untried, "other change"), w.decisions))
	}
	for _, u := range w.Unsaid {
		all = append(all, "decided without: "+plain.Line(u))
	}
	return all
}

// What says in words what is changed.
func (s *Sooner) What() string {
	words := map[string]string{
		"node": "nodes like", "guaranteed": "guaranteed", "max": "max", "quota-min": "quota min", "quota-max": "quota max", "budget": "budget",
	}
	return strings.TrimSpace(words[s.Change] + " " + plain.Line(s.Type))
}
