// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/victims"
)

// A timer is a rule that keeps a task until an instant; the zero instant is never.
type timer struct {
	rule        string
	asks, quota bool // whom it keeps tasks from: asks, jobs and moves; quotas
	until       func(j *judge, t *world.Task) (end time.Time, keeps bool)
}

// timers has all of them, in the order in which they count.
var timers = []timer{
	{"refused", false, true, (*judge).refuses},
	{"exempt", true, false, (*judge).young},
	{"exempt", true, false, (*judge).exempts},
}

// timerRules are their words.
func timerRules() (words []string) {
	for _, r := range timers {
		words = append(words, r.rule)
	}
	return words
}

// early returns the first of these rules that keeps a task now, or "".
func (j *judge) early(t *world.Task) (rule string) {
	for _, r := range timers {
		if end, keeps := r.until(j, t); keeps && (end.IsZero() || end.After(j.horizon())) {
			if j.quota != nil && r.quota || j.quota == nil && r.asks {
				return r.rule
			}
		}
	}
	return ""
}

// horizon is until when what ends counts as ended.
func (j *judge) horizon() time.Time {
	if j.o.Ended.After(j.o.Now) {
		return j.o.Ended
	}
	return j.o.Now
}

// wake returns the first end of such a rule at which, all else equal, there is a plan; zero if there is none.
func (j *judge) wake() time.Time {
	return j.firstEnd(func(end time.Time) bool {
		then := *j.o
		then.Ended = end
		_, ok := newJudge(j.w, j.ask, &then).decided()
		return ok
	})
}

// wake is that of the whole job.
func (h *jobJudge) wake() time.Time {
	return h.firstEnd(func(end time.Time) bool {
		then := *h.c
		then.Options.Ended = end
		return newJobJudge(&then).decidedJob()
	})
}

// firstEnd is wake for whoever plans.
func (j *judge) firstEnd(plans func(end time.Time) bool) time.Time {
	var ends []time.Time
	for i := range j.w.Tasks {
		for _, r := range timers {
			if end, keeps := r.until(j, &j.w.Tasks[i]); keeps && r.asks && end.After(j.o.Now) {
				ends = append(ends, end)
			}
		}
	}
	slices.SortFunc(ends, time.Time.Compare)
	for _, end := range slices.Compact(ends) {
		if plans(end) {
			return end
		}
	}
	return time.Time{}
}

// LetAlone counts as one rule all those, one after another, that end by themselves.
func LetAlone(counts []victims.Count) (all []victims.Count) {
	for _, n := range counts {
		if slices.Contains(timerRules(), n.Rule) {
			n.Rule = timers[0].rule
		}
		if last := len(all) - 1; last >= 0 && all[last].Rule == n.Rule {
			all[last].Tasks += n.Tasks
		} else {
			all = append(all, n)
		}
	}
	return all
}

// refuses: it would not stop.
func (j *judge) refuses(t *world.Task) (end time.Time, keeps bool) {
	if j.quota == nil {
		return time.Time{}, false
	}
	end, keeps = j.quota.Refused[t.Key]
	return end, keeps
}

// young: it has run for less time than the nearest queue lets it that says so, as far as that is a duration.
func (j *judge) young(t *world.Task) (end time.Time, keeps bool) {
	for _, q := range world.Up(t.Queue) {
		if least, err := time.ParseDuration(j.queues[q].Properties["preemption.min-runtime"]); err == nil && least >= 0 {
			return t.Scheduled.Add(least), least > 0 && !t.Scheduled.IsZero()
		}
	}
	return time.Time{}, false
}

// exempts: the caller says so.
func (j *judge) exempts(t *world.Task) (end time.Time, keeps bool) {
	end, keeps = j.o.Exempt[t.Key]
	return end, keeps
}
