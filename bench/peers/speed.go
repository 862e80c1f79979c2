// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/judge/exam"
)

// A timing is what a decision took: the least of some, for all that is above it
// is the machine's.
type timing struct {
	wall, cpu time.Duration
	bytes     uint64
	answer    exam.Answer
	faults    []exam.Fault // of the answer
}

// A race is everybody's decision about the same ask. Who cannot be told has no
// timing.
type race struct {
	load *load
	size size
	by   []*timing // in the order of everybody
}

// sizes returns the sizes of clusters, the smallest first.
func (r *report) sizes() []size {
	if r.quick {
		return []size{{20, 10}, {100, 10}}
	}
	all := []size{{100, 10}, {1000, 30}, {5000, 30}}
	for len(all) > 2 && all[len(all)-1].nodes > r.nodes {
		all = all[:len(all)-1]
	}
	return all
}

// Decisions are timed until enough have been, or enough time is gone.
const (
	enoughDecisions = 21
	enoughTime      = 2 * time.Second
	quickTime       = 100 * time.Millisecond
)

// time times everybody on all loads and sizes.
func (r *report) time() error {
	for i := range loads {
		for _, s := range r.sizes() {
			race := race{load: &loads[i], size: s}
			paper := loads[i].build(s)
			for column := range everybody() {
				runtime.GC() // what the one before built is gone
				t, err := r.timing(column, paper, &loads[i], s)
				if err != nil {
					return fmt.Errorf("%s, %v: %w", loads[i].name, s, err)
				}
				race.by = append(race.by, t)
			}
			r.races = append(r.races, race)
		}
	}
	return nil
}

// timing times a peer, or returns nil if it cannot be told. Only the peer's own
// decision is timed, beside what the adapter does for it.
func (r *report) timing(column int, paper *exam.Paper, l *load, s size) (*timing, error) {
	var all []timing
	p := measured(exam.Meter{Around: func(decide func()) { all = append(all, measure(decide)) }})[column]
	if l.queues && !slices.Contains(p.Rules().Knows, exam.QueueMax) {
		return nil, nil
	}
	fill := exam.Load // and read back
	if s != r.sizes()[0] {
		fill = exam.Peer.Load // as it was read back from a smaller one
	}
	w, err := fill(p, paper.Doc)
	if errors.Is(err, exam.ErrCannot) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var t timing
	enough := enoughTime
	if r.quick {
		enough = quickTime
	}
	for start := time.Now(); len(all) < enoughDecisions && time.Since(start) < enough; {
		if t.answer, err = w.Decide(paper.Ask()); err != nil {
			return nil, err
		}
		if len(all) == 0 {
			return nil, errors.New("the ask fits, and nothing was decided")
		}
	}
	t.wall = least(all, func(t timing) time.Duration { return t.wall })
	t.cpu = least(all, func(t timing) time.Duration { return t.cpu })
	t.bytes = least(all, func(t timing) uint64 { return t.bytes })
	rules := p.Rules()
	j, err := exam.JudgeAnswer(&rules, paper, t.answer)
	if err != nil {
		return nil, err
	}
	t.faults = j.Faults
	return &t, nil
}

// measure measures one decision. CPU time is that of the whole process, with
// all goroutines and the collector.
func measure(decide func()) timing {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, start := processTime(), time.Now()
	decide()
	t := timing{wall: time.Since(start), cpu: processTime() - cpu}
	runtime.ReadMemStats(&after)
	t.bytes = after.TotalAlloc - before.TotalAlloc
	return t
}

// least returns the time by the clock or by the processors, whichever is less.
func (t *timing) least() time.Duration {
	if t.cpu == 0 {
		return t.wall
	}
	return min(t.wall, t.cpu)
}

// least returns the least of something.
func least[T time.Duration | uint64](all []timing, of func(timing) T) T {
	best := of(all[0])
	for _, t := range all[1:] {
		best = min(best, of(t))
	}
	return best
}

// times returns how many times as long as ours a peer takes, or 0 if it cannot be
// told: by the clock or by the processors, whichever is less. On a machine with
// other work the clock exaggerates what takes long, and whoever computes on
// several processors at once is done sooner.
func (r *race) times(column int) float64 {
	peer, ours := r.by[column], r.by[0]
	if peer == nil {
		return 0
	}
	x := float64(peer.wall) / float64(max(ours.wall, 1))
	if peer.cpu > 0 && ours.cpu > 0 {
		x = min(x, float64(peer.cpu)/float64(ours.cpu))
	}
	return x
}

// speed returns the tables of times, and the answers.
func (r *report) speed() string {
	var b strings.Builder
	b.WriteString("Least time of a decision of ours; of others how many times as long, by the clock or by the processors, whichever is less, and what they allocate. Ours allocates nothing unless it is said.\n\n| load | nodes × tasks |")
	for _, p := range everybody() {
		fmt.Fprintf(&b, " %s |", p.Rules().Name)
	}
	b.WriteString("\n|---|--:|" + strings.Repeat("--:|", len(everybody())) + "\n")
	for i := range r.races {
		r.races[i].row(&b)
	}
	b.WriteString("\nThe loads, and the answers with what is wrong with them:\n\n")
	n := len(r.sizes())
	for i := 0; i+n <= len(r.races); i += n {
		fmt.Fprintf(&b, "* %s: %s", r.races[i].load.name, r.races[i].load.what)
		for column, p := range everybody() {
			if answers := answersOf(r.races[i:i+n], column); len(answers) > 0 {
				fmt.Fprintf(&b, "; %s: %s", p.Rules().Name, strings.Join(answers, ", or "))
			}
		}
		b.WriteByte('\n')
	}
	b.WriteString("\n" + r.growth())
	if !r.quick && r.nodes >= 5000 {
		b.WriteString("\n" + r.targets())
	}
	return b.String()
}

// targets says how many times as long as ours others should take at least, and
// whether they do.
func (r *report) targets() string {
	var b strings.Builder
	b.WriteString("What ours should come down to on the largest cluster:\n\n| load | beside | at most | is |\n|---|---|--:|--:|\n")
	row := func(race *race, column int, target float64) {
		mark := ""
		if race.times(column) < target {
			mark = ", **missed**"
		}
		fmt.Fprintf(&b, "| %s | %s | 1/%s | 1/%s%s |\n", race.load.name, everybody()[column].Rules().Name, number(target), number(race.times(column)), mark)
	}
	for i := range r.races {
		race := &r.races[i]
		switch {
		case race.size != r.sizes()[len(r.sizes())-1] || race.load.some:
			continue
		case race.load.name == "plain":
			row(race, 1, 10_000)
			row(race, 2, 200)
			continue
		}
		for column := 1; column <= 2; column++ {
			if race.by[column] != nil {
				row(race, column, 20)
			}
		}
	}
	return b.String()
}

// row writes what everybody takes.
func (r *race) row(b *strings.Builder) {
	fmt.Fprintf(b, "| %s | %v |", r.load.name, r.size)
	for column, t := range r.by {
		switch {
		case t == nil:
			b.WriteString(" |")
			continue
		case column == 0:
			b.WriteString(" " + duration(t.wall))
		default:
			fmt.Fprintf(b, " × %s", number(r.times(column)))
		}
		if column > 0 || t.bytes > 0 {
			b.WriteString(", " + volume(t.bytes))
		}
		b.WriteString(" |")
	}
	b.WriteByte('\n')
}

// answersOf returns the different answers of a peer to races of one load, the smallest
// cluster's first.
func answersOf(races []race, column int) (answers []string) {
	for i := range races {
		t := races[i].by[column]
		if t == nil {
			continue
		}
		answer := "refused"
		if n := len(t.answer.Victims); n > 0 {
			answer = fmt.Sprintf("%d victims", n)
		}
		var faults []string
		for _, f := range t.faults {
			faults = append(faults, f.String())
		}
		if len(faults) > 0 {
			answer += " (" + strings.Join(faults, "; ") + ")"
		}
		if !slices.Contains(answers, answer) {
			answers = append(answers, answer)
		}
	}
	return answers
}

// growth returns by which power of the number of tasks times grow.
func (r *report) growth() string {
	var b strings.Builder
	b.WriteString("The power of the number of tasks by which times grow, from the smallest cluster to the largest:\n\n| load |")
	for _, p := range everybody() {
		fmt.Fprintf(&b, " %s |", p.Rules().Name)
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|", len(everybody())) + "\n")
	n := len(r.sizes())
	for i := 0; i+n <= len(r.races); i += n {
		fmt.Fprintf(&b, "| %s |", r.races[i].load.name)
		for column := range everybody() {
			if r.races[i].by[column] == nil {
				b.WriteString(" |")
				continue
			}
			fmt.Fprintf(&b, " %.2f |", slope(r.races[i:i+n], column))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// slope returns that of the line of least squares between the logarithms of
// tasks and times.
func slope(races []race, column int) float64 {
	var sx, sy, sxx, sxy float64
	for i := range races {
		x := math.Log(float64(races[i].size.nodes * races[i].size.tasks))
		y := math.Log(float64(races[i].by[column].least()))
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	n := float64(len(races))
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
