package jobs

import (
	"math"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

// A supply is who could go: candidates, the running jobs that some of them
// belong to, and the units that both go in.
type supply struct {
	cands   []candidate // leaf by leaf in tree order
	grades  []grade     // of cands
	gangs   []gang      // in the order of their first members
	gangOf  map[string]int32
	members []int32 // candidates in gangs, gang by gang
	units   []unit
	wholes  int     // how many of them are whole gangs, which are the last
	tasks   []int32 // candidates, unit by unit
	usable  []bool  // by candidate: whether any unit has it
	parts   []cover.Part
	keys    []string // of the members of whole gangs, beside the least of each gang
	names   []int32  // scratch: gangs in the order of their names
}

// A candidate is a task that no rule for itself alone keeps from being a
// victim.
type candidate struct {
	id   victims.TaskID
	host int32 // it runs on, or -1
	leaf *leafRow
	gang int32 // the running job that may need it, or -1
	size resources.Vector
	key  string

	levels  cover.Levels
	work    uint64  // lost with it, in nanoseconds
	budgets []int32 // rows of budgets, ascending
}

// A grade is what ceilings ask of a candidate, in a sixth of its memory: they ask all
// of them, time and again.
type grade struct {
	rank, priority int64
	host           int32
	plain          bool // neither opted out nor an originator
	usable         bool // see supply.usable
}

// gradeOf returns the grade of a candidate that may be of no use.
func gradeOf(c *candidate) grade {
	l := &c.levels
	return grade{
		rank: l[victims.LevelRank], priority: l[victims.LevelPriority], host: c.host,
		plain: l[victims.LevelOptedOut]+l[victims.LevelOriginators] == 0,
	}
}

// gatherCandidates collects the candidates of the cluster and the gangs they
// belong to, and makes units of them.
func (c *jobCase) gatherCandidates() {
	c.cands, c.grades, c.gangs = c.cands[:0], c.grades[:0], c.gangs[:0]
	if c.gangOf == nil {
		c.gangOf = make(map[string]int32)
	}
	clear(c.gangOf)
	c.budgets.begin(c)
	for w := range c.tree.Leaves(0) {
		for id := range c.c.TasksIn(w) {
			t := c.c.Head(id)
			// A member counts for its job whether it is a candidate or not: one that
			// may not go keeps the job from going as a whole.
			g := c.noteMember(id, &t)
			if t.State == victims.Granted || c.rules.veto(c.c, id, &t) != 0 || c.rules.exempt(id) {
				continue
			}
			if g >= 0 {
				c.gangs[g].eligible++
			}
			c.addCandidate(id, &t, g)
		}
	}
	c.settleGangs()
	c.buildUnits()
}

// addCandidate adds a task of a gang, or of none.
func (c *jobCase) addCandidate(id victims.TaskID, t *victims.Head, gang int32) {
	c.cands = append(c.cands, candidate{
		id: id, host: c.hostAt(t.Node), leaf: &c.rules.leaves[t.Queue], gang: gang, size: t.Size, key: c.c.Key(id),
		levels: c.rules.eligible.Levels(id), work: c.rules.eligible.Lost(id),
	})
	c.grades = append(c.grades, gradeOf(&c.cands[len(c.cands)-1]))
	if t.HasBudgets {
		c.cands[len(c.cands)-1].budgets = c.budgets.find(c.c.TaskView(id).Budgets)
	}
}

// addWork returns a + b, or the most there is.
func addWork(a, b uint64) uint64 {
	if s := a + b; s >= a {
		return s
	}
	return math.MaxUint64
}
