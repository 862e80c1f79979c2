// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Refusal says why there is no plan for a job. Its Help is anything once victims were
// looked for.
type Refusal struct {
	victims.Cause
	// Breaches keep the job out, for quota-min or quota-max, the leaf's first.
	Breaches []victims.Breach
	// Placeable is a number of the Wanted members: the first so many would have a plan, and
	// one more would not. Two more might again, for law 2 counts what arrives. It is
	// counted as Counts is, and so is the domain; see [Decision.Count].
	Placeable, Wanted int
	// Domain is the domain that came closest: if all candidates went, it would have room
	// for the most members, the largest first; ties by node order. DomainRoom is how
	// many, DomainLacks what the others ask for.
	Domain      []string
	DomainRoom  int
	DomainLacks resources.Vector
	// DomainFull: the domain of its grants has no room for the other members. Drop the
	// grants, and it may go elsewhere.
	DomainFull bool
}
