package jobs

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Report is a decision about a job for machines: with names instead of rows and
// amounts as quantities by type, as [victims.Report]. Its words and the names of
// its fields are stable; Summary and Cost are for people.
type Report struct {
	Summary  string          `json:"summary"`
	Outcome  victims.Outcome `json:"outcome"`
	Job      string          `json:"job"`
	Queue    string          `json:"queue"`
	Priority int32           `json:"priority"`
	Plan     *PlanReport     `json:"plan,omitempty"`    // for any outcome but Refused
	Refusal  *RefusalReport  `json:"refusal,omitempty"` // for Refused
}

// A PlanReport is a [Plan] for machines.
type PlanReport struct {
	Placements []PlacementReport `json:"placements"` // in the order of the members
	Victims    []VictimReport    `json:"victims"`    // sorted by key
	Cost       string            `json:"cost"`
	Overrun    int64             `json:"overrun,omitempty"` // of soft budgets
	Proof      victims.Proof     `json:"proof"`
	OwnLeaf    bool              `json:"ownLeaf,omitempty"`
	Steps      int64             `json:"steps"`
}

// A PlacementReport is a [Placement] for machines.
type PlacementReport struct {
	Key       string            `json:"key"` // of the member
	Node      string            `json:"node"`
	Resources map[string]string `json:"resources"`
	Further   bool              `json:"further,omitempty"`
}

// A VictimReport is a [Victim] for machines.
type VictimReport struct {
	Key         string            `json:"key"`
	Name        string            `json:"name,omitempty"`
	Queue       string            `json:"queue"`
	Node        string            `json:"node"`
	Resources   map[string]string `json:"resources"`
	Priority    int32             `json:"priority"`
	Rank        int64             `json:"rank"`
	Job         string            `json:"job,omitempty"`
	Whole       bool              `json:"whole,omitempty"`
	ForNode     bool              `json:"forNode,omitempty"`
	ForHeadroom bool              `json:"forHeadroom,omitempty"`
	ForQuota    bool              `json:"forQuota,omitempty"`
	OptedOut    bool              `json:"optedOut,omitempty"`
	Originator  bool              `json:"originator,omitempty"`
}

// A RefusalReport is a [Refusal] for machines.
type RefusalReport struct {
	Reason     Reason         `json:"reason"`
	Also       Reason         `json:"also,omitempty"`
	OwnLeaf    bool           `json:"ownLeaf,omitempty"`
	Queue      string         `json:"queue,omitempty"` // that the reason is about, or Also
	Type       string         `json:"type,omitempty"`
	Breaches   []BreachReport `json:"breaches,omitempty"`
	Counts     map[string]int `json:"counts,omitempty"` // tasks by the rule that kept them, none of them 0
	Candidates int            `json:"candidates,omitempty"`
	Filtered   int            `json:"filtered,omitempty"`
	Placeable  int            `json:"placeable"`
	Wanted     int            `json:"wanted"`
	Domain     []string       `json:"domain,omitempty"`
	DomainRoom int            `json:"domainRoom,omitempty"` // members for which the domain has room
	// DomainLacks is what the other members ask for, by type.
	DomainLacks map[string]string  `json:"domainLacks,omitempty"`
	RetryAt     time.Time          `json:"retryAt,omitzero"`
	Help        victims.HelpReport `json:"help"`
	Proven      bool               `json:"proven"`
	Steps       int64              `json:"steps"`
}

// A BreachReport is a [Breach] for machines.
type BreachReport struct {
	Formula Formula `json:"formula"`
	Queue   string  `json:"queue"`
	Type    string  `json:"type"`
	Over    string  `json:"over"` // by how much
	Bound   string  `json:"bound"`
}

// Report returns a decision for machines. The cluster is that of the decision; it
// gives the names of types, and of queues in breaches. Victims may have gone.
func (d *Decision) Report(c *victims.Cluster) *Report {
	p := &d.Plan
	r := &Report{Summary: d.Summary(c), Outcome: d.Outcome, Job: p.Job.Name, Queue: p.Path, Priority: p.Job.Priority}
	switch d.Outcome {
	case victims.Fits, victims.Waits, victims.Preempts:
		r.Plan = p.report(c.Schema())
	case victims.Refused:
		r.Refusal = d.Refusal.report(c)
	}
	return r
}

// Summary tells a decision in a line of at most 1 KB, without its end: for a log,
// or an event.
func (d *Decision) Summary(c *victims.Cluster) string {
	if d.Outcome != victims.Preempts {
		line, _, _ := strings.Cut(d.Describe(c), "\n")
		return plain.Summary(line)
	}
	keys := make([]string, len(d.Plan.Victims))
	for i := range d.Plan.Victims {
		keys[i] = d.Plan.Victims[i].Key
	}
	return plain.Summary(fmt.Sprintf("job %s (%s, priority %d) runs once these have stopped: %s",
		plain.Name(d.Plan.Job.Name), plain.Name(d.Plan.Path), d.Plan.Job.Priority, plain.Names(keys)))
}

func (p *Plan) report(s *resources.Schema) *PlanReport {
	r := &PlanReport{
		Placements: []PlacementReport{}, Victims: []VictimReport{},
		Cost: p.Cost.String(), Overrun: p.Cost.Overrun, Proof: p.Proof, OwnLeaf: p.OwnLeaf, Steps: p.Steps,
	}
	for _, at := range p.Placements {
		m := &p.Job.Members[at.Member]
		r.Placements = append(r.Placements, PlacementReport{
			Key: m.Key, Node: at.Place, Resources: s.Quantities(m.Size), Further: at.Further,
		})
	}
	for i := range p.Victims {
		v := &p.Victims[i]
		r.Victims = append(r.Victims, VictimReport{
			Key: v.Key, Name: v.Name, Queue: v.Path, Node: v.Place,
			Resources: s.Quantities(v.Size), Priority: v.Priority, Rank: v.Rank, Job: v.Job, Whole: v.Whole,
			ForNode: v.ForNode, ForHeadroom: v.ForHeadroom, ForQuota: v.ForQuota,
			OptedOut: v.OptedOut, Originator: v.Originator,
		})
	}
	return r
}

func (r *Refusal) report(c *victims.Cluster) *RefusalReport {
	f := &RefusalReport{
		Reason: r.Reason, Candidates: r.Candidates, Filtered: r.Filtered, Placeable: r.Placeable, Wanted: r.Wanted,
		Domain: append([]string(nil), r.Domain...), DomainRoom: r.DomainRoom, RetryAt: r.RetryAt, Help: r.Help.Report(c), Proven: r.Proven, Steps: r.Steps,
	}
	s := c.Schema()
	f.Also, f.OwnLeaf = r.Also, r.OwnLeaf
	switch about := cmp.Or(r.Also, r.Reason); about {
	case OverMax, OverGuarantee, HeadroomInside:
		f.Queue, f.Type = c.Tree().Path(r.Queue), s.Name(r.Type)
	}
	if !resources.IsZero(r.DomainLacks) {
		f.DomainLacks = s.Quantities(r.DomainLacks)
	}
	for i := range r.Breaches {
		b := &r.Breaches[i]
		f.Breaches = append(f.Breaches, BreachReport{
			Formula: b.Formula, Queue: c.Tree().Path(b.Queue), Type: s.Name(b.Type),
			Over: s.Quantity(b.Type, b.Over()), Bound: s.Quantity(b.Type, b.Bound),
		})
	}
	for rule, n := range r.Counts {
		if n > 0 {
			if f.Counts == nil {
				f.Counts = make(map[string]int)
			}
			f.Counts[Rule(rule).String()] = n
		}
	}
	return f
}
