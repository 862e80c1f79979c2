// SPDX-License-Identifier: Apache-2.0

//go:build preempt

package objects

// What the comparison needs, and an embedder does not: the choice between the engines,
// options, counters, and an audit of YuniKorn's own plans.

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	pv "github.com/go-preempt/preempt/victims"
)

// Switches, from the environment.
var (
	EngineNative = os.Getenv("PREEMPT_ENGINE") == "native" // YuniKorn decides by itself
	EngineFresh  = os.Getenv("PREEMPT_MIRROR") == "fresh"  // no kept mirror: each decision makes one
	EngineCheck  = os.Getenv("PREEMPT_CHECK") != ""        // hold the kept mirror to a fresh one
	engineAudit  = os.Getenv("PREEMPT_AUDIT") != ""        // judge every plan
	engineTrace  = os.Getenv("PREEMPT_TRACE") != ""        // write every decision to standard error
)

// Options, from the environment too. What YuniKorn does otherwise: plans with the fewest
// victims, then the first node; victims on the ask's node only; daemon sets that take from
// their own application. And two ways to have the leaves of a tenant take from each other
// that has the guarantee: by priority, or by shares of it.
var (
	engineRules  pv.Options
	engineOrder  func(a, b *pv.Cost) int
	engineShares bool
)

func init() {
	for option := range strings.SplitSeq(os.Getenv("PREEMPT_OPTIONS"), ",") {
		switch option {
		case "yunikorn":
			engineRules.VictimsOnNode, engineRules.TakeOwnApplication = true, true
			engineOrder = func(a, b *pv.Cost) int {
				return cmp.Or(cmp.Compare(a.OptedOut, b.OptedOut), cmp.Compare(a.Originators, b.Originators),
					cmp.Compare(a.Victims, b.Victims), cmp.Compare(a.Node, b.Node), a.Compare(b))
			}
		case "branch":
			engineRules.WithinQueue = "branch"
		case "shares":
			engineShares = true
		}
	}
}

// EngineStats counts decisions of either engine.
var EngineStats engineStats

type engineStats struct {
	Decisions, Plans, Victims, QuotaVictims, Errors, Checks, Nanoseconds atomic.Int64

	mutex  sync.Mutex
	counts map[string]int
}

// SetEngineFrequency sets how long YuniKorn waits between two attempts for an ask.
func SetEngineFrequency(d time.Duration) { preemptAttemptFrequency = d }

func (s *engineStats) count(what string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.counts == nil {
		s.counts = make(map[string]int)
	}
	s.counts[what]++
}

// Counts returns how often each thing was counted, and forgets them.
func (s *engineStats) Counts() map[string]int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	counts := s.counts
	s.counts = nil
	return counts
}

func (s *engineStats) decision(start time.Time) {
	s.Decisions.Add(1)
	s.Nanoseconds.Add(int64(time.Since(start)))
}

func (s *engineStats) failed(err error) {
	if engineTrace {
		fmt.Fprintln(os.Stderr, "preempt: "+err.Error())
	}
	s.Errors.Add(1)
	s.count("error: " + err.Error())
}

func (s *engineStats) decided(m *mirror, d *pv.Decision) {
	if engineTrace {
		fmt.Fprintln(os.Stderr, "preempt: "+d.String())
	}
	if d.Outcome == pv.Refused {
		s.count("refused: " + d.Refusal.Reason)
		return
	}
	if len(d.Plan.Victims) > 0 {
		s.planned(m, d)
	}
}

func (s *engineStats) enforced(m *mirror, d *pv.Decision) {
	if engineTrace {
		fmt.Fprintln(os.Stderr, "preempt: "+d.String())
	}
	s.QuotaVictims.Add(int64(len(d.Plan.Victims)))
	s.count("quota: " + d.Enforcement.Result)
}

// planned counts a plan, and what it breaks.
func (s *engineStats) planned(m *mirror, d *pv.Decision) {
	s.Plans.Add(1)
	s.Victims.Add(int64(len(d.Plan.Victims)))
	if !engineAudit {
		return
	}
	auditor := pv.Auditor{Cluster: m.cluster, Options: engineRules}
	broken := make(map[string]bool)
	for _, v := range auditor.Audit(nil, d, time.Now()) {
		broken[v.Law] = true
	}
	for law := range broken {
		s.count("audit: breaks " + law)
	}
	if len(broken) > 0 {
		s.count("audit: unlawful plans")
	}
}

// question returns what an ask is about.
func (p *Preemptor) question() *question {
	q := &question{root: rootOf(p.queue), app: p.application, ask: p.ask, cancelled: make(map[*Allocation]bool)}
	p.iterator.ForEachNode(func(n *Node) bool {
		q.nodes = append(q.nodes, n)
		return true
	})
	return q
}

// TryPreemption takes the place of YuniKorn's method, which is renamed to native….
func (p *Preemptor) TryPreemption() (*AllocationResult, bool) {
	if EngineNative {
		return p.nativeJudged()
	}
	defer EngineStats.decision(time.Now())
	return p.tryLibrary()
}

// GetVictims takes the place of YuniKorn's method.
func (p *PreemptionContext) GetVictims() []*Allocation {
	defer EngineStats.decision(time.Now())
	if EngineNative {
		return p.nativeGetVictims()
	}
	return p.libraryVictims()
}

// tryPreemption takes the place of YuniKorn's method.
func (qpc *QuotaPreemptionContext) tryPreemption() {
	defer EngineStats.decision(time.Now())
	if EngineNative {
		qpc.nativeSurvived()
		return
	}
	qpc.tryLibrary()
}

// nativeJudged lets YuniKorn decide. The mirror is brought up to date before, so that
// the plan is judged by what YuniKorn saw.
func (p *Preemptor) nativeJudged() (*AllocationResult, bool) {
	deciding.Lock()
	defer deciding.Unlock()
	var m *mirror
	if engineAudit {
		var err error
		if m, err = mirrorFor(p.question(), true); err != nil {
			EngineStats.failed(err)
		}
	}
	start := time.Now()
	result, ok := p.nativeTryPreemption()
	EngineStats.decision(start)
	if !ok || m == nil {
		return result, ok
	}
	id, found := m.cluster.LookupNode(result.NodeID)
	if !found {
		return result, ok
	}
	plan := pv.Plan{Ask: m.asked(p.ask, p.queue), Places: []pv.Place{{Node: id}}}
	for key, a := range m.allocs {
		if t, ok := m.cluster.Lookup(key); ok && a.IsPreempted() && m.cluster.State(t) == pv.Running {
			plan.Victims = append(plan.Victims, pv.Victim{Task: t, Key: key})
		}
	}
	slices.SortFunc(plan.Victims, func(a, b pv.Victim) int { return strings.Compare(a.Key, b.Key) })
	EngineStats.planned(m, &pv.Decision{Outcome: pv.Preempts, Plan: plan})
	for _, v := range plan.Victims {
		m.leaving(v)
	}
	return result, ok
}

// nativeSurvived lets YuniKorn enforce a quota. For a parent that is over its max and
// will not be once its leaving pods have gone, version 1.8 follows a nil pointer: the
// scheduler would end there, and the comparison with it.
func (qpc *QuotaPreemptionContext) nativeSurvived() {
	defer func() {
		if what := recover(); what != nil {
			EngineStats.count(fmt.Sprint("YuniKorn panics: ", what))
		}
	}()
	qpc.nativeTryPreemption()
}
