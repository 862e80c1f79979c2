// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/examples/plan/internal/say"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/victims"
)

// What stands beside a decision, in words: text and pictures say it alike.

// where says where the ask or the members may run at all, and who is in the way
// there.
func (p page) where(s *scenario.Step) (lines []string) {
	for i := range s.Aside.Filters {
		lines = append(lines, p.filtering(&s.Aside.Filters[i]))
	}
	if s.Asked == nil {
		return lines
	}
	ports := p.run.Document.Requests[s.Request].Ask.Ports
	if len(ports) == 0 {
		return lines
	}
	line := "it needs port " + plain.Names(ports) + ", which nobody holds"
	if len(ports) > 1 {
		line = "it needs ports " + plain.Names(ports) + ", none of which is held"
	}
	if blockers := s.Aside.Blockers; len(blockers) > 0 {
		line, _, _ = strings.Cut(line, ", which")
		line, _, _ = strings.Cut(line, ", none")
		line += ", held by " + some(len(blockers), func(i int) string {
			return plain.Name(blockers[i].Key) + " on " + p.node(blockers[i].Node)
		})
	}
	return append(lines, line)
}

// filtering says what a selector makes of the nodes.
func (p page) filtering(f *scenario.Filtering) string {
	who := "it runs"
	switch f.Members {
	case 0:
	case 1:
		who = "1 member runs"
	default:
		who = fmt.Sprintf("%d members run", f.Members)
	}
	line := who + " only on nodes with " + labels(f.Selector) + ", which "
	verb := "lack"
	switch len(f.Refused) {
	case 0:
		return line + "all have"
	case len(p.run.Document.Nodes):
		return line + "no node has"
	case 1:
		verb = "lacks"
	}
	return line + fmt.Sprintf("%d of %s %s: %s", len(f.Refused), say.Counted(len(p.run.Document.Nodes), "node"), verb,
		some(len(f.Refused), func(i int) string { return p.node(f.Refused[i]) }))
}

// labels writes labels in the order of their names.
func labels(all map[string]string) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		texts = append(texts, plain.Line(name+"="+all[name]))
	}
	return strings.Join(texts, ", ")
}

// toll says what the victims are to budgets, to jobs, and to the queue that asks.
func (p page) toll(s *scenario.Step) (lines []string) {
	for i := range s.Aside.Budgets {
		if u := &s.Aside.Budgets[i]; u.Victims > 0 {
			lines = append(lines, "budget "+plain.Name(u.Name)+", "+spent(u))
		}
	}
	return append(lines, p.suffered(s)...)
}

// suffered is toll without the budgets.
func (p page) suffered(s *scenario.Step) (lines []string) {
	for i := range s.Aside.Jobs {
		u := &s.Aside.Jobs[i]
		if s.Enforced != nil && u.Stops() {
			continue // the outcome says it
		}
		lines = append(lines, "job "+plain.Name(u.Job)+" "+goes(u))
	}
	if own := s.OwnVictims(); len(own) > 0 {
		line := "taken from its own queue"
		if s.Asked != nil {
			line += ", for there is no plan without"
		}
		lines = append(lines, line+": "+some(len(own), func(i int) string { return plain.Name(own[i]) }))
	}
	return lines
}

// goes says what becomes of a job, and why.
func goes(u *scenario.JobUse) string {
	what, who, verb := "runs on", fmt.Sprintf("%d of its %d members", u.Victims, u.Running), "go"
	if u.Stops() {
		what = "stops"
	}
	if u.Running == 1 {
		who = "its only member"
	}
	if u.Victims == 1 {
		verb = "goes"
	}
	return fmt.Sprintf("%s: %s %s, and it needs %d", what, who, verb, u.Minimum)
}

// spent says how much of a budget victims use up.
func spent(u *scenario.BudgetUse) string {
	kind := "soft"
	if u.Budget.Hard {
		kind = "hard"
	}
	if u.Budget.Left <= 0 && u.Victims == 0 {
		return kind + ": none may still stop"
	}
	and := fmt.Sprintf("and %d do", u.Victims)
	switch u.Victims {
	case 0:
		and = "and none does"
	case 1:
		and = "and 1 does"
	}
	line := fmt.Sprintf("%s: %d may still stop %s", kind, max(0, u.Budget.Left), and)
	if over := u.Over(); over > 0 {
		line += fmt.Sprintf(", %d too many", over)
	}
	return line
}

// some lists the first of n texts.
func some(n int, text func(int) string) string {
	const most = 8
	var all []string
	for i := range min(n, most) {
		all = append(all, text(i))
	}
	line := strings.Join(all, ", ")
	if n > most {
		line += fmt.Sprintf(" and %d more", n-most)
	}
	return line
}

// remarks returns what makes a task costly to stop.
func remarks(t *victims.Task) string {
	var all []string
	if t.OptedOut {
		all = append(all, "opted out")
	}
	if t.Originator {
		all = append(all, "originator")
	}
	if len(t.Budgets) > 0 {
		all = append(all, "budget "+plain.Names(t.Budgets))
	}
	if t.Cost > 0 {
		all = append(all, fmt.Sprintf("own cost %d", t.Cost))
	}
	return strings.Join(all, ", ")
}

// jobRemarks is remarks with the job of the task, for tables without a column of
// it.
func jobRemarks(t *victims.Task) string {
	r := remarks(t)
	switch {
	case t.Job == "":
		return r
	case r != "":
		r += ", "
	}
	return r + "job " + plain.Name(t.Job)
}
