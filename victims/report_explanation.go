package victims

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
