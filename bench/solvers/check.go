// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/bench/solvers/draws"
	"github.com/go-preempt/preempt/bench/solvers/exact"
	"github.com/go-preempt/preempt/bench/solvers/rules"
	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/victims"
)

// Verdicts about a plan, or a refusal, beside what the solver found.
const (
	equal       = "equal"
	worse       = "WORSE" // and nothing was proven
	defect      = "DEFECT"
	missed      = "MISSED A PLAN"
	none        = "no plan, too"
	solverWorse = "SOLVER WORSE" // the model is wrong
	open        = "open"         // the solver found nothing, or nothing as good, in its time
)

// verdict compares levels. at is the first in which they differ.
func verdict(ours, best *rules.Levels, proven bool) (word, at string) {
	for l := range ours {
		if ours[l] == best[l] {
			continue
		}
		at = fmt.Sprintf("%s %d->%d", rules.LevelNames[l], ours[l], best[l])
		switch {
		case best[l] > ours[l]:
			return solverWorse, at
		case proven:
			return defect, at
		}
		return worse, at
	}
	return equal, ""
}

// refused is the verdict about a refusal.
func refused(proven, found bool) string {
	switch {
	case found && proven:
		return defect + ": " + missed
	case found:
		return missed
	}
	return none
}

// told is an outcome's grade of proof.
func told(outcome victims.Outcome, proof victims.Proof, refusal *victims.Refusal) string {
	switch {
	case outcome != victims.Refused:
		return proof.String()
	case refusal.Proven:
		return fmt.Sprint("refusal:", refusal.Reason)
	}
	return fmt.Sprint("refusal?:", refusal.Reason)
}

// ended says what is open about a verdict. What is for want of time is none.
func ended(word string, done bool, t *exact.Tally) string {
	if done && t.Open == 0 {
		return word
	}
	if word == none || word == solverWorse {
		word = open
	}
	if t.Open > 0 {
		return fmt.Sprintf("%s (%d open)", word, t.Open)
	}
	return word + " (time)"
}

// report prints what solvers said that the rules did not bear out.
func (p *program) report(t *exact.Tally) {
	for _, w := range t.Strange {
		p.print("    %s\n", w)
	}
}

// summary counts verdicts.
type summary struct {
	words  []string
	counts map[string]int
}

func (s *summary) add(word string) {
	word, _, _ = strings.Cut(word, " (") // what is open
	if s.counts == nil {
		s.counts = make(map[string]int)
	}
	if s.counts[word] == 0 {
		s.words = append(s.words, word)
	}
	s.counts[word]++
}

func (p *program) total(s *summary) {
	var parts []string
	for _, w := range s.words {
		parts = append(parts, fmt.Sprintf("%s %d", w, s.counts[w]))
	}
	p.print("total: %s\n", strings.Join(parts, ", "))
}

// checkAsks decides asks, and asks solvers for less.
func (p *program) checkAsks() error {
	var sum summary
	err := p.eachAsk(func(family string, d *draws.Ask) error {
		s := d.Subject
		start := cpu()
		s.Decide()
		took := cpu() - start
		dec := &s.Decision
		if dec.Outcome == victims.Fits || dec.Outcome == victims.Waits {
			return nil
		}
		f, err := rules.OfAsk(&s.Planner, &s.Ask, workload.Now)
		if err != nil {
			return err
		}
		if f.Refused != "" {
			return fmt.Errorf("%s: %v", f.Refused, dec.Outcome)
		}
		x := &exact.Ask{Facts: f, Limit: p.limit}
		var ours rules.Levels
		wrong := ""
		if dec.Outcome == victims.Preempts {
			if wrong, err = wrongAsk(s); err != nil {
				return err
			}
			set, err := f.Find(dec.Plan.Victims)
			if err != nil {
				return err
			}
			ours = f.LevelsOf(set)
			if wrong == "" && !p.scratch {
				x.Found, x.Node, x.Set, x.Levels = true, f.At(dec.Plan.Places[0].Node), set, ours
			}
		}
		done := x.Descend(p.budget)
		word, at := "", ""
		switch {
		case wrong != "":
			word = defect + ": " + wrong
		case dec.Outcome == victims.Refused:
			word = refused(dec.Refusal.Proven, x.Found)
		case !x.Found:
			word = solverWorse
		default:
			word, at = verdict(&ours, &x.Levels, dec.Plan.Proof == victims.ProofCost)
		}
		if x.Found && word != equal {
			at += " [" + auditedAsk(s, x) + "]"
		}
		word = ended(word, done, &x.Tally)
		sum.add(word)
		p.print("%s|%s|tasks=%d|rooms=%d|proof=%s|%s|%s|best=%v|planner=%.2fms steps=%d|lps=%d mips=%d %.2fs\n",
			family, d.Name, len(f.Tasks), len(f.Rooms), told(dec.Outcome, dec.Plan.Proof, &dec.Refusal), word, at, x.Levels,
			milliseconds(took), s.Steps(), x.Relaxed, x.Questions, x.Took.Seconds())
		p.report(&x.Tally)
		return nil
	})
	p.total(&sum)
	return err
}

// auditedAsk is what the library's auditor says of a solver's plan.
func auditedAsk(s *workload.Subject, x *exact.Ask) string {
	plan := planOf(s, x.Facts, x.Node, x.Set)
	return audited(auditorOf(&s.Planner).Audit(nil, &victims.Decision{Plan: plan}, workload.Now))
}

// audited says of a solver's plan, which may have victims that can be given back, whether it is
// lawful.
func audited(found []victims.Violation) string {
	minimal := true
	for _, v := range found {
		switch v.Law {
		case "minimal", "helpful":
			minimal = false
		default:
			return "AUDITOR: " + v.String()
		}
	}
	if !minimal {
		return "lawful by the auditor, not minimal"
	}
	return "lawful by the auditor"
}

// checkJobs decides jobs, and asks a solver for less.
func (p *program) checkJobs() error {
	var sum summary
	err := p.eachJob(func(family string, d *draws.Job) error {
		dec, took, err := decide(&d.Planner, &d.Job)
		if err != nil || dec.Outcome == victims.Fits || dec.Outcome == victims.Waits {
			return err
		}
		j, err := rules.OfJob(&d.Planner, &d.Job, workload.Now)
		if err != nil {
			return err
		}
		proof := told(dec.Outcome, dec.Plan.Proof, &dec.Refusal)
		if j.Facts.Refused != "" {
			word := "refused, too"
			if dec.Outcome == victims.Preempts {
				word = defect + ": a plan, but " + j.Facts.Refused
			}
			sum.add(word)
			p.print("%s|%s|proof=%s|%s|\n", family, d.Name, proof, word)
			return nil
		}
		x := &exact.Job{Job: j, Limit: p.limit}
		var ours rules.Placed
		wrong := ""
		last := exact.Excess
		if dec.Outcome == victims.Preempts {
			if wrong, err = wrongJob(d, &dec.Plan); err != nil {
				return err
			}
			ours, _ = j.Read(&dec.Plan)
			if wrong == "" && !p.scratch {
				x.Best, x.Found = ours, true
			}
		} else {
			last = rules.SumPriorities
		}
		if p.last >= 0 {
			last = min(last, p.last)
		}
		greedy := p.greedy(x, &ours, dec.Outcome == victims.Preempts)
		done := x.Descend(last, p.budget)
		word, at := judgeJob(&dec, &ours, x, last, wrong)
		if x.Found && at != "" || word == missed {
			at += " [" + auditedJob(d, x) + "]"
		}
		word = ended(word, done, &x.Tally)
		sum.add(word)
		p.print("%s|%s|proof=%s|%s|%s|ours=%v %.2fh|best=%v %.2fh|%splanner=%.1fms steps=%d|mips=%d open=%d %.1fs\n",
			family, d.Name, proof, word, at, ours.Cost.Levels, ours.Cost.Hours(), x.Best.Cost.Levels, x.Best.Cost.Hours(), greedy,
			milliseconds(took), dec.Plan.Steps, x.Questions, x.Open, x.Took.Seconds())
		p.report(&x.Tally)
		return nil
	})
	p.total(&sum)
	return err
}

// greedy makes the greedy plans and tells them, with +1 if they are dearer than ours in levels
// and -1 if they are cheaper. The solver begins with the best of all.
func (p *program) greedy(x *exact.Job, ours *rules.Placed, planned bool) (text string) {
	for _, byPriority := range []bool{false, true} {
		start := cpu()
		g, ok := exact.Greedy(x.Job, byPriority)
		took := milliseconds(cpu() - start)
		if !ok {
			text += fmt.Sprintf("greedy none %.1fms|", took)
			continue
		}
		word := ""
		if planned {
			word = fmt.Sprintf(" %+d", g.Cost.Levels.Compare(&ours.Cost.Levels))
		}
		text += fmt.Sprintf("greedy %v %.2fh%s %.1fms|", g.Cost.Levels, g.Cost.Hours(), word, took)
		if !p.scratch && (!x.Found || g.Cost.Compare(&x.Best.Cost) < 0) {
			x.Best, x.Found = g, true
		}
	}
	return text
}

// judgeJob is the verdict about a decision on a job.
func judgeJob(dec *victims.Decision, ours *rules.Placed, x *exact.Job, last int, wrong string) (word, at string) {
	switch {
	case wrong != "":
		return defect + ": " + wrong, ""
	case dec.Outcome == victims.Refused:
		return refused(dec.Refusal.Proven, x.Found), ""
	case !x.Found:
		return solverWorse, ""
	}
	word, at = verdict(&ours.Cost.Levels, &x.Best.Cost.Levels, dec.Plan.Proof == victims.ProofCost)
	if at != "" || last < exact.Work {
		return word, at
	}
	c := ours.Cost.Compare(&x.Best.Cost)
	if c == 0 {
		return word, ""
	}
	before, _ := ours.Cost.Excess.Float64()
	after, _ := x.Best.Cost.Excess.Float64()
	at = fmt.Sprintf("work %.1fh->%.1fh excess %.4f->%.4f", ours.Cost.Hours(), x.Best.Cost.Hours(), before, after)
	switch {
	case c < 0:
		return "solver's work or excess is more", at
	case dec.Plan.Proof == victims.ProofCost:
		return defect + ": work or excess", at
	}
	return "more work or excess", at
}

// auditedJob is what the library's auditor says of a solver's plan.
func auditedJob(d *draws.Job, x *exact.Job) string {
	plan := x.Job.Plan(d.Planner.Cluster, &x.Best)
	return audited(auditorOf(&d.Planner).Audit(nil, &victims.Decision{Plan: plan}, workload.Now))
}
