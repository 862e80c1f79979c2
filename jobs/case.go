package jobs

import (
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

// A jobCase is everything that a job is decided on: its members, the nodes that
// could host them, what the queues are short of, and who could be stopped. The
// case files write it, in the order of [jobCase.prepare]. The engines, in the
// search files, only read it.
//
// Three kinds of rows name things in it. A member is a place in todo, a host a
// place in hosts, and a unit a place in units. A unit is what goes together: one
// candidate, or a job with all its members. Units are what engines choose.
type jobCase struct {
	c     *victims.Cluster
	tree  *queue.Tree
	job   *Job
	now   time.Time
	types int
	order cover.Order // of costs

	roster // the members of the job, and who of them has a place
	crew   // those that are to be placed now
	site   // where they could be placed
	supply // who could go for them

	needs   needs
	budgets budgets
	filter  filter
	domains domains
	rules   rules
	rooms   *victims.Rooms // law 2, then what else bounds a sum of victims
	gate    gate

	blocks []int64 // amounts that live until setTodo
}

// begin makes the case one of a job at an instant. It fails if something is
// wrong with the job.
func (c *jobCase) begin(p *Planner, job *Job, now time.Time) error {
	c.c, c.tree, c.job, c.now = p.Cluster, p.Cluster.Tree(), job, now
	c.types = p.Cluster.Schema().Len()
	c.order = victims.PlanOrder()
	c.rules.begin(p, now)
	c.filter.caller = p.Filter
	c.gate.begin(c, p.Quotas)
	return c.roster.check(c)
}

// place finds the nodes and makes all members of the minimum that have no place
// the ones to be placed: enough of a case to see whether they fit.
func (c *jobCase) place() {
	c.findHosts()
	c.setTodo(len(c.unplaced))
	c.measureHosts()
}

// prepare makes the first n members of the minimum the ones to be placed, and
// works out who could be stopped for them. It reports whether any leaf is in
// reach.
func (c *jobCase) prepare(n int) bool {
	// Blocks of amounts live until setTodo, so everything that has some is made
	// anew after it: hosts first, for room is what needs are measured by.
	c.setTodo(n)
	c.measureHosts()
	c.gate.read(coming)
	c.needs.prepare(c)
	if !c.rules.prepare(c) {
		return false
	}
	c.gatherCandidates()
	c.listOnHosts()
	c.measureUnits()
	return true
}

// claim returns what the members to be placed ask of the quotas.
func (c *jobCase) claim() Claim {
	return Claim{Rem: c.rem, NonPreemptible: c.job.NonPreemptible}
}

// placements appends the placements of members on hosts, one per place in todo.
func (c *jobCase) placements(dst []Placement, at []int32) []Placement {
	for i, h := range at {
		dst = append(dst, c.placement(c.todo[i], h))
	}
	return dst
}

// placement returns the placement of a member, by its index in the job, on a
// host.
func (c *jobCase) placement(member int, h int32) Placement {
	id := c.hosts[h].id
	return Placement{Member: member, Node: id, Place: c.c.NodeName(id)}
}

// block returns n rows of zeros, one amount per type each, that live until
// setTodo.
func (c *jobCase) block(n int) []int64 {
	from := len(c.blocks)
	c.blocks = slices.Grow(c.blocks, n*c.types)[:from+n*c.types]
	rows := c.blocks[from:len(c.blocks):len(c.blocks)]
	clear(rows)
	return rows
}

// row returns row i of a block.
func (c *jobCase) row(block []int64, i int) resources.Vector {
	return rows.At(block, i, c.types)
}

// addTo adds sign times v to dst, in the types that dst has.
func addTo(dst, v resources.Vector, sign int64) {
	for t, amount := range v[:min(len(v), len(dst))] {
		dst[t] += sign * amount
	}
}
