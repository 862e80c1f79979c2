package victims

import (
	"cmp"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/resources"
)

// A Report is a decision for machines: with names instead of rows, which mean
// nothing outside the process, and amounts as quantities by type. It is plain
// data that shares nothing with the decision. encoding/json writes it, and reads
// it again.
//
// The words of outcomes, proofs, reasons and rules are stable, and so are the
// names of fields. Summary and Cost are for people, and may be improved.
type Report struct {
	Summary string         `json:"summary"`
	Outcome Outcome        `json:"outcome"`
	Ask     AskReport      `json:"ask"`
	At      time.Time      `json:"at,omitzero"`
	Plan    *PlanReport    `json:"plan,omitempty"`    // for any outcome but Refused
	Refusal *RefusalReport `json:"refusal,omitempty"` // for Refused
}

// An AskReport says who asks for what.
type AskReport struct {
	Key         string            `json:"key"`
	Name        string            `json:"name,omitempty"`
	Application string            `json:"application,omitempty"`
	Queue       string            `json:"queue"`
	Resources   map[string]string `json:"resources"`
	Priority    int32             `json:"priority"`
}

// A PlanReport is a [Plan] for machines.
type PlanReport struct {
	Node    string         `json:"node"`
	Victims []VictimReport `json:"victims"` // sorted by key
	Cost    string         `json:"cost"`
	Overrun int64          `json:"overrun,omitempty"` // of soft budgets
	Proof   Proof          `json:"proof"`
	OwnLeaf bool           `json:"ownLeaf,omitempty"`
	Steps   int64          `json:"steps"`
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
	ForNode     bool              `json:"forNode,omitempty"`
	ForHeadroom bool              `json:"forHeadroom,omitempty"`
	Blocks      bool              `json:"blocks,omitempty"`
	OptedOut    bool              `json:"optedOut,omitempty"`
	Originator  bool              `json:"originator,omitempty"`
}

// A RefusalReport is a [Refusal] for machines.
type RefusalReport struct {
	Reason     Reason            `json:"reason"`
	Also       Reason            `json:"also,omitempty"`
	OwnLeaf    bool              `json:"ownLeaf,omitempty"`
	Queue      string            `json:"queue,omitempty"` // with Type, for reasons that speak of them
	Type       string            `json:"type,omitempty"`
	Counts     map[string]int    `json:"counts,omitempty"` // tasks by the rule that kept them, none of them 0
	Candidates int               `json:"candidates,omitempty"`
	Scarce     []string          `json:"scarce,omitempty"`
	Filtered   int               `json:"filtered,omitempty"`
	WaitsFor   []string          `json:"waitsFor,omitempty"`
	Closest    string            `json:"closest,omitempty"`
	Lacks      map[string]string `json:"lacks,omitempty"`
	RetryAt    time.Time         `json:"retryAt,omitzero"`
	Help       HelpReport        `json:"help"`
	Proven     bool              `json:"proven"`
	Steps      int64             `json:"steps"`
}

// Report returns a decision for machines. The cluster is that of the decision:
// it gives the names of types, and of the queue and the node that a refusal names,
// which must be there still. Victims may have gone.
func (d *Decision) Report(c *Cluster) *Report {
	a, s := &d.Plan.Ask, c.Schema()
	r := &Report{
		Summary: d.Summary(c), Outcome: d.Outcome, At: d.Plan.At,
		Ask: AskReport{
			Key: a.Key, Name: a.Name, Application: a.Application, Queue: d.Plan.Path,
			Resources: s.Quantities(a.Size), Priority: a.Priority,
		},
	}
	switch d.Outcome {
	case Fits, Waits, Preempts:
		r.Plan = d.Plan.report(s)
	case Refused:
		r.Refusal = d.Refusal.report(c)
	}
	return r
}

// Summary tells a decision in a line of at most 1 KB, without its end: for a log,
// or an event.
func (d *Decision) Summary(c *Cluster) string {
	line, _, _ := strings.Cut(c.Describe(d), "\n")
	if d.Outcome == Preempts {
		keys := make([]string, len(d.Plan.Victims))
		for i := range d.Plan.Victims {
			keys[i] = d.Plan.Victims[i].Key
		}
		line += " " + plain.Names(keys)
	}
	return plain.Summary(line)
}

func (p *Plan) report(s *resources.Schema) *PlanReport {
	r := &PlanReport{
		Node: p.Place, Victims: []VictimReport{}, Cost: p.Cost.String(), Overrun: p.Cost.Overrun,
		Proof: p.Proof, OwnLeaf: p.OwnLeaf, Steps: p.Steps,
	}
	for i := range p.Victims {
		r.Victims = append(r.Victims, p.Victims[i].Report(s))
	}
	return r
}

// Report returns a victim for machines, whatever it is stopped for: an ask or a
// quota. The schema is that of its cluster.
func (v *Victim) Report(s *resources.Schema) VictimReport {
	return VictimReport{
		Key: v.Key, Name: v.Name, Queue: v.Path, Node: v.Place,
		Resources: s.Quantities(v.Size), Priority: v.Priority, Rank: v.Rank,
		ForNode: v.ForNode, ForHeadroom: v.ForHeadroom, Blocks: v.Blocks,
		OptedOut: v.OptedOut, Originator: v.Originator,
	}
}

func (r *Refusal) report(c *Cluster) *RefusalReport {
	f := &RefusalReport{
		Reason: r.Reason, Candidates: r.Candidates, Filtered: r.Filtered,
		WaitsFor: append([]string(nil), r.WaitsFor...), RetryAt: r.RetryAt, Help: r.Help.Report(c),
		Also: r.Also, OwnLeaf: r.OwnLeaf, Scarce: append([]string(nil), r.Scarce...),
		Proven: r.Proven, Steps: r.Steps,
	}
	switch cmp.Or(r.Also, r.Reason) {
	case OverMax, OverGuarantee, HeadroomInside:
		f.Queue, f.Type = c.tree.Path(r.Queue), c.Schema().Name(r.Type)
	}
	for rule, n := range r.Counts {
		if n > 0 {
			if f.Counts == nil {
				f.Counts = make(map[string]int)
			}
			f.Counts[Rule(rule).String()] = n
		}
	}
	if r.HasClosest {
		f.Closest, f.Lacks = c.nodes[r.Closest].name, c.Schema().Quantities(r.Lacks)
	}
	return f
}

// An ExplanationReport is an [Explanation] for machines; see [Report].
type ExplanationReport struct {
	Decision *Report            `json:"decision"`
	Queues   []QueueReport      `json:"queues"` // in tree order
	Nodes    []NodeReport       `json:"nodes"`  // in node order
	Tasks    []TaskReport       `json:"tasks"`  // by key
	Relaxed  []RelaxationReport `json:"relaxed,omitempty"`
}

// A QueueReport is a [QueueFinding] for machines.
type QueueReport struct {
	Queue      string            `json:"queue"`
	OnPath     bool              `json:"onPath,omitempty"`
	Starving   bool              `json:"starving,omitempty"`
	Fence      bool              `json:"fence,omitempty"`
	Rule       Rule              `json:"rule,omitempty"`
	Room       map[string]string `json:"room,omitempty"`
	Lacks      map[string]string `json:"lacks,omitempty"`
	Tasks      int               `json:"tasks,omitempty"`
	Candidates int               `json:"candidates,omitempty"`
}

// A NodeReport is a [NodeFinding] for machines.
type NodeReport struct {
	Node    string            `json:"node"`
	Verdict NodeVerdict       `json:"verdict"`
	Short   map[string]string `json:"short,omitempty"`
	Lacks   map[string]string `json:"lacks,omitempty"`
	ByBound bool              `json:"byBound,omitempty"`
}

// A TaskReport is a [TaskFinding] for machines.
type TaskReport struct {
	Key    string `json:"key"`
	Queue  string `json:"queue"`
	Node   string `json:"node"`
	Rule   Rule   `json:"rule,omitempty"` // none: a candidate
	Victim bool   `json:"victim,omitempty"`
}

// A RelaxationReport is a [RelaxationFinding] for machines. Text says it for
// people.
type RelaxationReport struct {
	Rule    Relaxable `json:"rule"`
	Text    string    `json:"text"`
	Key     string    `json:"key,omitempty"`
	Outcome Outcome   `json:"outcome"`
	Node    string    `json:"node"`
	Victims int       `json:"victims"`
}

// Report returns an explanation for machines. All that it names must be in the
// cluster still.
func (e *Explanation) Report(c *Cluster) *ExplanationReport {
	s := c.Schema()
	r := &ExplanationReport{
		Decision: e.Decision.Report(c),
		Queues:   []QueueReport{}, Nodes: []NodeReport{}, Tasks: []TaskReport{},
	}
	for i := range e.Queues {
		f := &e.Queues[i]
		r.Queues = append(r.Queues, QueueReport{
			Queue: c.tree.Path(f.Queue), OnPath: f.OnPath, Starving: f.Starving, Fence: f.Fence, Rule: f.Rule,
			Room: s.Bounds(f.Room), Lacks: s.Quantities(f.Lacks), Tasks: f.Tasks, Candidates: f.Candidates,
		})
	}
	for i := range e.Nodes {
		f := &e.Nodes[i]
		r.Nodes = append(r.Nodes, NodeReport{
			Node: c.nodes[f.Node].name, Verdict: f.Verdict, Short: s.Quantities(f.Short), Lacks: s.Quantities(f.Lacks),
			ByBound: f.ByBound,
		})
	}
	for _, f := range e.Tasks {
		r.Tasks = append(r.Tasks, TaskReport{
			Key: f.Key, Queue: c.tree.Path(f.Queue), Node: c.nodes[f.Node].name, Rule: f.Rule, Victim: f.Victim,
		})
	}
	for i := range e.Relaxed {
		f := &e.Relaxed[i]
		r.Relaxed = append(r.Relaxed, RelaxationReport{
			Rule: f.Rule, Text: c.DescribeRelaxation(f), Key: f.Key,
			Outcome: f.Outcome, Node: c.nodes[f.Place].name, Victims: f.Victims,
		})
	}
	return r
}
