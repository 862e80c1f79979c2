// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A JobCase is a world and a job that is to be placed in it, all or nothing.
type JobCase struct {
	World    World
	Job      Job
	Quotas   map[string]Quota // by the path of the queue
	Minimums map[string]int   // members that running jobs must keep, by name
	Options  Options          // of which jobs know no levels
	// ByPriority: strictly lower tasks may go whatever is guaranteed. Else a job takes what
	// its queue is guaranteed, as an ask does.
	ByPriority bool
	// InOrder: law 4 is asked about the last member, and not about the largest: members
	// are asks that come one after another.
	InOrder bool

	// What the caller's predicate refuses: that two members of the job be placed
	// on one node, and nodes for a member, by its key.
	Apart   bool
	Refused map[string][]string
}

// Refuses reports whether the predicate refuses a node for a member, given the
// nodes of the members placed before it.
func (c *JobCase) Refuses(member, node string, before []string) bool {
	return c.Apart && slices.Contains(before, node) || slices.Contains(c.Refused[member], node)
}

// A Job is a number of members of one leaf.
type Job struct {
	Name, Application string
	Queue             string // a leaf
	Priority          int32
	NonPreemptible    bool
	MinMembers        int // 0: all
	MayNot            bool
	PendingSince      time.Time
	LastAttempt       time.Time
	Domain            int      // all members share a domain of this depth; 0: they need not
	Members           []Member // in the caller's order
}

// A Member is one task of a job. One whose key is that of a task or a grant of
// the world is placed.
type Member struct {
	Key                  string
	Size                 Amounts
	Originator, OptedOut bool
	Selector             map[string]string // labels that its node must have
}

// A Quota is what the jobs of a queue, and of those below it, may use.
type Quota struct {
	Min, Max Amounts
	Waiting  Amounts // of non-preemptible members that wait in the queue itself
}

// Ask returns the ask that a member of the job is.
func (j *Job) Ask(m *Member) Ask {
	return Ask{
		Key: m.Key, Application: j.Application, Queue: j.Queue, Size: m.Size, Priority: j.Priority,
		Originator: m.Originator, OptedOut: m.OptedOut, Job: j.Name, NonPreemptible: j.NonPreemptible,
		Selector: m.Selector, MayNot: j.MayNot, PendingSince: j.PendingSince, LastAttempt: j.LastAttempt,
	}
}

// GoString keeps the log of a failing property short: it draws the case itself.
func (c *JobCase) GoString() string { return "a case" }

// String draws a case, so that a failing one can be worked out on paper.
func (c *JobCase) String() string {
	var b strings.Builder
	b.WriteString(c.World.String())
	for _, path := range slices.Sorted(maps.Keys(c.Quotas)) {
		q := c.Quotas[path]
		fmt.Fprintf(&b, "quota  %s min %v max %v waiting %v\n", path, q.Min, q.Max, q.Waiting)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Minimums)) {
		fmt.Fprintf(&b, "gang   %s keeps %d\n", name, c.Minimums[name])
	}
	b.WriteString(c.Job.String())
	if c.Apart {
		b.WriteString("no two members on one node\n")
	}
	for _, m := range c.Job.Members {
		if nodes := c.Refused[m.Key]; len(nodes) > 0 {
			fmt.Fprintf(&b, "not    %s on %v\n", m.Key, nodes)
		}
	}
	fmt.Fprintf(&b, "now    %s%s", stamp(c.Options.Now), c.Options.exemptions())
	flag(&b, c.Options.OwnLeaf != "", "own leaf "+c.Options.OwnLeaf)
	flag(&b, c.Options.Scarce != nil, fmt.Sprintf("scarce %v", c.Options.Scarce))
	flag(&b, c.ByPriority, "by priority")
	flag(&b, c.Options.StrictPriority, "strict priority")
	flag(&b, c.Options.Interval > 0, fmt.Sprintf("interval %v", c.Options.Interval))
	b.WriteString("\n")
	return b.String()
}

// String draws a job: a line for it, and one for each member.
func (j *Job) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "job    %s %s %s priority %d", j.Name, j.Queue, j.Application, j.Priority)
	flag(&b, j.NonPreemptible, "not preemptible")
	flag(&b, j.MinMembers > 0, fmt.Sprintf("minimum %d", j.MinMembers))
	flag(&b, j.MayNot, "may not preempt")
	flag(&b, !j.PendingSince.IsZero(), "since "+stamp(j.PendingSince))
	flag(&b, !j.LastAttempt.IsZero(), "tried "+stamp(j.LastAttempt))
	flag(&b, j.Domain > 0, fmt.Sprintf("in one domain of depth %d", j.Domain))
	b.WriteString("\n")
	for _, m := range j.Members {
		fmt.Fprintf(&b, "member %s %v", m.Key, m.Size)
		flag(&b, len(m.Selector) > 0, fmt.Sprintf("selects %v", m.Selector))
		b.WriteString("\n")
	}
	return b.String()
}
