// SPDX-License-Identifier: Apache-2.0

package alike_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/alike"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/victims"
)

func TestCopier(t *testing.T) {
	type source struct {
		A, B   int
		C      string
		hidden int
	}
	type target struct {
		C      string
		B      int64
		A, D   int
		hidden int
	}
	got := target{D: 4, B: 5}
	alike.Copier[target, source]()(&got, &source{A: 1, B: 2, C: "c", hidden: 3})
	require.Equal(t, target{C: "c", B: 5, A: 1, D: 4}, got, "B is of another type")
	require.Zero(t, got.hidden)
}

// What a task has, an ask will have as a task, and a member for itself, worlds and documents have, too.
func TestLacks(t *testing.T) {
	type (
		task   = victims.Task
		member = victims.Member
	)
	const why = "a field of tasks and members is missing, or is to be listed here"
	for file, lacks := range map[string][]string{
		"victims/decision.go, Ask":              alike.Lacks[victims.Ask, task, member](),
		"internal/judge/world/world.go, Task":   alike.Lacks[world.Task, task, member](),
		"internal/judge/world/world.go, Ask":    alike.Lacks[world.Ask, task, member](),
		"internal/judge/scenario/task.go, Task": alike.Lacks[scenario.Task, task, member](),
		"internal/judge/scenario/task.go, Ask":  alike.Lacks[scenario.Ask, task, member](),
	} {
		for _, name := range lacks {
			require.Contains(t, []string{"Name", "Tag", "Class", "Size", "OptedOut"}, name, "%s: %s", file, why)
		}
	}
}
