// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Victims come in the order of their keys, few of them or many, whatever the keys
// have in common.
func TestEnforce_VictimsAreInTheOrderOfTheirKeys(t *testing.T) {
	for _, test := range []struct {
		name string
		key  func(i int, x uint32) string
	}{
		{"numbers", func(i int, x uint32) string { return fmt.Sprintf("task-%d", i*7919%4000) }},
		{"bytes", func(i int, x uint32) string {
			return string([]byte{byte(x), byte(x >> 8), byte(x >> 16)}) + fmt.Sprint(i)
		}},
		{"long alike", func(i int, x uint32) string {
			return strings.Repeat("x", 9) + strings.Repeat("y", int(x%20)) + fmt.Sprint(i)
		}},
		{"prefixes", func(i int, x uint32) string { return strings.Repeat("z", i+1) }},
	} {
		for _, tasks := range []int{20, 1000} {
			t.Run(fmt.Sprintf("%s/tasks=%d", test.name, tasks), func(t *testing.T) {
				f := newFixture(t, leaf("a"))
				random := rand.New(rand.NewPCG(1, 2))
				for i := range tasks {
					f.task(test.key(i, random.Uint32()), "a", 1)
				}
				o := f.enforce("a", slots(int64(tasks/4)))
				var keys []string
				for _, v := range o.Plan.Victims {
					keys = append(keys, v.Key)
				}
				require.Len(t, keys, tasks-tasks/4)
				require.True(t, slices.IsSorted(keys))
			})
		}
	}
}
