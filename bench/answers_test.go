// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/victims"
)

// answerSizes are numbers of tasks, some of them around those where searches change: 300,
// beyond which headroom is looked for by bounds, 1,024 and 4,096, and 8,192, beyond which the
// last key gets a part of the budget only.
var answerSizes = []int{290, 330, 600, 900, 1020, 1050, 2000, 3000, 4080, 4110, 5000, 6000, 7000, 8190, 8220, 10_000, 12_000}

// An answer is how many tasks plans stop by default, and with four times the steps.
type answer struct{ victims, more int }

// answersOf decides draws of a size in which one to three queues lack headroom, of few shapes
// and of random sizes.
func answersOf(size, draws int) (sum answer) {
	for i := range draws {
		r := rand.New(rand.NewPCG(uint64(i), 4)) // the same draws for all sizes
		h := workload.Hard{
			Nodes: size / 30, Tasks: 30, Shapes: []int{0, 4, 12, 30}[r.IntN(4)], Levels: 1 + i%3, Seed: r.Uint64(),
		}
		c, k := h.Build(), []int64{2, 4, 10, 20}[r.IntN(4)]
		s := h.Subject(c, k)
		s.Decide()
		sum.victims += len(s.Decision.Plan.Victims)
		if s.Decision.Plan.Proof < victims.ProofLevels { // else no steps find less
			s = h.Subject(c, k)
			s.Planner.Steps = 4 * lent.To(new(victims.Options)).DefaultSteps(c)
			s.Decide()
		}
		sum.more += len(s.Decision.Plan.Victims)
	}
	return sum
}

// No answer gets worse at a switch: at all sizes plans have nearly as few victims as with
// four times the steps.
func TestAnswers_AtAllSizes(t *testing.T) {
	draws := 6
	if testing.Short() {
		draws = 3
	}
	for _, size := range answerSizes {
		sum := answersOf(size, draws)
		t.Logf("%d tasks: %d victims, %d with more steps", size, sum.victims, sum.more)
		require.LessOrEqual(t, 100*sum.victims, 105*sum.more, "%d tasks", size)
		require.GreaterOrEqual(t, sum.victims, sum.more, "%d tasks: more steps are worse", size)
	}
}

// BenchmarkAnswers tells how many tasks are stopped by default for each one that is with four
// times the steps. Times are of little interest.
func BenchmarkAnswers(b *testing.B) {
	for _, size := range answerSizes {
		b.Run(fmt.Sprint("tasks=", size), func(b *testing.B) {
			var sum answer
			for b.Loop() {
				sum = answersOf(size, 6)
			}
			b.ReportMetric(float64(sum.victims), "victims")
			b.ReportMetric(float64(sum.victims)/float64(max(sum.more, 1)), "victims/best")
		})
	}
}
