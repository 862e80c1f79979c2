package jobs

import (
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Refusal says why there is no plan for a job, what is missing (the Breaches of formulas, the
// rules that keep candidates, the domain that came closest), and what could change the answer.
// Time may as RetryAt says, and Help says what else.
type Refusal struct {
	Reason victims.Reason
	// Queue and Type say what the reason is about, of victims.OverMax, victims.OverGuarantee and
	// victims.HeadroomInside. Also is one of these, or victims.NotGuaranteed, if it is what kept the job
	// from others: Reason then tells why its own leaf does not help either, and Queue and
	// Type are about Also. 0 if there is none.
	// OwnLeaf is set if reason and counts are those of the stage of the own leaf.
	Queue   queue.ID
	Type    int
	Also    victims.Reason
	OwnLeaf bool
	// Breaches are the formulas that keep the job out, if the reason is
	// victims.QuotaMin or victims.QuotaMax: queue by queue, the leaf's first.
	Breaches []Breach
	// Counts has, for each rule, the number of tasks that it kept from being
	// victims, and Candidates the number that no rule did. They are counted
	// only if candidates were looked for, which is after the formulas and
	// MayNot let the job preempt.
	Counts     [victims.NumRules]int
	Candidates int
	// Filtered is how many nodes the filter refuses to every member that is to
	// be placed, of those that take new tasks and are not reserved for others.
	Filtered int
	// Placeable is how many of the Wanted members would have a plan: the first
	// in their order. It is looked for if Counts is set.
	Placeable, Wanted int
	// Domain names the domain that came closest, if the job requires one: with
	// everybody gone who could it has room for the most members, counted with the
	// largest first; of equals it is the first in node order. DomainRoom is how
	// many members that is, and DomainLacks is what all others ask for together.
	Domain      []string
	DomainRoom  int
	DomainLacks resources.Vector
	// RetryAt of victims.TooEarly and victims.TooSoon is when neither is so. Else it is the first instant
	// at which, all else equal, there is a plan because exemptions have ended. It is zero
	// if time does not help.
	RetryAt time.Time
	// Help says what else has to happen before the answer can change. A plan for a job may
	// use all nodes and queues at once. So once victims were looked for, it is anything; and
	// before that it is what lets the job look for them, or have room.
	Help victims.Help
	// Proven is set if no plan exists; else none was found within the budget. Steps
	// are the elementary steps of the searches; see Planner.Steps.
	Proven bool
	Steps  int64
}
