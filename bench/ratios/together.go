// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// The line that no decision about several asks is to pass: so many times the same asks
// one by one, or lineNanos if that is more.
const togetherTimes = 4

// A togetherFamily is lists of asks that have something in common, on loads of all
// families.
type togetherFamily struct {
	name       string
	resized    bool  // each ask is for any number of tasks, up to more than a node has
	priorities int32 // how many there are; 0 is 1
	loose      int64 // what each queue may lose of each type; 0: all of it
}

var togetherFamilies = []togetherFamily{
	{name: "together: alike"},
	{name: "together: all sizes", resized: true},
	{name: "together: few share a plan", priorities: 100},
	{name: "together: most are refused", resized: true, loose: 3000},
}

const mostTogetherAsks = 100

// A crowd is asks to decide together, and one by one.
type crowd struct {
	asks    []victims.Ask
	planner jobs.Planner
	joint   []victims.Decision
	single  *workload.Subject
	victims int // one by one
	served  int // likewise
}

// crowd makes asks of a family for a draw.
func (d *draw) crowd(f *togetherFamily, asks int, random *rand.Rand) *crowd {
	c := d.Build()
	if f.loose > 0 {
		protect(c, f.loose)
	}
	x := &crowd{single: d.subject(c)}
	x.planner = jobs.Planner{Cluster: c, Options: x.single.Planner.Options}
	for i := range asks {
		a := x.single.Ask
		if f.resized {
			a = d.Ask(c, int64(logUniform(random, d.Tasks+d.Tasks/4+1)))
		}
		a.Key = fmt.Sprint("ask-", i)
		a.Priority += random.Int32N(max(f.priorities, 1))
		x.asks = append(x.asks, a)
	}
	return x
}

// together decides all asks at once.
func (x *crowd) together() {
	var err error
	x.joint, err = x.planner.DecideAll(x.joint, x.asks, workload.Now)
	must(err)
}

// oneByOne decides and applies the asks one after another, and undoes it.
func (x *crowd) oneByOne() {
	x.victims, x.served = 0, 0
	for i := range x.asks {
		x.single.Ask = x.asks[i]
		x.single.Decide()
		if x.single.Decision.Outcome == victims.Refused {
			must(x.single.Decision.Count()) // refusals of DecideAll are counted
			continue
		}
		must(x.planner.Cluster.Apply(&x.single.Decision))
		x.victims += len(x.single.Decision.Plan.Victims)
		x.served++
	}
	for range x.served {
		must(x.planner.Cluster.Undo())
	}
}

// stops returns how many tasks stop together.
func (x *crowd) stops() (n int) {
	for i := range x.joint {
		n += len(x.joint[i].Plan.Victims)
	}
	return n
}

// together draws loads and prints a table: how long decisions about 1 to 100 asks take
// beside the same asks one by one, and how many tasks stop where both serve as many.
func (r *report) together(w io.Writer, draws int) {
	fmt.Fprintln(w, "| family | draws | asks | served | both serve as many | victims | one by one | draws with more | median, × one by one | worst | slowest | beyond the line |")
	fmt.Fprintln(w, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for i := range togetherFamilies {
		if n := (draws + len(togetherFamilies) - 1 - i) / len(togetherFamilies); n > 0 {
			s := r.togetherSurvey(i, n)
			fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d | %d | %d | %s | %s | %s | %d |\n", togetherFamilies[i].name, n,
				s.asks, s.served, s.both, s.victims, s.oneByOne, s.more, number(median(s.ratios)), number(slices.Max(s.ratios)), duration(s.worst), s.beyond)
		}
	}
}

// A togetherSurvey is what was found out about a family of lists.
type togetherSurvey struct {
	asks, served, both, victims, oneByOne, more, beyond int
	ratios                                              []float64
	worst                                               float64 // in nanoseconds
}

// togetherSurvey decides lists on some loads. They are the same every time.
func (r *report) togetherSurvey(which, draws int) (s togetherSurvey) {
	random := rand.New(rand.NewPCG(uint64(which), 5))
	wide := *r
	wide.big = min(4*r.big, mostMovesNodes)
	for range draws {
		d := wide.draw(random.IntN(len(families)), random)
		x := d.crowd(&togetherFamilies[which], logUniform(random, mostTogetherAsks), random)
		together, oneByOne := r.once(x.together), r.once(x.oneByOne)
		beyond := func() bool { return together > togetherTimes*oneByOne && together > lineNanos }
		for range linesAgain { // only a decision that takes so long each time does
			if beyond() {
				together, oneByOne = min(together, r.once(x.together)), min(oneByOne, r.once(x.oneByOne))
			}
		}
		s.ratios, s.worst = append(s.ratios, together/oneByOne), max(s.worst, together)
		if beyond() {
			s.beyond++
			fmt.Fprintf(os.Stderr, "%s: %v/k=%d, %d asks: %s together, %s one by one, %d steps\n", togetherFamilies[which].name,
				d.Hard, d.k, len(x.asks), duration(together), duration(oneByOne), x.joint[0].Plan.Steps)
		}
		s.count(x)
	}
	return s
}

// count adds up who is served, and who stops.
func (s *togetherSurvey) count(x *crowd) {
	served := len(x.asks)
	for i := range x.joint {
		if x.joint[i].Outcome == victims.Refused {
			served--
		}
	}
	s.asks, s.served = s.asks+len(x.asks), s.served+served
	if served != x.served {
		return
	}
	stops := x.stops()
	s.both, s.victims, s.oneByOne = s.both+1, s.victims+stops, s.oneByOne+x.victims
	if stops > x.victims {
		s.more++
	}
}
