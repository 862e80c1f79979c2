// SPDX-License-Identifier: Apache-2.0

package preempttest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// small returns a cluster of two nodes: n1 with the tasks t0, t1, t2 and one
// that is leaving, n2 with t3. They were scheduled so many minutes ago as
// their numbers say.
func small() (*victims.Cluster, error) {
	schema, err := resources.NewSchema("cpu")
	if err != nil {
		return nil, err
	}
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{{Name: "a"}, {Name: "b"}}})
	if err != nil {
		return nil, err
	}
	c := victims.NewCluster(tree)
	for _, name := range []string{"n1", "n2"} {
		if _, err := c.AddNode(&victims.Node{Name: name, Capacity: resources.Vector{10000}}); err != nil {
			return nil, err
		}
	}
	for i, t := range []victims.Task{
		{Key: "t0", Node: 1}, {Key: "t1", Node: 1}, {Key: "t2", Node: 1},
		{Key: "t3", Node: 2}, {Key: "leaving", Node: 1, State: victims.Releasing},
	} {
		t.Queue, t.Size = 1, resources.Vector{1000}
		t.Scheduled = now.Add(time.Duration(-i) * time.Minute)
		if _, err := c.AddTask(&t); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func cluster(t *testing.T) *victims.Cluster {
	c, err := small()
	require.NoError(t, err)
	return c
}

// asks are two asks, of priorities 0 and 100.
func asks() []victims.Ask {
	return []victims.Ask{
		{Key: "x", Queue: 2, Size: resources.Vector{1000}},
		{Key: "y", Queue: 2, Size: resources.Vector{2000}, Priority: 100},
	}
}
