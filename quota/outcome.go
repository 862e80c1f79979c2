package quota

import (
	"iter"
	"slices"

	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Result is what came of an enforcement. Its String is a stable word.
type Result uint8

const (
	// Met: once the victims have gone, usage is within max. There need not be
	// any.
	Met Result = 1 + iota
	// MetWithinMiss: usage stays over max, by no more than may be missed.
	MetWithinMiss
	// Partial: usage stays over max by more than that, although there are
	// victims.
	Partial
	// Impossible: usage stays over max by more than that, and nobody can be
	// taken.
	Impossible
)

var resultWords = word.Table{Of: "quota.Result", Words: []string{
	Met:           "met",
	MetWithinMiss: "met-within-miss",
	Partial:       "partial",
	Impossible:    "impossible",
}}

// String returns the stable word for the result.
func (r Result) String() string { return resultWords.Word(uint8(r)) }

// MarshalText returns the stable word for the result, and nothing for 0. A number that
// has no word is an error.
func (r Result) MarshalText() ([]byte, error) { return resultWords.Text(uint8(r)) }

// UnmarshalText sets the result whose text is given. Any other text is an error
// and changes nothing.
func (r *Result) UnmarshalText(text []byte) error { return word.Set(r, resultWords, text) }

// An Outcome is the answer to an enforcement. It is owned by the caller, who
// hands it to [Enforcer.Enforce] again to have its memory reused; it shares
// none with the cluster. It is plain data: nothing happens until its
// [Outcome.Change] is applied.
type Outcome struct {
	Result Result
	Queue  queue.ID         // whose quota is enforced
	Max    resources.Limit  // that is enforced
	Usage  resources.Vector // effective usage before, in every type
	Target resources.Vector // what has to go of it: see Preemptable

	Freed     resources.Vector // what the victims free, in every type
	Shortfall resources.Vector // what stays over max, at least 0

	// Parts are what the queues below the enforced one were to free in the
	// first round, in tree order. Queues without a part are left out. They sum
	// to the target, or to what the queues can release; if a guarantee above
	// the enforced queue lets less go, less is asked for, in proportion.
	Parts []Part
	// Leaves are the leaves that were asked for anything, in tree order.
	Leaves []Leaf
	// Victims are the tasks that should stop, sorted by key. They make room
	// under a max, and have no rank, as nobody asks.
	Victims []victims.Victim
	// Stops say, for each type of which something stays over, what keeps the
	// rest; by type, and then by rule.
	Stops []Stop
	// Grants are the keys of the asks that were granted a place below the
	// queue, sorted. They count as usage and cannot be taken. They are
	// looked for only if there is a target.
	Grants []string
	// Jobs are the jobs that go as a whole, sorted by name.
	Jobs []JobLoss
	// Overrun is by how many victims soft budgets are overrun, all together. It
	// changes nothing about who goes.
	Overrun int64

	// Proven is set if no search was cut short by its budget of steps, or
	// left out for it, or none was needed. Then no legal set of victims frees
	// more of one type of the target and as much of the others. Steps are the
	// elementary steps of the searches; see Enforcer.Budget.
	Proven  bool
	Steps   int64
	Version victims.Version // of the cluster that it was made for

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
	Rule   Rule
	Amount int64 // of the type that tasks and grants hold to which the rule applies
	// Queue is the first queue in tree order whose guarantee stopped a task,
	// for RuleGuarantee, and the enforced queue for other rules.
	Queue queue.ID
}

// A JobLoss is a job that goes as a whole: too few of its members would be left.
type JobLoss struct {
	Job     string
	Minimum int // the members that it needs
	Victims int // the members that ran
}

// Change returns what [victims.Cluster.ApplyChange] takes to mark the victims
// as preempting, so that they count as leaving from then on. It shares the
// victims with the outcome.
func (o *Outcome) Change(c *victims.Cluster) victims.Change {
	return victims.Change{For: c.Tree().Path(o.Queue), Version: o.Version, Victims: o.Victims}
}

// ByNode yields the nodes on which victims run, in node order, and the victims
// of each, sorted by key, for callers that stop tasks node by node. The victims
// must be there still. The cost is that of sorting them, and linear in the
// nodes.
func (o *Outcome) ByNode(c *victims.Cluster) iter.Seq2[victims.NodeID, []victims.Victim] {
	return func(yield func(victims.NodeID, []victims.Victim) bool) {
		node := func(v victims.Victim) victims.NodeID { return c.NodeOf(v.Task) }
		place := make(map[victims.NodeID]int)
		for n := range c.Nodes() {
			place[n] = len(place)
		}
		all := slices.Clone(o.Victims)
		slices.SortStableFunc(all, func(a, b victims.Victim) int { return place[node(a)] - place[node(b)] })
		for len(all) > 0 {
			n, end := node(all[0]), 1
			for end < len(all) && node(all[end]) == n {
				end++
			}
			if !yield(n, all[:end:end]) {
				return
			}
			all = all[end:]
		}
	}
}
