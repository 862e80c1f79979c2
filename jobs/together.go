// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Joint is what [Planner.Together] has decided about asks. It is plain data. Carry it
// out by [Joint.Apply].
type Joint struct {
	Asks    []victims.Ask // copies, in the order in which they were given
	Parts   []Part        // each is for the cluster with those before it applied
	Refused []RefusedAsk  // in the order of their asks
	Steps   int64         // elementary ones of the whole call; see Planner.Steps
}

// A Part is a plan for asks that share their victims. Law 2 holds at its end.
type Part struct {
	Asks    []int           // indices of Joint.Asks, ascending
	Outcome victims.Outcome // Fits, Waits or Preempts
	// Plan has the asks as members of a job, in their order. Its cost and proof are
	// those of all its victims together.
	Plan Plan
}

// A RefusedAsk is an ask that has no place beside those before it.
type RefusedAsk struct {
	Ask     int // an index of Joint.Asks
	Refusal Refusal
}

// Apply carries out all parts, all or nothing. Errors are those of [victims.Cluster.Apply];
// without any part they wrap [victims.ErrState]. Each part is a change of its own to
// [victims.Cluster.Undo].
func (j *Joint) Apply(c *victims.Cluster) error {
	if len(j.Parts) == 0 {
		return fmt.Errorf("jobs: plan for %d asks: %w: there is none", len(j.Asks), victims.ErrState)
	}
	version := j.Parts[0].Plan.Version
	for i := range j.Parts {
		ch := j.change(&j.Parts[i], version)
		if err := c.Apply(ch); err != nil {
			undo(c, i)
			return fmt.Errorf("%w (part %d of %d)", err, i+1, len(j.Parts))
		}
		version = c.Version()
	}
	return nil
}

// change returns what a part does to a cluster of some version. Grants are those of the
// asks themselves, for a member of a job does not know all that an ask does.
func (j *Joint) change(part *Part, version victims.Version) victims.Change {
	ch := part.Plan.Change()
	ch.Version = version
	for i, at := range part.Plan.Placements {
		ch.Grants[i].Ask = &j.Asks[part.Asks[at.Member]]
	}
	return ch
}

// undo takes back the last n changes, which were applied just now.
func undo(c *victims.Cluster, n int) {
	for range n {
		if err := c.Undo(); err != nil {
			panic(err) // somebody else changes the cluster
		}
	}
}

// Together decides several asks at the instant now, so that they share victims. It serves
// them in their order: an ask is refused if there is no room for it beside those before
// it.
//
// Asks share a plan, a [Part], if they follow each other and have the same queue,
// application, job, priority, types and right to preempt. Their sizes may differ. An ask
// that needs tasks of its own leaf has a plan of its own. Each ask must trigger as if
// those before it had their places (law 4), unless ByPriority is set. See DESIGN.md,
// Jobs: together.
//
// It never costs more, down to the sum of priorities, than the same asks decided and
// applied one after another, if these serve the same asks and nobody takes from its own
// leaf or branch: such turns are the first answer, and plans that are shared take their
// place if they cost no more.
//
// The rules are those of jobs: Predicate is told a job whose members are the asks. An ask
// that holds a grant is refused, InFlight. The cluster changes during the call, and ends
// as it was, version included.
//
// Steps bound the whole call: each ask by itself gets its part of a quarter. 0 means 4
// times what the asks take one by one, or [JointSteps] if that is more. If too little is
// left for a plan that is shared, asks have plans of their own; once Stop returns true
// each is decided in haste.
//
// Errors are those of [victims.Planner.Decide], a key twice (ErrDuplicate), and an ask
// that requires a node (ErrState): use [victims.Planner.Decide] for it. Then dst has no
// parts. The cost is that of the asks one by one, three times at most, and of one decision
// about a job for each part, for each ask that its turn refuses, and for up to 32 numbers
// of asks if guarantees refuse it, as far as the steps go.
func (p *Planner) Together(dst *Joint, asks []victims.Ask, now time.Time) error {
	*dst = Joint{}
	if err := checkAsks(p.Cluster, asks); err != nil {
		return err
	}
	j := &joiner{p: p, dst: &Joint{Asks: copyAsks(asks)}, now: now}
	j.begin()
	defer j.end()
	if err := j.takeTurns(); err != nil {
		return err
	}
	for first, end := 0, 0; first < len(asks); first = end {
		for end = first + 1; end < len(asks) && shares(&asks[first], &asks[end]); {
			end++
		}
		if err := j.run(first, end); err != nil {
			return err
		}
	}
	j.preferTurns()
	*dst = *j.dst
	dst.Steps = j.spent
	slices.SortFunc(dst.Refused, func(a, b RefusedAsk) int { return a.Ask - b.Ask })
	return nil
}

// checkAsks reports what no job could say of asks. The rest is told by Decide.
func checkAsks(c *victims.Cluster, asks []victims.Ask) error {
	seen := make(map[string]bool, len(asks))
	for i := range asks {
		a := &asks[i]
		_, runs := c.Lookup(a.Key)
		switch {
		case a.RequiredNode != "":
			return fmt.Errorf("jobs: ask %q: requires node %q: %w", a.Key, a.RequiredNode, victims.ErrState)
		case seen[a.Key] || runs:
			return fmt.Errorf("jobs: ask %q: %w", a.Key, victims.ErrDuplicate)
		}
		seen[a.Key] = true
	}
	return nil
}

func copyAsks(asks []victims.Ask) []victims.Ask {
	asks = slices.Clone(asks)
	for i := range asks {
		asks[i].Size, asks[i].Budgets = slices.Clone(asks[i].Size), slices.Clone(asks[i].Budgets)
	}
	return asks
}

// shares reports whether two asks may be members of one plan: the same tasks may go for
// both, and the same queue is the needy one.
func shares(a, b *victims.Ask) bool {
	return a.Queue == b.Queue && a.Application == b.Application && a.Job == b.Job && a.Priority == b.Priority &&
		a.MayNot == b.MayNot && a.NonPreemptible == b.NonPreemptible && resources.Positive(a.Size) == resources.Positive(b.Size)
}
