// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"slices"
	"time"

	"github.com/go-preempt/preempt/victims"
)

// Timings are how long decisions took: not the same twice.
type Timings struct {
	Outcomes []Timing `json:"outcomes"` // those that there were, in the order of kinds
	Slowest  []Slow   `json:"slowest"`
}

// A Timing sums up the decisions of one outcome.
type Timing struct {
	Outcome string        `json:"outcome"`
	Count   int           `json:"count"`
	P50     time.Duration `json:"p50"` // nanoseconds
	P90     time.Duration `json:"p90"`
	P99     time.Duration `json:"p99"`
	Max     time.Duration `json:"max"`
}

// Slow is a decision that took long.
type Slow struct {
	Took    time.Duration `json:"took"` // nanoseconds
	Outcome string        `json:"outcome"`
	Pod     string        `json:"pod"`
	Second  int64         `json:"second"`
	Steps   int64         `json:"steps"`
	Victims int           `json:"victims"`
}

// maxSlowest is how many of the slowest decisions are listed.
const maxSlowest = 5

// A stopwatch collects how long decisions take. Its zero value is ready.
type stopwatch struct {
	took    [][]time.Duration // by kind
	slowest []Slow            // by falling time, the earlier first
}

// Outcomes are told apart by kind: refusals by reason, and what becomes of
// grants from what becomes of pods that have none.
const (
	kindFits = iota
	kindWaits
	kindPlan
	kindStart
	kindRefused // and the reason
)

func kindOf(s *Step) int {
	switch s.Decision.Outcome {
	case victims.Waits:
		return kindWaits
	case victims.Preempts:
		return kindPlan
	case victims.Refused:
		return kindRefused + slices.Index(reasons, s.Decision.Refusal.Reason)
	}
	if s.Held {
		return kindStart
	}
	return kindFits
}

func kindName(kind int) string {
	if kind >= kindRefused {
		return "refused " + reasons[kind-kindRefused]
	}
	return [...]string{kindFits: "fits", kindWaits: "waits", kindPlan: "plan", kindStart: "start"}[kind]
}

// add takes note of a decision.
func (w *stopwatch) add(s *Step) {
	kind := kindOf(s)
	if w.took == nil {
		w.took = make([][]time.Duration, kindRefused+len(reasons))
	}
	w.took[kind] = append(w.took[kind], s.Took)
	at, _ := slices.BinarySearchFunc(w.slowest, s.Took, func(x Slow, took time.Duration) int {
		if x.Took == took {
			return -1
		}
		return cmp.Compare(took, x.Took)
	})
	if at >= maxSlowest {
		return
	}
	slow := Slow{
		Took: s.Took, Outcome: kindName(kind), Pod: s.Decision.Plan.Ask.Key, Second: s.Now,
		Steps: s.Decision.Plan.Steps, Victims: len(s.Decision.Plan.Victims),
	}
	if s.Decision.Outcome == victims.Refused {
		slow.Steps = s.Decision.Plan.Steps
	}
	w.slowest = slices.Insert(w.slowest, at, slow)
	w.slowest = w.slowest[:min(len(w.slowest), maxSlowest)]
}

// timings sums up what was added. It sorts it, too.
func (w *stopwatch) timings() *Timings {
	t := &Timings{Slowest: w.slowest}
	for kind, took := range w.took {
		if len(took) == 0 {
			continue
		}
		slices.Sort(took)
		t.Outcomes = append(t.Outcomes, Timing{
			Outcome: kindName(kind), Count: len(took),
			P50: percentile(took, 50), P90: percentile(took, 90), P99: percentile(took, 99),
			Max: took[len(took)-1],
		})
	}
	return t
}

// percentile returns the smallest of the sorted values, of which there are
// some, that at least p in a hundred do not exceed: the nearest rank.
func percentile[T any](sorted []T, p int) T {
	rank := (len(sorted)*p + 99) / 100
	return sorted[max(rank, 1)-1]
}
