// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWrite: a document is written as encoding/json does, however many tasks it has.
func TestWrite(t *testing.T) {
	type task struct {
		Key string   `json:"key"`
		Of  []string `json:"of"`
	}
	type document struct {
		Name  string         `json:"name"`
		Other map[string]any `json:"other"`
		Tasks []task         `json:"tasks"`
		Last  int            `json:"last"`
	}
	d := document{Name: "\n \"tasks\": [] <", Other: map[string]any{"tasks": []int{}}}
	for n := range 3 {
		whole, tasks := d, []task{}
		for i := range n {
			tasks = append(tasks, task{Key: fmt.Sprint("<", i), Of: []string{"a"}})
		}
		whole.Tasks = tasks
		want, err := indented(new(bytes.Buffer), whole, "")
		require.NoError(t, err)
		require.True(t, json.Valid(want))
		d.Tasks = []task{}
		var got bytes.Buffer
		require.NoError(t, Write(&got, d, tasks))
		require.Equal(t, string(want), got.String())
		require.ErrorIs(t, Write(failing{}, d, tasks), errFull)
	}
	require.Panics(t, func() { _ = Write(&bytes.Buffer{}, map[string]int{}, []task{}) })
	require.Error(t, Write(&bytes.Buffer{}, d, []any{func() {}}))
}

var errFull = errors.New("full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }
