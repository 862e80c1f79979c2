// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Refusal says why there is no plan for a job.
type Refusal struct {
	Reason victims.Reason
	// Queue, Type, Also and OwnLeaf are as in [victims.Refusal].
	Queue   queue.ID
	Type    int
	Also    victims.Reason
	OwnLeaf bool
	// Breaches keep the job out, for QuotaMin or QuotaMax, the leaf's first.
	Breaches []Breach
	// Counts has for each rule the tasks that it protected, Candidates the tasks that
	// none did. They are counted if candidates were looked for.
	Counts     [victims.NumRules]int
	Candidates int
	// Filtered is how many usable nodes the filter refuses to every member.
	Filtered int
	// Placeable is how many of the Wanted members would have a plan, the first in
	// order. It is set with Counts.
	Placeable, Wanted int
	// Domain names the required domain that came closest: with all candidates gone, it
	// has room for the most members, the largest first; ties go by node order.
	// DomainRoom is how many, DomainLacks what the others ask for.
	Domain      []string
	DomainRoom  int
	DomainLacks resources.Vector
	// RetryAt is when time alone can first change the answer; zero: never.
	RetryAt time.Time
	// Help is what else can change it; anything, once victims were looked for.
	Help victims.Help
	// Proven: no plan exists. Else none was found within the budget; see
	// Planner.Steps.
	Proven bool
	Steps  int64
}
