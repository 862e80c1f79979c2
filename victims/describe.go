package victims

// Describe writes a decision for people to read: a first line that says it
// all, then a line for each reason. It ends with a newline. A plan says what it
// is by itself, so its victims may have gone; the queue and the node that a
// refusal names must be there still.
//
// Words in brackets are those of [Reason] and [Rule], and stable; the text
// around them may be improved. Names that are not plain are quoted.
func (c *Cluster) Describe(d *Decision) string { return writer{c}.decision(d) }

// DescribeRefusal writes why a decision is a refusal, as [Cluster.Describe]
// does, but for the ask that is refused.
func (c *Cluster) DescribeRefusal(d *Decision) string { return writer{c}.refusal(d) }

// DescribeExplanation writes what led to a decision, which is for
// [Cluster.Describe] to write: tables of queues, nodes and tasks with what
// decided about each, a line for each, and for a refusal the single rules
// without which there would be a place. The nodes must be there still.
//
// Findings begin with the stable word of a [Rule] or [NodeVerdict] if one
// decided, but for tasks of the asking queue: [RuleFence] keeps those, though no
// fence may be near. Names that are not plain are quoted.
func (c *Cluster) DescribeExplanation(e *Explanation) string { return writer{c}.explanation(e) }

// DescribeHelp writes what would help after a refusal, for people to read, on a
// line. It ends with a newline. The queues must be there still.
func (c *Cluster) DescribeHelp(h *Help) string { return writer{c}.help(h) }

// DescribeQueue says what a queue is to the ask, as [Cluster.DescribeExplanation]
// does: for a page on which one points at queues. A queue that plays no part
// gets the empty text.
func (c *Cluster) DescribeQueue(e *Explanation, f *QueueFinding) string { return writer{c}.queue(e, f) }

// DescribeNode says what a node is to the ask, as [Cluster.DescribeExplanation]
// does.
func (c *Cluster) DescribeNode(f *NodeFinding) string { return writer{c}.node(f) }

// DescribeTask says what a task is to the ask, as [Cluster.DescribeExplanation]
// does: a victim, a candidate, or what keeps it from being one.
func (c *Cluster) DescribeTask(e *Explanation, f *TaskFinding) string { return writer{c}.task(e, f) }

// DescribeRelaxation says without which rule an ask would have a place, and
// where, as [Cluster.DescribeExplanation] does.
func (c *Cluster) DescribeRelaxation(f *RelaxationFinding) string { return writer{c}.relaxation(f) }
