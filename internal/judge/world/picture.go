// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/choices"
)

// String draws a case, so that a failing one can be worked out on paper.
func (c *Case) String() string {
	var b strings.Builder
	b.WriteString(c.World.String())
	a, o := &c.Ask, &c.Options
	fmt.Fprintf(&b, "ask    %s\n", a)
	fmt.Fprintf(&b, "now    %s", stamp(o.Now))
	if o.Interval != 0 {
		fmt.Fprintf(&b, " interval %v", o.Interval)
	}
	flag(&b, len(o.Levels) > 0, fmt.Sprintf("levels %v", o.Levels))
	flag(&b, o.OwnLeaf != "", "own leaf "+o.OwnLeaf)
	flag(&b, o.Scarce != nil, fmt.Sprintf("scarce %v", o.Scarce))
	for _, text := range o.Differ(choices.Choices{}) {
		flag(&b, true, text)
	}
	b.WriteString(o.exemptions() + "\n")
	for _, name := range slices.Sorted(maps.Keys(o.Minimums)) {
		fmt.Fprintf(&b, "gang   %s keeps %d\n", name, o.Minimums[name])
	}
	return b.String()
}

// exemptions draws who is exempt, by key.
func (o *Options) exemptions() string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(o.Exempt)) {
		fmt.Fprintf(&b, " %s exempt until %s", key, stamp(o.Exempt[key]))
	}
	return b.String()
}

// GoString keeps the log of a failing property short: it draws the case itself.
func (c *Case) GoString() string { return "a case" }

// GoString is as for a case.
func (w *Workload) GoString() string { return "a workload" }

// String draws a world: a line per queue with its present usage, per node with
// its present free space, per task and per grant.
func (w *World) String() string {
	var b strings.Builder
	usage, free := w.Usage(false), w.Free(false)
	for _, q := range w.Queues() {
		fmt.Fprintf(&b, "queue  %-14s used %v", q.Path, usage[q.Path])
		if len(q.Guaranteed) > 0 {
			fmt.Fprintf(&b, " guaranteed %v", q.Guaranteed)
		}
		if len(q.Max) > 0 {
			fmt.Fprintf(&b, " max %v", q.Max)
		}
		for _, key := range slices.Sorted(maps.Keys(q.Properties)) {
			fmt.Fprintf(&b, " %s=%q", key, q.Properties[key])
		}
		b.WriteString("\n")
	}
	for _, n := range w.Nodes {
		fmt.Fprintf(&b, "node   %s capacity %v free %v", n.Name, n.Capacity, free[n.Name])
		flag(&b, n.Unschedulable, "unschedulable")
		flag(&b, n.ReservedFor != "", "reserved for "+n.ReservedFor)
		flag(&b, len(n.Labels) > 0, fmt.Sprintf("labels %v", n.Labels))
		flag(&b, n.Rank != 0, fmt.Sprintf("rank %d", n.Rank))
		flag(&b, len(n.Domains) > 0, fmt.Sprintf("in %v", n.Domains))
		b.WriteString("\n")
	}
	for i := range w.Tasks {
		fmt.Fprintf(&b, "task   %s\n", &w.Tasks[i])
	}
	for i := range w.Grants {
		fmt.Fprintf(&b, "grant  %s on %s\n", &w.Grants[i].Ask, w.Grants[i].Node)
	}
	for _, name := range slices.Sorted(maps.Keys(w.Budgets)) {
		fmt.Fprintf(&b, "budget %s left %d", name, w.Budgets[name].Left)
		flag(&b, w.Budgets[name].Hard, "hard")
		b.WriteString("\n")
	}
	return b.String()
}

// String draws a task on one line.
func (t *Task) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s on %s %v priority %d scheduled %s",
		t.Key, t.Queue, t.Application, t.Node, t.Size, t.Priority, stamp(t.Scheduled))
	flag(&b, t.State.Leaving(), string(t.State))
	flag(&b, t.Originator, "originator")
	flag(&b, t.OptedOut, "opted out")
	flag(&b, t.RequiredNode, "required node")
	flag(&b, t.NonPreemptible, "not preemptible")
	flag(&b, t.Job != "", "of job "+t.Job)
	flag(&b, !t.Checkpoint.IsZero(), "checkpoint "+stamp(t.Checkpoint))
	flag(&b, t.Cost != 0, fmt.Sprintf("cost %d", t.Cost))
	flag(&b, t.Preemptions != 0, fmt.Sprintf("preempted %d times", t.Preemptions))
	flag(&b, len(t.Budgets) > 0, fmt.Sprintf("budgets %v", t.Budgets))
	flag(&b, len(t.Ports) > 0, fmt.Sprintf("ports %v", t.Ports))
	return b.String()
}

// String draws an ask on one line.
func (a *Ask) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s %v priority %d since %s", a.Key, a.Queue, a.Application, a.Size, a.Priority, stamp(a.PendingSince))
	flag(&b, !a.LastAttempt.IsZero(), "tried "+stamp(a.LastAttempt))
	flag(&b, a.RequiredNode != "", "requires "+a.RequiredNode)
	flag(&b, a.MayNot, "may not preempt")
	flag(&b, a.NonPreemptible, "not preemptible")
	flag(&b, a.Job != "", "of job "+a.Job)
	flag(&b, len(a.Selector) > 0, fmt.Sprintf("selects %v", a.Selector))
	flag(&b, len(a.Ports) > 0, fmt.Sprintf("ports %v", a.Ports))
	flag(&b, a.Cost != 0, fmt.Sprintf("cost %d", a.Cost))
	flag(&b, len(a.Budgets) > 0, fmt.Sprintf("budgets %v", a.Budgets))
	return b.String()
}

func flag(b *strings.Builder, on bool, word string) {
	if on {
		b.WriteString(", " + word)
	}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Format(time.TimeOnly)
}
