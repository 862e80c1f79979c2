package oracle

import (
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/world"
)

// The outcomes, in the words of package victims.
const (
	Fits     = "fits"
	Waits    = "waits"
	Preempts = "plan"
	Refused  = "refused"
)

// A Result is what was decided, in plain words.
type Result struct {
	Outcome string

	// For any outcome but Refused. The cost is that of a plan with victims.
	Node    string
	Victims []Victim // sorted by key
	Cost    Cost

	// For Refused. Counts, Candidates, Closest and Lacks are those of the
	// reason no-victims.
	Reason     string
	Where      []string       // every queue and type that the reason is true of, as "path type"
	Counts     map[string]int // tasks by the rule that kept them, without zeros
	Candidates int
	Closest    string
	Lacks      world.Amounts // without zeros
	RetryAt    time.Time
}

// A Victim is a task of a plan, and what for: whether it has some of what the
// node of the plan needs, and of what a queue above it lacks in headroom.
type Victim struct {
	Key                  string
	Rank                 int64
	ForNode, ForHeadroom bool
}

// Decide decides the ask of a case. The cost is exponential in the number of
// tasks that could be victims.
func Decide(c *world.Case) Result {
	j := newJudge(&c.World, &c.Ask, &c.Options)

	// DESIGN.md, Fits and waits: a place as things are, or as they will be.
	if node, ok := j.grant(); ok {
		if j.start(node) == Fits {
			return Result{Outcome: Fits, Node: node}
		}
		return Result{Outcome: Refused, Reason: "in-flight"}
	}
	if outcome, node := j.place(); outcome != "" {
		return Result{Outcome: outcome, Node: node}
	}
	if reason, retry := j.precondition(); reason != "" {
		return Result{Outcome: Refused, Reason: reason, Where: j.where(reason), RetryAt: retry}
	}

	// DESIGN.md, Cost: the cheapest of all lawful sets on all nodes.
	if p, ok := j.best(); ok {
		return j.plan(p)
	}

	// DESIGN.md, Refusals: why not.
	r := Result{Outcome: Refused, Reason: "no-victims", Counts: make(map[string]int), RetryAt: j.wake()}
	for i := range j.w.Tasks {
		if rule := j.rule(&j.w.Tasks[i]); rule != "" {
			r.Counts[rule]++
		} else {
			r.Candidates++
		}
	}
	r.Closest, r.Lacks = j.closest()
	return r
}

// plan returns the result that a cost is the cost of.
func (j *judge) plan(c Cost) Result {
	r := Result{Outcome: Preempts, Node: j.w.Nodes[c.Node].Name, Cost: c}
	for _, key := range c.Keys {
		t := j.tasks[key]
		r.Victims = append(r.Victims, Victim{
			Key: key, Rank: j.rank(t),
			ForNode:     t.Node == r.Node && shares(t.Size, j.nodeNeed(r.Node)),
			ForHeadroom: j.givesHeadroom(t),
		})
	}
	return r
}

// best returns the cost of the cheapest lawful plan, looking at every node and
// every set of candidates that could be one.
func (j *judge) best() (best Cost, ok bool) {
	for _, n := range j.w.Nodes {
		if !j.usable(&n) {
			continue
		}
		j.sets(n.Name, nil, j.candidates(n.Name), func(victims []*world.Task) {
			cost := j.cost(n.Name, victims)
			if len(j.breaks(n.Name, cost.Keys)) == 0 && (!ok || cost.compare(&best) < 0) {
				best, ok = cost, true
			}
		})
	}
	return best, ok
}

// sets calls consider with every set of the chosen and some of the rest that
// makes room on the node and in headroom, except those of which a part does,
// for whose victims some can be given back.
func (j *judge) sets(node string, chosen, rest []*world.Task, consider func([]*world.Task)) {
	d := &docket{judge: j}
	if d.room(node, chosen); len(d.found) == 0 {
		consider(chosen)
		return
	}
	for i, v := range rest {
		j.sets(node, append(slices.Clone(chosen), v), rest[i+1:], consider)
	}
}

// candidates returns the tasks that could be in a plan for the node: those on
// it, and those anywhere below a queue that is short of headroom, that no law
// about a single victim forbids.
func (j *judge) candidates(node string) (list []*world.Task) {
	for i := range j.w.Tasks {
		v := &j.w.Tasks[i]
		d := &docket{judge: j}
		d.victim(v)
		if len(d.found) == 0 && (v.Node == node || j.givesHeadroom(v)) {
			list = append(list, v)
		}
	}
	return list
}
