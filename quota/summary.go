package quota

import (
	"strings"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/victims"
)

// A Report is an outcome for machines: with names instead of rows and amounts as
// quantities by type, as [victims.Report]. Its words and the names of its fields
// are stable; Summary is for people.
type Report struct {
	Summary   string                 `json:"summary"`
	Result    Result                 `json:"result"`
	Queue     string                 `json:"queue"`
	Max       map[string]string      `json:"max"`
	Usage     map[string]string      `json:"usage"` // effective, before
	Target    map[string]string      `json:"target"`
	Freed     map[string]string      `json:"freed"`
	Shortfall map[string]string      `json:"shortfall"`
	Parts     []PartReport           `json:"parts,omitempty"`  // in tree order
	Leaves    []LeafReport           `json:"leaves,omitempty"` // in tree order
	Victims   []victims.VictimReport `json:"victims"`          // sorted by key
	Stops     []StopReport           `json:"stops,omitempty"`
	Grants    []string               `json:"grants,omitempty"`
	Jobs      []JobReport            `json:"jobs,omitempty"`
	Overrun   int64                  `json:"overrun,omitempty"` // of soft budgets
	Proven    bool                   `json:"proven"`
	Steps     int64                  `json:"steps"`
}

// A PartReport is a [Part] for machines.
type PartReport struct {
	Queue  string            `json:"queue"`
	Amount map[string]string `json:"amount"`
}

// A LeafReport is a [Leaf] for machines.
type LeafReport struct {
	Queue   string            `json:"queue"`
	Asked   map[string]string `json:"asked"`
	Freed   map[string]string `json:"freed"`
	Victims int               `json:"victims"`
}

// A StopReport is a [Stop] for machines.
type StopReport struct {
	Type   string `json:"type"`
	Rule   Rule   `json:"rule"`
	Amount string `json:"amount"`
	Queue  string `json:"queue"`
}

// A JobReport is a [JobLoss] for machines.
type JobReport struct {
	Job     string `json:"job"`
	Minimum int    `json:"minimum"`
	Victims int    `json:"victims"`
}

// Report returns an outcome for machines. The cluster is that of the outcome, and
// has its queues still. Victims may have gone.
func (o *Outcome) Report(c *victims.Cluster) *Report {
	s, path := c.Schema(), c.Tree().Path
	r := &Report{
		Summary: o.Summary(c), Result: o.Result, Queue: path(o.Queue), Max: s.Bounds(o.Max),
		Usage: s.Quantities(o.Usage), Target: s.Quantities(o.Target),
		Freed: s.Quantities(o.Freed), Shortfall: s.Quantities(o.Shortfall),
		Victims: []victims.VictimReport{}, Grants: append([]string(nil), o.Grants...),
		Overrun: o.Overrun, Proven: o.Proven, Steps: o.Steps,
	}
	for i := range o.Parts {
		p := &o.Parts[i]
		r.Parts = append(r.Parts, PartReport{path(p.Queue), s.Quantities(p.Amount)})
	}
	for i := range o.Leaves {
		l := &o.Leaves[i]
		r.Leaves = append(r.Leaves, LeafReport{path(l.Queue), s.Quantities(l.Asked), s.Quantities(l.Freed), l.Victims})
	}
	for i := range o.Victims {
		r.Victims = append(r.Victims, o.Victims[i].Report(s))
	}
	for _, at := range o.Stops {
		r.Stops = append(r.Stops, StopReport{s.Name(at.Type), at.Rule, s.Quantity(at.Type, at.Amount), path(at.Queue)})
	}
	for _, j := range o.Jobs {
		r.Jobs = append(r.Jobs, JobReport(j))
	}
	return r
}

// Summary tells an outcome in a line of at most 1 KB, without its end: for a log,
// or an event.
func (o *Outcome) Summary(c *victims.Cluster) string {
	if o.Result == 0 {
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
