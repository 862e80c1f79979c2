package victims_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// Twelve tasks are alike but for the time when they began, each on a node of its
// own, and the root is at its max. Of such a group a pool keeps as many as can be of
// use: those that lose the least work, however many that is and wherever they stand.
func TestPool_KeepsTheFirstOfAGroup(t *testing.T) {
	for _, size := range []int64{1, 5, 12} {
		f := newFixture(t, queue.Config{Max: slots(12), Children: []queue.Config{
			{Name: "a"}, {Name: "b", Guaranteed: slots(100)},
		}})
		f.node("n1", 100)
		var want []string
		for i := range 12 {
			key, node, ran := fmt.Sprintf("t%02d", i), fmt.Sprintf("own%d", i), time.Duration(i*5%12+1)
			f.node(node, 1)
			f.task(key, "a", node, 1, func(t *victims.Task) { t.Scheduled = now.Add(-ran * time.Minute) })
			if int64(ran) <= size {
				want = append(want, key)
			}
		}
		d := f.decide(&victims.Planner{Audit: true}, f.ask("x", "b", size))
		require.ElementsMatch(t, want, keysOf(d), "%d are short", size)
		require.Equal(t, victims.ProofCost, d.Plan.Proof)
	}
}
