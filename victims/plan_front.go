package victims

import (
	"slices"

	"github.com/go-preempt/preempt/victims/cover"
)

// A frontier is a heap of the nodes that may still have a better plan than the best,
// those of the least bound first.
type frontier struct {
	d       *decision
	rows    []prospect
	waiting []prospect // whose search takes long; see examineAll
}

// A prospect is a node with a bound on what a plan for it costs.
type prospect struct {
	levels cover.Levels
	work   cover.Work // if the levels are those; see hearing.line
	node   NodeID
	spare  int64 // by how much its tasks exceed what the bound takes
	here   int64 // how many victims are on the node at least; see jointSearch
}

func (f *frontier) Len() int      { return len(f.rows) }
func (f *frontier) Swap(i, j int) { f.rows[i], f.rows[j] = f.rows[j], f.rows[i] }
func (f *frontier) Push(x any)    { f.rows = append(f.rows, *x.(*prospect)) }
func (f *frontier) Pop() any {
	f.rows = f.rows[:len(f.rows)-1]
	return nil // the caller has read it
}

// Less orders prospects by their bounds.
func (f *frontier) Less(i, j int) bool {
	a, b := &f.rows[i], &f.rows[j]
	if c := slices.Compare(a.levels[:], b.levels[:]); c != 0 {
		return c < 0
	}
	if a.spare != b.spare {
		return a.spare > b.spare // it is more likely to have a plan as good as the bound
	}
	return f.d.c.comesBefore(a.node, b.node)
}
