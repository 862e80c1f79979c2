// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"

	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// Figures are what a replay found out, timings apart: the same for the same
// workload on every machine.
type Figures struct {
	Nodes      int       `json:"nodes"`
	LastSecond int64     `json:"lastSecond"` // in which a pod asked or ended
	Peak       []Peak    `json:"peak"`       // by resource type
	Pods       Pods      `json:"pods"`
	Decisions  Decisions `json:"decisions"`
	Refusals   []Refused `json:"refusals"` // by reason, without those that are none
	Victims    Victims   `json:"victims"`
	Search     Searches  `json:"search"`
	Storm      Storm     `json:"storm"`
	Laws       Laws      `json:"laws"`

	// Under is how long the queues of each tenant that is guaranteed anything
	// were under their guarantee while pods of them waited.
	Under []Under `json:"underGuarantee"`
	// Behind is how far teams were below their fair shares, if they have any.
	Behind []Behind `json:"behindShare,omitempty"`

	hunger  hunger
	tenants [tenants]string // who they are
	reasons []int           // by number of the reason
}

// reasons are the words for why an ask of a replay is refused, in the order in which they
// are told.
var reasons = rulebook.Reasons()

// Peak is the most of a type that was in use at once, without what was leaving.
type Peak struct {
	Type     string `json:"type"`
	Used     int64  `json:"used"`
	Capacity int64  `json:"capacity"`
}

// Under is how long the queues of a tenant were under their guarantee while pods
// of them waited, added up, and what that is without preemption, if it is known.
type Under struct {
	Tenant  string `json:"tenant"`
	Seconds int64  `json:"seconds"`
	Without *int64 `json:"secondsWithoutPreemption,omitempty"`

	tenant int
}

// Pods counts what became of the pods.
type Pods struct {
	All         int `json:"all"`
	Placed      int `json:"placed"` // at least once
	NeverPlaced int `json:"neverPlaced"`
	Stopped     int `json:"stopped"` // as victims, at least once
	Running     int `json:"runningAtTheEnd"`
	Pending     int `json:"pendingAtTheEnd"`
}

// Decisions counts decisions by outcome.
type Decisions struct {
	Fits    int `json:"fits"`
	Waits   int `json:"waits"`
	Plans   int `json:"plans"` // with victims
	Refused int `json:"refused"`
	Starts  int `json:"starts"` // of pods that held a grant
}

// Refused counts the refusals for one reason.
type Refused struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// Victims counts victims: a pod as often as it was one.
type Victims struct {
	All  int `json:"all"`
	Most int `json:"most"` // of one plan
}

// Searches sums up the decisions that looked for victims: those that found some
// and those that found that there are none.
type Searches struct {
	Plans    Search `json:"plans"`
	Refusals Search `json:"refusals"`
}

// Search sums up searches.
type Search struct {
	Count     int   `json:"count"`
	Proven    int   `json:"proven"`
	Steps     int64 `json:"steps"`
	MostSteps int64 `json:"mostSteps"`
}

// Storm is what a watch found out.
type Storm struct {
	Plans    int64 `json:"plans"`
	Bound    int64 `json:"bound"`    // the most that there may be: fixed + restored
	Fixed    int64 `json:"fixed"`    // on a workload of which nothing ends
	Restored int64 `json:"restored"` // by what ended, and by shares that changed
	Broken   int   `json:"broken"`   // plans that made no guarantee better kept, or one worse
}

// Laws counts what audits found.
type Laws struct {
	Audited    int      `json:"audited"`
	Violations int      `json:"violations"`
	First      []string `json:"first,omitempty"`
}

// maxListed is how many violations are listed and not only counted.
const maxListed = 10

// Sound reports whether no law was broken and the bound was kept.
func (f *Figures) Sound() bool {
	return f.Laws.Violations == 0 && f.Storm.Broken == 0 && f.Storm.Plans <= f.Storm.Bound
}

// decided counts a decision.
func (f *Figures) decided(d *victims.Decision, held bool) {
	switch d.Outcome {
	case victims.Fits:
		if held {
			f.Decisions.Starts++
		} else {
			f.Decisions.Fits++
		}
	case victims.Waits:
		f.Decisions.Waits++
	case victims.Preempts:
		f.Decisions.Plans++
		f.Victims.All += len(d.Plan.Victims)
		f.Victims.Most = max(f.Victims.Most, len(d.Plan.Victims))
		f.Search.Plans.add(d.Plan.Proof == victims.ProofCost, d.Plan.Steps)
	case victims.Refused:
		f.Decisions.Refused++
		r := &d.Refusal
		f.reasons[slices.Index(reasons, r.Reason)]++
		if rulebook.ReasonOf(r.Reason).Searched {
			f.Search.Refusals.add(r.Proven, d.Plan.Steps)
		}
	}
}

func (s *Search) add(proven bool, steps int64) {
	s.Count++
	if proven {
		s.Proven++
	}
	s.Steps += steps
	s.MostSteps = max(s.MostSteps, steps)
}

// audited counts the violations of one plan.
func (l *Laws) audited(key string, found []victims.Violation) {
	l.Audited++
	l.Violations += len(found)
	for _, v := range found[:min(len(found), maxListed-len(l.First))] {
		l.First = append(l.First, key+": "+v.String())
	}
}

// compare takes down what a replay of the same workload without preemption
// found out. Both last until a second.
func (f *Figures) compare(without *Figures, until int64) {
	f.hunger.until(until)
	without.hunger.until(until)
	for i := range f.Under {
		seconds := without.hunger.seconds[f.Under[i].tenant]
		f.Under[i].Seconds, f.Under[i].Without = f.hunger.seconds[f.Under[i].tenant], &seconds
	}
	for i := range f.Behind {
		f.Behind[i].Without, f.Behind[i].without = without.Behind[i].Below, without.Behind[i].below
	}
}

// used takes note of what is in use.
func (f *Figures) used(t *queue.Tree) {
	used, leaving := t.Usage(queue.Root), t.Leaving(queue.Root)
	for i := range f.Peak {
		f.Peak[i].Used = max(f.Peak[i].Used, used[i]-leaving[i])
	}
}

// begin takes down what is known before anything happens.
func (f *Figures) begin(c *victims.Cluster) {
	f.Nodes, f.reasons = c.NodeLen(), make([]int, len(reasons))
	for i := range c.Schema().Len() {
		f.Peak = append(f.Peak, Peak{Type: c.Schema().Name(i), Capacity: c.Capacity()[i]})
	}
}

// conclude takes down what is known at the end only.
func (f *Figures) conclude(x *player) {
	for i := range x.pods {
		f.Pods.count(&x.pods[i])
	}
	for r, n := range f.reasons {
		if n > 0 {
			f.Refusals = append(f.Refusals, Refused{reasons[r], n})
		}
	}
	for tenant := range tenants {
		if x.claims(tenant) {
			f.Under = append(f.Under, Under{Tenant: x.tenantName(tenant), Seconds: f.hunger.seconds[tenant], tenant: tenant})
		}
		f.tenants[tenant] = fmt.Sprintf("%s (%s)", x.tenantName(tenant), x.tenantAbout(tenant))
	}
	f.Behind = x.fair.behinds()
	w := x.watch
	f.Storm = Storm{Plans: w.plans, Bound: w.bound(), Fixed: w.fixed, Restored: w.restored, Broken: w.broken}
}

func (c *Pods) count(p *pod) {
	c.All++
	if p.placed {
		c.Placed++
	} else {
		c.NeverPlaced++
	}
	if p.stopped {
		c.Stopped++
	}
	switch p.state {
	case running:
		c.Running++
	case pending:
		c.Pending++
	}
}
