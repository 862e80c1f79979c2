// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Whatever keys are like, tasks come in their order, and starts alone say which of two is first unless they are equal.
func TestSortByKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfNDistinct(rapid.OneOf(
			rapid.StringMatching(`(ns/)?[ab0-9]{1,4}(-[0-9]{1,2})?`), rapid.StringMatching(`[\x00\x01é\xff]{1,3}`),
			rapid.StringMatching(`a{60,70}[0-9]?`), rapid.StringN(1, 40, -1),
		), 0, 30, rapid.ID[string]).Draw(t, "keys")
		c := &Cluster{}
		var list []keyedTask
		for i, key := range keys {
			c.tasks = append(c.tasks, taskRow{key: key})
			list = append(list, keyedTask{id: TaskID(i)})
		}
		(&decision{c: c}).sortByKey(list)
		slices.Sort(keys)
		for i, k := range list {
			require.Equal(t, keys[i], c.tasks[k.id].key)
		}
		byStart := slices.Clone(list)
		slices.Reverse(byStart)
		sortByStart(byStart, make([]keyedTask, len(list)))
		for i, k := range byStart {
			require.Equal(t, list[i].start, k.start)
		}
	})
}
