// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/go-preempt/preempt/internal/judge/ratio"
	"github.com/go-preempt/preempt/internal/plain"
)

// writeText writes the figures for people to read.
func (f *Figures) writeText(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	row("workload", "%d nodes, %d pods, %s", f.Nodes, f.Pods.All, plain.Duration(time.Duration(f.LastSecond)*time.Second))
	row("peak use", "%s", f.peaks())
	row("pods", "%d placed at least once, %d never; %d stopped at least once",
		f.Pods.Placed, f.Pods.NeverPlaced, f.Pods.Stopped)
	row("in the end", "%d running, %d pending", f.Pods.Running, f.Pods.Pending)
	d := &f.Decisions
	row("decisions", "%d fits, %d waits, %d plans, %d refused; %d grants started",
		d.Fits, d.Waits, d.Plans, d.Refused, d.Starts)
	row("refusals", "%s", f.refusals())
	row("victims", "%d, at most %d in a plan", f.Victims.All, f.Victims.Most)
	row("plans", "%s", f.Search.Plans.text())
	row("no plans", "%s", f.Search.Refusals.text())
	s := &f.Storm
	row("storm", "%d plans of at most %d: %d if nothing ended, %d for what ended; %d without progress",
		s.Plans, s.Bound, s.Fixed, s.Restored, s.Broken)
	row("laws", "%d placements audited, %d violations", f.Laws.Audited, f.Laws.Violations)
	for _, v := range f.Laws.First {
		row("", "%s", v)
	}
	row("tenants", "%s", strings.Join(f.tenants[:], ", "))
	if f.Behind != nil {
		row("shares", "%s", f.behind())
	} else {
		row("starved", "%s", f.starved())
	}
	t.Flush()
}

// starved says how long queues were under their guarantee while pods of them
// waited.
func (f *Figures) starved() string {
	var parts []string
	var with, without int64
	for _, u := range f.Under {
		text := u.Tenant + " " + span(u.Seconds)
		with += u.Seconds
		if u.Without != nil {
			text += " instead of " + span(*u.Without)
			without += *u.Without
		}
		parts = append(parts, text)
	}
	if without > 0 {
		parts = append(parts, fmt.Sprintf("in all %s instead of %s without preemption", span(with), span(without)))
	}
	if parts == nil {
		return "nobody is guaranteed anything"
	}
	return strings.Join(parts, ", ") + ": under the guarantee while pods waited, the queues of a tenant together"
}

// behind says how far teams were below their fair shares.
func (f *Figures) behind() string {
	var parts []string
	for _, b := range f.Behind {
		text := fmt.Sprintf("%s %s", b.Team, b.Below)
		if b.Without != "" {
			text += " instead of " + b.Without
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ") + ": " + f.Behind[0].Unit + " below the fair share"
}

// peaks tells the largest use of each type and what part of the capacity it is.
func (f *Figures) peaks() string {
	var parts []string
	for _, p := range f.Peak {
		parts = append(parts, fmt.Sprintf("%s %s%%", p.Type, tenths(p.Used, p.Capacity, 100)))
	}
	return strings.Join(parts, ", ")
}

func (f *Figures) refusals() string {
	if len(f.Refusals) == 0 {
		return "none"
	}
	var parts []string
	for _, r := range f.Refusals {
		parts = append(parts, fmt.Sprintf("%d %s", r.Count, r.Reason))
	}
	return strings.Join(parts, ", ")
}

func (s *Search) text() string {
	return fmt.Sprintf("%d of %d proven (%s%%), %s steps on average, at most %d",
		s.Proven, s.Count, tenths(int64(s.Proven), int64(s.Count), 100),
		tenths(s.Steps, int64(s.Count), 1), s.MostSteps)
}

// tenths returns k * a / b with one decimal, rounded down, and "0.0" if
// there is nothing to divide by.
func tenths(a, b, k int64) string {
	if b == 0 {
		return "0.0"
	}
	n := ratio.Of(a, 10*k, b)
	return fmt.Sprintf("%d.%d", n/10, n%10)
}

// writeText writes the timings for people to read.
func (t *Timings) writeText(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "decisions\tp50\tp90\tp99\tmax\t  outcome")
	for _, o := range t.Outcomes {
		fmt.Fprintf(tw, "%d\t%v\t%v\t%v\t%v\t  %s\n",
			o.Count, short(o.P50), short(o.P90), short(o.P99), short(o.Max), o.Outcome)
	}
	tw.Flush()
	for _, s := range t.Slowest {
		fmt.Fprintf(w, "slow: %v for pod %s in second %d: %s, %d steps, %d victims\n",
			short(s.Took), s.Pod, s.Second, s.Outcome, s.Steps, s.Victims)
	}
}

// short rounds a duration to three digits or so.
func short(d time.Duration) time.Duration {
	for unit := time.Duration(1); ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
}

// writeJSON writes figures and timings as one document.
func writeJSON(w io.Writer, f *Figures, t *Timings) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Figures *Figures `json:"figures"`
		Timings *Timings `json:"timings"`
	}{f, t})
}
