// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// What came of an enforcement.
const (
	met           = "met"
	metWithinMiss = "met-within-miss"
	partial       = "partial"
	impossible    = "impossible"
)

// An Outcome is the answer of an [Enforcer]. Pass it again to reuse its memory. It is
// plain data.
type Outcome struct {
	// Result is a stable word. Once the victims have gone, usage is within max (met),
	// over it by no more than Miss allows (met-within-miss), or by more (partial);
	// impossible is partial without victims.
	Result string
	Queue  queue.ID         // whose quota is enforced
	Path   string           // the name of the queue
	Max    resources.Limit  // that is enforced
	Usage  resources.Vector // effective usage before, in every type
	Target resources.Vector // what has to go of it: see Preemptable

	Freed     resources.Vector // what the victims free, in every type
	Shortfall resources.Vector // what stays over max, at least 0

	// Parts are what queues below were asked for first, in tree order. Siblings share
	// their parent's part; the first ones share the target, or what can be released if
	// that is less.
	Parts []Part
	// Leaves are those that were asked at all, in tree order.
	Leaves []Leaf
	// Victims are the tasks that should stop, sorted by key, without rank.
	Victims []victims.Victim
	// Stops say what keeps what stays over, by type and then by rule.
	Stops []Stop
	// Grants are the keys of grants below the queue, sorted, if there is a target.
	Grants []string
	// Jobs are the jobs that go as a whole, sorted by name.
	Jobs []JobLoss
	// Overrun is by how many victims soft budgets are overrun together.
	Overrun int64

	// Proven: no lawful set frees more of one type of the target and as much of the
	// others.
	Proven  bool
	Steps   int64
	Version victims.Version // of the cluster that it was made for
	At      time.Time       // the instant of the decision

	block []int64 // the amounts of all of it
}

// A Part is what a queue is to free.
type Part struct {
	Queue  queue.ID
	Amount resources.Vector // in types of the target
}

// A Leaf is what a leaf was asked for and gives.
type Leaf struct {
	Queue   queue.ID
	Asked   resources.Vector // the most in all rounds and searches, in types of the target
	Freed   resources.Vector // in every type
	Victims int              // how many of its tasks are victims
}

// A Stop is what keeps an amount of a type from being freed.
type Stop struct {
	Type   int
	Rule   string // see victims.Count
	Amount int64  // what tasks and grants hold to which the rule applies
	// Queue is the enforced one; for "guarantee" the first in tree order whose guarantee
	// kept a task.
	Queue queue.ID
}

// A JobLoss is a job that goes as a whole.
type JobLoss struct {
	Job     string
	Minimum int // the members that it needs
	Victims int // the members that ran
}

// Change returns what marks the victims, for [victims.Cluster.Apply]. It shares them.
func (o *Outcome) Change() victims.Change {
	return victims.Change{For: o.Path, Version: o.Version, Victims: o.Victims}
}

// A report is an outcome for machines: with names instead of rows and amounts as
// quantities by type, as [victims.Report]. Its words and the names of its fields
// are stable; Summary is for people.
type report struct {
	Summary   string            `json:"summary"`
	Result    string            `json:"result"`
	Queue     string            `json:"queue"`
	Max       map[string]string `json:"max"`
	Usage     map[string]string `json:"usage"` // effective, before
	Target    map[string]string `json:"target"`
	Freed     map[string]string `json:"freed"`
	Shortfall map[string]string `json:"shortfall"`
	Parts     []partReport      `json:"parts,omitempty"`  // in tree order
	Leaves    []leafReport      `json:"leaves,omitempty"` // in tree order
	Victims   []any             `json:"victims"`          // sorted by key
	Stops     []stopReport      `json:"stops,omitempty"`
	Grants    []string          `json:"grants,omitempty"`
	Jobs      []jobReport       `json:"jobs,omitempty"`
	Overrun   int64             `json:"overrun,omitempty"` // of soft budgets
	Proven    bool              `json:"proven"`
	Steps     int64             `json:"steps"`
}

// A partReport is a [Part] for machines.
type partReport struct {
	Queue  string            `json:"queue"`
	Amount map[string]string `json:"amount"`
}

// A leafReport is a [Leaf] for machines.
type leafReport struct {
	Queue   string            `json:"queue"`
	Asked   map[string]string `json:"asked"`
	Freed   map[string]string `json:"freed"`
	Victims int               `json:"victims"`
}

// A stopReport is a [Stop] for machines.
type stopReport struct {
	Type   string `json:"type"`
	Rule   string `json:"rule"`
	Amount string `json:"amount"`
	Queue  string `json:"queue"`
}

// A jobReport is a [JobLoss] for machines.
type jobReport struct {
	Job     string `json:"job"`
	Minimum int    `json:"minimum"`
	Victims int    `json:"victims"`
}

// Report returns an outcome for encoding/json, as [victims.Decision.Report] does.
func (o *Outcome) Report(c *victims.Cluster) any {
	s, path := c.Schema(), c.Tree().Path
	r := &report{
		Summary: o.Summary(c), Result: o.Result, Queue: path(o.Queue), Max: vectors.Bounds(s, o.Max),
		Usage: vectors.Quantities(s, o.Usage), Target: vectors.Quantities(s, o.Target),
		Freed: vectors.Quantities(s, o.Freed), Shortfall: vectors.Quantities(s, o.Shortfall),
		Victims: []any{}, Grants: append([]string(nil), o.Grants...),
		Overrun: o.Overrun, Proven: o.Proven, Steps: o.Steps,
	}
	for i := range o.Parts {
		p := &o.Parts[i]
		r.Parts = append(r.Parts, partReport{path(p.Queue), vectors.Quantities(s, p.Amount)})
	}
	for i := range o.Leaves {
		l := &o.Leaves[i]
		r.Leaves = append(r.Leaves, leafReport{path(l.Queue), vectors.Quantities(s, l.Asked), vectors.Quantities(s, l.Freed), l.Victims})
	}
	for i := range o.Victims {
		r.Victims = append(r.Victims, o.Victims[i].Report(s))
	}
	for _, at := range o.Stops {
		r.Stops = append(r.Stops, stopReport{s.Name(at.Type), at.Rule, resources.FormatQuantity(s.Name(at.Type), at.Amount), path(at.Queue)})
	}
	for _, j := range o.Jobs {
		r.Jobs = append(r.Jobs, jobReport(j))
	}
	return r
}

// Summary tells an outcome in a line of at most 1 KB, without its end.
func (o *Outcome) Summary(c *victims.Cluster) string {
	if o.Result == "" {
		return "nothing is decided"
	}
	var b strings.Builder
	writer{&b, c, o}.headline()
	line := strings.TrimSuffix(b.String(), "\n")
	if len(o.Victims) > 0 {
		keys := make([]string, len(o.Victims))
		for i := range o.Victims {
			keys[i] = o.Victims[i].Key
		}
		line += ": " + plain.Names(keys)
	}
	return plain.Summary(line)
}

// Describe writes an outcome for people, as [victims.Decision.Describe] does. The queues
// must be there still.
func (o *Outcome) Describe(c *victims.Cluster) string {
	if o.Result == "" {
		return "nothing is decided\n"
	}
	var b strings.Builder
	w := writer{&b, c, o}
	w.headline()
	if len(o.Leaves) > 0 {
		w.printf("  to be freed: %s\n", w.amounts(o.Target))
	}
	for i := range o.Leaves {
		w.leaf(&o.Leaves[i])
	}
	b.WriteString(o.DescribeRest(c))
	return b.String()
}

// DescribeRest writes the part of [Outcome.Describe] beside parts and victims.
func (o *Outcome) DescribeRest(c *victims.Cluster) string {
	var b strings.Builder
	w := writer{&b, c, o}
	for i := range o.Stops {
		w.stop(&o.Stops[i])
	}
	if len(o.Grants) > 0 {
		w.printf("  granted places count as usage: %s\n", plain.Names(o.Grants))
	}
	for _, j := range o.Jobs {
		w.printf("  job %s goes as a whole: minimum %d, running %d\n", plain.Name(j.Job), j.Minimum, j.Victims)
	}
	if o.Overrun > 0 {
		w.printf("  soft budgets are overrun by %d\n", o.Overrun)
	}
	if !o.Proven {
		w.printf("  not proven: a search was cut short, %d steps were taken\n", o.Steps)
	}
	return b.String()
}

// A writer writes an outcome.
type writer struct {
	b *strings.Builder
	c *victims.Cluster
	o *Outcome
}

func (w writer) printf(format string, args ...any) { fmt.Fprintf(w.b, format, args...) }

// headline says who is over what, and what comes of it.
func (w writer) headline() {
	o := w.o
	w.printf("%s uses %s with a max of %s", w.queue(o.Queue), w.amounts(o.Usage), w.limit(o.Max))
	switch {
	case resources.IsZero(o.Target):
		w.printf(" (%v): nothing is over\n", o.Result)
		return
	case o.Result == met:
		w.printf(" (%v): it is within it", o.Result)
	case o.Result == metWithinMiss:
		w.printf(" (%v): %s stay over, which may be missed", o.Result, w.amounts(o.Shortfall))
	default:
		w.printf(" (%v): %s stay over", o.Result, w.amounts(o.Shortfall))
	}
	if len(o.Victims) == 0 {
		w.printf(", and nobody can be taken\n")
		return
	}
	w.printf(", once these have stopped\n")
}

// leaf says what a leaf was asked for, and who gives it.
func (w writer) leaf(l *Leaf) {
	w.printf("  %s: asked for %s, gives %s\n", w.queue(l.Queue), w.amounts(l.Asked), w.amounts(l.Freed))
	for i := range w.o.Victims {
		v := &w.o.Victims[i]
		if v.Path != w.c.Tree().Path(l.Queue) {
			continue
		}
		w.printf("    %s on %s (%s, priority %d%s)\n", plain.Name(v.Key),
			plain.Name(v.Place), w.amounts(v.Size), v.Priority, remarks(v))
	}
}

// remarks says what makes a victim costly to stop.
func remarks(v *victims.Victim) (s string) {
	if v.OptedOut {
		s += ", opted out"
	}
	if v.Originator {
		s += ", originator"
	}
	return s
}

// stop says what keeps how much.
func (w writer) stop(s *Stop) {
	schema := w.c.Schema()
	amount := plain.Line(schema.Name(s.Type) + "=" + vectors.Text(schema, s.Type, s.Amount))
	text := rulebook.RuleOf(s.Rule).Quota
	if s.Rule == "guarantee" {
		text = fmt.Sprintf("needed for the guarantee of %s, %s", w.queue(s.Queue), w.limit(w.c.Tree().Guaranteed(s.Queue)))
	}
	w.printf("  %s stay: %s (%v)\n", amount, text, s.Rule)
}

func (w writer) queue(q queue.ID) string { return plain.Name(w.c.Tree().Path(q)) }

func (w writer) amounts(v resources.Vector) string { return plain.Line(w.c.Schema().Format(v)) }

func (w writer) limit(l resources.Limit) string { return plain.Line(w.c.Schema().FormatLimit(l)) }
