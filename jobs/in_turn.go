// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"slices"
	"time"

	"github.com/go-preempt/preempt/victims"
)

// A turn is what was decided about an ask by itself: a part for the cluster with those
// before it applied, or a refusal.
type turn struct {
	Part
	refusal *Refusal
	second  bool // it is served by the stage of the own leaf, which is not for plans that are shared
}

func (t *turn) served() bool { return t.refusal == nil }

// takeTurns decides all asks one after another, each for the cluster with those before it
// applied, and takes that back.
func (j *joiner) takeTurns() error {
	j.turns = make([]turn, len(j.dst.Asks))
	since := 0 // those from here on have seen the same cluster
	for i := range j.turns {
		t := &j.turns[i]
		if j.inFlight(i) {
			t.refusal = &Refusal{Cause: victims.Cause{Reason: victims.InFlight, Proven: true}}
			continue
		}
		if same := j.turnAlike(since, i); same >= 0 {
			t.refusal = j.turns[same].refusal
			continue
		}
		var err error
		if *t, err = j.alone(i); err != nil {
			return err
		}
		if t.served() {
			since = i + 1
			if err := j.apply([]Part{t.Part}); err != nil {
				return err
			}
		}
	}
	j.retreat(0)
	if j.most == 0 {
		j.most = max(4*j.spent, JointSteps)
	}
	return nil
}

// inFlight reports whether an ask holds a grant that is none of this call.
func (j *joiner) inFlight(i int) bool {
	if t := &j.turns[i]; t.refusal != nil {
		return t.refusal.Reason == victims.InFlight
	}
	_, held := j.p.Cluster.LookupGrant(j.dst.Asks[i].Key)
	return held
}

// turnAlike returns an ask that its turn refused, from one on, of which all is the same
// that matters, or -1.
func (j *joiner) turnAlike(from, ask int) int {
	for i := from; i < ask; i++ {
		if j.turns[i].refusal.Reason != victims.InFlight && shares(&j.dst.Asks[i], &j.dst.Asks[ask]) && j.alike(i, ask) {
			return i
		}
	}
	return -1
}

// preferTurns makes the turns the answer if they serve the same asks for less. Each part
// costs no more than its asks in turn, but those after it might.
func (j *joiner) preferTurns() {
	served := 0
	var parts []Part
	for i := range j.turns {
		t := &j.turns[i]
		if !t.served() {
			continue
		}
		if t.Plan.OwnLeaf && !j.p.ByPriority {
			return // who shares a plan takes from others first
		}
		parts = append(parts, t.Part)
		served++
	}
	if !j.strayed || served+len(j.dst.Refused) != len(j.turns) ||
		slices.ContainsFunc(j.dst.Refused, func(r RefusedAsk) bool { return j.turns[r.Ask].served() }) ||
		!dearer(j.dst.Parts, parts) {
		return
	}
	j.retreat(0)
	if err := j.apply(parts); err != nil {
		panic(err) // they were applied before
	}
	j.dst.Refused = j.dst.Refused[:0]
	for i := range j.turns {
		if t := &j.turns[i]; !t.served() {
			j.refuse(i, t.refusal)
		}
	}
}

// dearer reports whether parts cost more than others in the levels before the excess.
func dearer(parts, others []Part) bool {
	a, b := levelsOf(parts), levelsOf(others)
	switch {
	case a.Victims == 0:
		return false // whatever a highest rank of none is
	case b.Victims == 0:
		return true
	}
	return a.Compare(&b) > 0
}

// levelsOf sums up the costs of parts in the levels before the excess. Victims of parts
// are different tasks, so that all but the highest are sums. A job that two parts stop
// counts twice, and then the sum is too high.
func levelsOf(parts []Part) (sum victims.Cost) {
	for i := range parts {
		c := &parts[i].Plan.Cost
		if c.Victims == 0 {
			continue
		}
		if sum.Victims == 0 {
			sum.MaxRank, sum.MaxPriority = c.MaxRank, c.MaxPriority
		}
		sum.MaxRank, sum.MaxPriority = max(sum.MaxRank, c.MaxRank), max(sum.MaxPriority, c.MaxPriority)
		sum.OptedOut += c.OptedOut
		sum.Overrun += c.Overrun
		sum.Originators += c.Originators
		sum.Jobs += c.Jobs
		sum.Own = sum.Own.Add(c.Own)
		sum.Victims += c.Victims
		sum.SumRanks += c.SumRanks
		sum.SumPriorities += c.SumPriorities
	}
	return sum
}

// alone decides an ask by itself, for the cluster as it is: by the planner of asks if that
// knows all rules, else as a job of one member.
func (j *joiner) alone(i int) (turn, error) {
	steps := j.steps
	if steps > 0 {
		steps = max(1, steps/int64(4*len(j.dst.Asks)))
	}
	if !j.asAsks {
		return j.asJob(i, steps)
	}
	t, err := j.asAsk(i, steps, victims.OwnNever)
	if err == nil && !t.served() && j.own != victims.OwnNever {
		t, err = j.asAsk(i, steps, j.own)
		t.second = t.served()
	}
	return t, err
}

// asJob decides an ask as a job of one member.
func (j *joiner) asJob(i int, steps int64) (turn, error) {
	j.describe([]int{i})
	p := j.p
	p.OwnLeaf, p.inOrder, p.hasty, p.Steps = j.own, true, false, steps
	err := p.Decide(&j.trial, &j.job, j.now)
	j.spent += p.d.effort.steps() + int64(p.Cluster.NodeLen())
	if err != nil {
		return turn{}, err
	}
	if j.trial.Outcome == victims.Refused {
		if err := j.trial.Count(); err != nil {
			panic(err) // somebody else changes the cluster
		}
		r := j.trial.Refusal
		j.trial = Decision{}
		return turn{refusal: &r}, nil
	}
	t := turn{Part: j.taken([]int{i})}
	t.second = t.Plan.OwnLeaf && !p.ByPriority
	return t, nil
}

// asAsk decides an ask as the planner of asks does.
func (j *joiner) asAsk(i int, steps int64, own victims.OwnLeaf) (turn, error) {
	p, ask, d := &j.p.asks, &j.dst.Asks[i], new(victims.Decision)
	p.Cluster, p.Rules, p.Steps, p.Stop = j.p.Cluster, j.p.Rules, steps, j.p.Stop
	p.OwnLeaf, p.SameNode = own, false // jobs know no such option
	if err := p.Decide(d, ask, j.now); err != nil {
		return turn{}, err
	}
	for _, v := range d.Plan.Victims {
		if j.spares(ask, v.Task) {
			// It is decided anew without such tasks. They are rare, and most asks meet none.
			p.Exempt = func(e victims.Exemption) (until time.Time, exempt bool) {
				if j.spares(ask, e.Task) {
					return time.Time{}, true
				}
				if j.p.Exempt == nil {
					return time.Time{}, false
				}
				return j.p.Exempt(e)
			}
			if err := p.Decide(d, ask, j.now); err != nil {
				return turn{}, err
			}
			break
		}
	}
	j.spent += d.Plan.Steps + d.Refusal.Steps + int64(p.Cluster.NodeLen())
	if d.Outcome == victims.Refused {
		if err := d.Count(); err != nil {
			panic(err) // somebody else changes the cluster
		}
		return turn{refusal: &Refusal{Cause: d.Refusal.Cause, Wanted: 1}}, nil
	}
	j.describe([]int{i})
	plan := Plan{
		Job: j.job, Placements: []Placement{{Key: ask.Key, Node: d.Plan.Node, Place: d.Plan.Place}}, Victims: d.Plan.Victims,
		Cost: d.Plan.Cost, Proof: d.Plan.Proof, OwnLeaf: d.Plan.OwnLeaf, Steps: d.Plan.Steps, Version: d.Plan.Version, Path: d.Plan.Path,
	}
	plan.Job.Members = slices.Clone(plan.Job.Members)
	return turn{Part: Part{Asks: []int{i}, Outcome: d.Outcome, Plan: plan}}, nil
}

// spares reports whether a job whose member an ask is spares a task that an ask may take.
func (j *joiner) spares(ask *victims.Ask, id victims.TaskID) bool {
	t := j.p.Cluster.TaskView(id)
	return t.NonPreemptible || t.Job != "" && t.Job == ask.Job
}
