// SPDX-License-Identifier: Apache-2.0

package koordinator

import (
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/sat"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// The formulas that admit a job, in their order. See DESIGN.md, Jobs: admission.
const (
	nonPreemptibleMin = "non-preemptible-min" // N + rem <= min, for non-preemptible jobs
	usedMax           = "used-max"            // U + rem <= max, for non-preemptible jobs
	preemptibleMax    = "preemptible-max"     // min(min, NR) + P + rem <= max, for preemptible jobs
)

// An ElasticQuota bounds what jobs of a queue and below may use. Zero has a min of 0 and no max; nil bounds
// nothing.
type ElasticQuota struct {
	Min     resources.Limit  // kept for the non-preemptible, and bounds them; undefined is 0
	Max     resources.Limit  // bounds all; undefined is no bound
	Waiting resources.Vector // asked for by non-preemptible members that wait at or below
}

// Admit is for [victims.Options.Admit]. With U used, N its non-preemptible part, P the rest, NR = N + waiting,
// and rem what is asked for, in types of which that is positive, a job is admitted if
//
//	non-preemptible-min: N + rem <= min, which no victim changes, and
//	used-max:            U + rem <= max, for non-preemptible jobs
//	preemptible-max:     min(min, NR) + P + rem <= max, for others
//
// Breaches have the withheld min(min, NR) and, as used, N, U or P. They come by formula, then type.
func (q *ElasticQuota) Admit(dst resources.Vector, a *victims.Admission) (lacks resources.Vector, refused bool) {
	dst = dst[:0]
	if q == nil {
		return dst, false
	}
	if !a.NonPreemptible {
		return dst, q.check(a, preemptibleMax)
	}
	if q.check(a, nonPreemptibleMin) {
		return dst, true
	}
	from := len(a.Breaches)
	if !q.check(a, usedMax) {
		return dst, false
	}
	dst = rows.Zeros(dst, len(a.Wants))
	for i := range a.Breaches[from:] {
		b := &a.Breaches[from+i]
		dst[b.Type] = b.Over()
	}
	return dst, false
}

// check appends the types in which what is asked for breaks a formula, and reports whether
// there are any.
func (q *ElasticQuota) check(a *victims.Admission, formula string) (broken bool) {
	for t := range resources.Positive(a.Wants).All() {
		least, _ := q.Min.Bound(t)
		most, bounded := q.Max.Bound(t)
		used, n := a.Used.At(t), a.UsedNonPreemptible.At(t)
		b := victims.Breach{Queue: a.Queue, Formula: formula, Type: t, Used: used, Wants: a.Wants[t], Bound: most}
		switch formula {
		case nonPreemptibleMin:
			b.Used, b.Bound, bounded = n, least, true
		case preemptibleMax:
			b.Withheld, b.Used = min(least, sat.Add(n, q.Waiting.At(t))), used-n
		}
		if bounded && b.Over() > 0 {
			a.Breaches, broken = append(a.Breaches, b), true
		}
	}
	return broken
}
