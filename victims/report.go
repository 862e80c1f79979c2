// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/resources"
)

// A report is a decision for machines: with names instead of rows, which mean
// nothing outside the process, and amounts as quantities by type. It is plain
// data that shares nothing with the decision.
//
// The words of outcomes, proofs, reasons and rules are stable, and so are the
// names of fields. Summary and Cost are for people, and may be improved.
type report struct {
	Summary string `json:"summary"`
	Outcome string `json:"outcome"`

	// Of a lone ask.
	Ask *askReport `json:"ask,omitempty"`
	At  time.Time  `json:"at,omitzero"`
	// Of a gang.
	Job      string `json:"job,omitempty"`
	Queue    string `json:"queue,omitempty"`
	Priority *int32 `json:"priority,omitempty"`

	Plan    *planReport    `json:"plan,omitempty"`    // for any outcome but Refused
	Refusal *refusalReport `json:"refusal,omitempty"` // for Refused
}

// An askReport says who asks for what.
type askReport struct {
	Key         string            `json:"key"`
	Name        string            `json:"name,omitempty"`
	Application string            `json:"application,omitempty"`
	Queue       string            `json:"queue"`
	Resources   map[string]string `json:"resources"`
	Priority    int32             `json:"priority"`
}

// A planReport is a [Plan] for machines.
type planReport struct {
	Node       string                  `json:"node,omitempty"`       // of a lone ask
	Placements any                     `json:"placements,omitempty"` // of a gang, in the order of members
	Domain     []string                `json:"domain,omitempty"`     // that they share, if one is required
	Victims    []any                   `json:"victims"`              // sorted by key
	Moves      []moveReport            `json:"moves,omitempty"`      // sorted by key
	Cost       string                  `json:"cost"`
	Lost       any                     `json:"lost,omitempty"`    // work
	Overrun    int64                   `json:"overrun,omitempty"` // of soft budgets
	Proof      string                  `json:"proof"`
	OwnLeaf    bool                    `json:"ownLeaf,omitempty"`
	Ends       []rulebook.EndingReport `json:"ends,omitempty"` // queues of its path that end below their guarantee
	Steps      int64                   `json:"steps"`
}

// A moveReport is a [Move] for machines.
type moveReport struct {
	Key   string `json:"key"`
	From  string `json:"from"`
	To    string `json:"to"`
	Grant string `json:"grant"` // the key of its ask
}

// A placeReport is the [Place] of a member for machines.
type placeReport struct {
	Key       string            `json:"key"` // of the member
	Node      string            `json:"node"`
	Resources map[string]string `json:"resources"`
	Further   bool              `json:"further,omitempty"`
}

// A lostReport is the work lost, for machines.
type lostReport struct {
	Work   string `json:"work"` // time by weight, exactly: more than 64 bits
	Time   string `json:"time"`
	Type   string `json:"type,omitempty"`   // that decides most
	Amount string `json:"amount,omitempty"` // amounts by time of that type
}

// lost returns the work lost for encoding/json; nil without victims.
func (c *Cost) lost() any {
	if c.Victims == 0 {
		return nil
	}
	return lostReport{Work: c.Work.String(), Time: c.LostTime.String(), Type: c.LostType, Amount: c.lostAmount()}
}

// A victimReport is a [Victim] for machines.
type victimReport struct {
	Key         string            `json:"key"`
	Name        string            `json:"name,omitempty"`
	Queue       string            `json:"queue"`
	Node        string            `json:"node"`
	Resources   map[string]string `json:"resources"`
	Priority    int32             `json:"priority"`
	Rank        int64             `json:"rank"`
	Job         string            `json:"job,omitempty"` // in plans for gangs
	Whole       bool              `json:"whole,omitempty"`
	ForNode     bool              `json:"forNode,omitempty"`
	ForHeadroom bool              `json:"forHeadroom,omitempty"`
	ForQuota    bool              `json:"forQuota,omitempty"`
	Blocks      bool              `json:"blocks,omitempty"`
	OptedOut    bool              `json:"optedOut,omitempty"`
	Originator  bool              `json:"originator,omitempty"`
}

// A refusalReport is a [Refusal] for machines.
type refusalReport struct {
	Reason      string            `json:"reason"`
	Also        string            `json:"also,omitempty"`
	OwnLeaf     bool              `json:"ownLeaf,omitempty"`
	Queue       string            `json:"queue,omitempty"` // with Type, for reasons that speak of them
	Type        string            `json:"type,omitempty"`
	Breaches    []any             `json:"breaches,omitempty"`
	NoneCounts  bool              `json:"noneCounts,omitempty"`
	Counts      map[string]int    `json:"counts,omitempty"` // tasks by the rule that kept them, none of them 0
	ProtectedBy any               `json:"protectedBy,omitempty"`
	Cause       any               `json:"cause,omitempty"`     // why it could not run even in an empty cluster
	Uncounted   bool              `json:"uncounted,omitempty"` // the cluster had changed when it was asked
	Candidates  int               `json:"candidates,omitempty"`
	Scarce      []string          `json:"scarce,omitempty"`
	Filtered    int               `json:"filtered,omitempty"`
	WaitsFor    []string          `json:"waitsFor,omitempty"`
	Closest     string            `json:"closest,omitempty"`
	Lacks       map[string]string `json:"lacks,omitempty"`
	Placeable   *int              `json:"placeable,omitempty"` // of gangs
	Wanted      *int              `json:"wanted,omitempty"`
	Domain      []string          `json:"domain,omitempty"`
	DomainRoom  int               `json:"domainRoom,omitempty"`  // members for which the domain has room
	DomainLacks map[string]string `json:"domainLacks,omitempty"` // what the other members ask for
	RetryAt     time.Time         `json:"retryAt,omitzero"`
	Help        any               `json:"help"`
	Proven      bool              `json:"proven"`
	Steps       int64             `json:"steps"`
}

// Report returns a decision for encoding/json, with stable fields and words.
func (d *Decision) Report(c *Cluster) any {
	if d.enforces() {
		return d.reportEnforcement(c)
	}
	a, s := &d.Plan.Ask, c.Schema()
	r := &report{Summary: d.Summary(c), Outcome: word.Or(d.Outcome)}
	if d.ofGang() {
		r.Job, r.Queue, r.Priority = a.Key, d.Plan.Path, &a.Priority
	} else {
		r.At, r.Ask = d.Plan.At, &askReport{
			Key: a.Key, Name: a.Name, Application: a.Application, Queue: d.Plan.Path,
			Resources: vectors.Quantities(s, a.Size), Priority: a.Priority,
		}
	}
	switch d.Outcome {
	case Fits, Waits, Preempts:
		r.Plan = d.Plan.report(s)
	case Refused:
		r.Refusal = d.Refusal.report(c, d.ofGang())
		r.Refusal.Steps, r.Refusal.Uncounted = d.Plan.Steps, d.Count() != nil
	}
	return r
}

// Summary tells a decision in a line of at most 1 KB, without its end.
func (d *Decision) Summary(c *Cluster) string {
	line, _, _ := strings.Cut(d.Describe(c), "\n")
	if p := &d.Plan; d.Outcome == Preempts && len(p.Victims)+len(p.Moves) > 0 {
		switch {
		case d.enforces():
			line += ":"
		case d.ofGang(): // who has a place is not told
			line = line[:strings.LastIndex(line, ":")+1]
		}
		var names []string
		for i := range p.Victims {
			names = append(names, plain.Name(p.Victims[i].Key))
		}
		for i := range p.Moves {
			names = append(names, plain.Name(p.Moves[i].Key)+" to "+plain.Name(p.Moves[i].ToName))
		}
		line += " " + strings.Join(names, ", ")
	}
	return plain.Summary(line)
}

func (p *Plan) report(s *resources.Schema) *planReport {
	r := &planReport{
		Victims: []any{}, Cost: p.Cost.text(len(p.Moves)), Lost: p.Cost.lost(), Overrun: p.Cost.Overrun,
		Proof: p.Proof.String(), OwnLeaf: p.WithinQueue, Ends: rulebook.ReportEndings(s, p.Ends), Steps: p.Steps,
	}
	gang := len(p.Ask.Members) > 0
	if gang {
		places := []placeReport{}
		for _, at := range p.Places {
			m := p.Ask.Member(at.Member)
			places = append(places, placeReport{Key: m.Key, Node: at.NodeName, Resources: vectors.Quantities(s, m.Size), Further: at.Extra})
		}
		r.Placements, r.Domain = places, append([]string(nil), p.Domain...)
	} else {
		r.Node = p.place().NodeName
	}
	for i := range p.Victims {
		v := p.Victims[i].report(s)
		if gang {
			v.Job = p.Victims[i].Job
		}
		r.Victims = append(r.Victims, v)
	}
	for i := range p.Moves {
		m := &p.Moves[i]
		r.Moves = append(r.Moves, moveReport{Key: m.Key, From: m.FromName, To: m.ToName, Grant: m.Grant})
	}
	return r
}

func (v *Victim) report(s *resources.Schema) victimReport {
	return victimReport{
		Key: v.Key, Name: v.Name, Queue: v.Path, Node: v.NodeName,
		Resources: vectors.Quantities(s, v.Size), Priority: v.Priority, Rank: v.Rank,
		Whole: v.Whole, ForNode: v.ForNode, ForHeadroom: v.ForHeadroom, ForQuota: v.ForQuota, Blocks: v.Blocks,
		OptedOut: v.OptedOut, Originator: v.Originator,
	}
}

func (r *Refusal) report(c *Cluster, ofGang bool) *refusalReport {
	f := &refusalReport{
		Reason: r.Reason, Candidates: r.Candidates, Filtered: r.Filtered,
		WaitsFor: append([]string(nil), r.WaitsFor...), RetryAt: r.RetryAt, Help: r.Help.report(c),
		Also: r.Also, OwnLeaf: r.told.OwnLeaf, Scarce: append([]string(nil), r.ShortBudgets...),
		Proven: r.Proven, NoneCounts: r.told.NoneCounts, ProtectedBy: r.ProtectedBy.report(c), Cause: r.Cause.report(c),
	}
	switch rulebook.ReasonOf(cmp.Or(r.Also, r.Reason)).About {
	case rulebook.AboutMax, rulebook.AboutGuarantee:
		f.Queue, f.Type = c.tree.Path(r.Queue), c.Schema().Name(r.Type)
	}
	if ofGang {
		f.Placeable, f.Wanted, f.DomainRoom = &r.Placeable, &r.Wanted, r.told.DomainRoom
		f.Domain = append([]string(nil), r.Domain...)
		if !resources.IsZero(r.Lacks) {
			f.DomainLacks = vectors.Quantities(c.Schema(), r.Lacks)
		}
	}
	for i := range r.Breaches {
		f.Breaches = append(f.Breaches, r.Breaches[i].report(c.Schema()))
	}
	for _, n := range r.Counts {
		if f.Counts == nil {
			f.Counts = make(map[string]int)
		}
		f.Counts[n.Rule] = n.Tasks
	}
	if r.Closest != noNode {
		f.Closest, f.Lacks = c.nodes[r.Closest].name, vectors.Quantities(c.Schema(), r.Lacks)
	}
	return f
}

// An explanationReport is an [Explanation] for machines; see [report].
type explanationReport struct {
	Decision any                `json:"decision"`
	Queues   []queueReport      `json:"queues"` // in tree order
	Nodes    []nodeReport       `json:"nodes"`  // in node order
	Tasks    []taskReport       `json:"tasks"`  // by key
	Relaxed  []relaxationReport `json:"relaxed,omitempty"`
	CutShort bool               `json:"cutShort,omitempty"`
	Members  []memberReport     `json:"members,omitempty"` // of a gang
}

// A memberReport is a [MemberFinding] for machines.
type memberReport struct {
	Keys  []string `json:"keys"`
	Alone any      `json:"alone"`
}

// A queueReport is a [QueueFinding] for machines.
type queueReport struct {
	Queue      string            `json:"queue"`
	OnPath     bool              `json:"onPath,omitempty"`
	Starving   bool              `json:"starving,omitempty"`
	Fence      bool              `json:"fence,omitempty"`
	Rule       string            `json:"rule,omitempty"`
	Room       map[string]string `json:"room,omitempty"`
	Lacks      map[string]string `json:"lacks,omitempty"`
	Tasks      int               `json:"tasks,omitempty"`
	Candidates int               `json:"candidates,omitempty"`
}

// A nodeReport is a [NodeFinding] for machines.
type nodeReport struct {
	Node    string            `json:"node"`
	Verdict string            `json:"verdict"`
	Short   map[string]string `json:"short,omitempty"`
	Lacks   map[string]string `json:"lacks,omitempty"`
	ByBound bool              `json:"byBound,omitempty"`
}

// A taskReport is a [TaskFinding] for machines.
type taskReport struct {
	Key    string `json:"key"`
	Queue  string `json:"queue"`
	Node   string `json:"node"`
	Rule   string `json:"rule,omitempty"` // none: a candidate
	Victim bool   `json:"victim,omitempty"`
}

// A relaxationReport is a [Relaxation] for machines. Text says it for
// people.
type relaxationReport struct {
	Rule    string `json:"rule"`
	Text    string `json:"text"`
	Key     string `json:"key,omitempty"`
	Outcome string `json:"outcome"`
	Node    string `json:"node"`
	Members int    `json:"members,omitempty"`
	Victims int    `json:"victims"`
}

// Report returns it for encoding/json.
func (e *Explanation) Report(c *Cluster) any {
	s := c.Schema()
	r := &explanationReport{
		Decision: e.Decision.Report(c), CutShort: e.CutShort,
		Queues: []queueReport{}, Nodes: []nodeReport{}, Tasks: []taskReport{},
	}
	for i := range e.Queues {
		f := &e.Queues[i]
		r.Queues = append(r.Queues, queueReport{
			Queue: c.tree.Path(f.Queue), OnPath: f.onPath, Starving: f.Starving, Fence: f.fence, Rule: f.Rule,
			Room: vectors.Bounds(s, f.Room), Lacks: vectors.Quantities(s, f.Lacks), Tasks: f.Tasks, Candidates: f.Candidates,
		})
	}
	for i := range e.Nodes {
		f := &e.Nodes[i]
		r.Nodes = append(r.Nodes, nodeReport{
			Node: c.nodes[f.Node].name, Verdict: f.Verdict, Short: vectors.Quantities(s, f.Short), Lacks: vectors.Quantities(s, f.Lacks),
			ByBound: f.byBound,
		})
	}
	for _, f := range e.Tasks {
		r.Tasks = append(r.Tasks, taskReport{
			Key: f.Key, Queue: c.tree.Path(f.queue), Node: c.nodes[f.node].name, Rule: f.Rule, Victim: f.Victim,
		})
	}
	for i := range e.Relaxations {
		f := &e.Relaxations[i]
		r.Relaxed = append(r.Relaxed, relaxationReport{
			Rule: f.Rule, Text: f.Describe(c), Key: f.Key,
			Outcome: word.Or(f.Outcome), Node: c.nodes[f.Place].name, Members: f.Members, Victims: f.Victims,
		})
	}
	for i := range e.Members {
		f := &e.Members[i]
		m := memberReport{Alone: f.Alone.Report(c)}
		for _, at := range f.Members {
			m.Keys = append(m.Keys, e.Decision.Plan.Ask.Members[at].Key)
		}
		r.Members = append(r.Members, m)
	}
	return r
}

// A protectorReport is a [Protector] for machines.
type protectorReport struct {
	Queue   string `json:"queue"`
	Type    string `json:"type"`
	Job     string `json:"job,omitempty"`
	Minimum int    `json:"minimum,omitempty"`
}

// report returns a protector for encoding/json; nil if there is none.
func (p *Protector) report(c *Cluster) any {
	if !p.Named {
		return nil
	}
	return protectorReport{Queue: c.tree.Path(p.Queue), Type: c.Schema().Name(p.Type), Job: p.Job, Minimum: c.MinMembers(p.Job)}
}

// A causeReport is a [Cause] for machines.
type causeReport struct {
	Kind  string `json:"kind"`
	Type  string `json:"type,omitempty"`
	Most  string `json:"most,omitempty"`
	Node  string `json:"node,omitempty"`
	Queue string `json:"queue,omitempty"`
}

// report returns a root for encoding/json; nil if there is none.
func (r *Cause) report(c *Cluster) any {
	if r.Kind == "" {
		return nil
	}
	x := causeReport{Kind: r.Kind}
	if r.Kind != "no-node" {
		x.Type, x.Most = c.Schema().Name(r.Type), resources.FormatQuantity(c.Schema().Name(r.Type), r.Most)
	}
	switch r.Kind {
	case "too-large":
		x.Node = c.NodeName(r.Node)
	case "above-max":
		x.Queue = c.tree.Path(r.Queue)
	}
	return x
}

// text says in a line why it could not run even in an empty cluster; "" if it could.
func (r *Cause) text(c *Cluster) string {
	amount := func() string { return vectors.Text(c.Schema(), r.Type, r.Most) + " " + c.Schema().Name(r.Type) }
	switch r.Kind {
	case "no-node":
		return "there is no node that it may use"
	case "too-large":
		return fmt.Sprintf("larger than any node that it may use: %s has %s", plain.Name(c.NodeName(r.Node)), amount())
	case "above-max":
		return fmt.Sprintf("above the max of %s: %s", c.queueName(r.Queue), amount())
	}
	return ""
}

// An enforcementReport is a decision about a queue over its max, for machines.
type enforcementReport struct {
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
	Stops     []obstacleReport  `json:"stops,omitempty"`
	Grants    []string          `json:"grants,omitempty"`
	Jobs      []jobReport       `json:"jobs,omitempty"`
	Overrun   int64             `json:"overrun,omitempty"` // of soft budgets
	Proven    bool              `json:"proven"`
	Steps     int64             `json:"steps"`
}

// A partReport is what a queue was asked for first, for machines.
type partReport struct {
	Queue  string            `json:"queue"`
	Amount map[string]string `json:"amount"`
}

// A leafReport is what a leaf was asked for and gives, for machines.
type leafReport struct {
	Queue   string            `json:"queue"`
	Asked   map[string]string `json:"asked"`
	Freed   map[string]string `json:"freed"`
	Victims int               `json:"victims"`
}

// An obstacleReport is an [Obstacle] for machines.
type obstacleReport struct {
	Type   string `json:"type"`
	Rule   string `json:"rule"`
	Amount string `json:"amount"`
	Queue  string `json:"queue"`
}

// A jobReport is a job that goes as a whole, for machines.
type jobReport struct {
	Job     string `json:"job"`
	Minimum int    `json:"minimum"`
	Victims int    `json:"victims"`
}

// wholeJobs returns the jobs that go as a whole, by name.
func (p *Plan) wholeJobs(c *Cluster) (all []jobReport) {
	for i := range p.Victims {
		v := &p.Victims[i]
		if !v.Whole {
			continue
		}
		at, ok := slices.BinarySearchFunc(all, v.Job, func(j jobReport, name string) int { return strings.Compare(j.Job, name) })
		if !ok {
			all = slices.Insert(all, at, jobReport{Job: v.Job, Minimum: c.MinMembers(v.Job)})
		}
		all[at].Victims++
	}
	return all
}

func (d *Decision) reportEnforcement(c *Cluster) *enforcementReport {
	s, e := c.Schema(), &d.Enforcement
	amounts := func(v resources.Vector) map[string]string { return vectors.Quantities(s, v) }
	r := &enforcementReport{
		Summary: d.Summary(c), Result: e.Result, Queue: d.Plan.Path, Max: vectors.Bounds(s, e.Max),
		Usage: amounts(e.Usage), Target: amounts(e.Target), Freed: amounts(e.Freed), Shortfall: amounts(e.Shortfall),
		Victims: []any{}, Grants: append([]string(nil), e.Grants...),
		Overrun: d.Plan.Cost.Overrun, Proven: e.Proven, Steps: d.Plan.Steps,
	}
	for i := range e.Parts {
		p, path := &e.Parts[i], c.tree.Path(e.Parts[i].Queue)
		if !resources.IsZero(p.Amount) {
			r.Parts = append(r.Parts, partReport{path, amounts(p.Amount)})
		}
		if p.asked() {
			r.Leaves = append(r.Leaves, leafReport{path, amounts(p.Asked), amounts(p.Freed), p.Victims})
		}
	}
	for i := range d.Plan.Victims {
		r.Victims = append(r.Victims, d.Plan.Victims[i].report(s))
	}
	for _, o := range e.Obstacles {
		name := s.Name(o.Type)
		r.Stops = append(r.Stops, obstacleReport{name, o.Rule, resources.FormatQuantity(name, o.Amount), c.tree.Path(o.Queue)})
	}
	r.Jobs = d.Plan.wholeJobs(c)
	return r
}
