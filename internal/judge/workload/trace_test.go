// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/trace"
	"github.com/go-preempt/preempt/resources"
)

// writeTrace writes the files of a trace to a folder.
func writeTrace(t *testing.T, nodes, pods string) (dir string) {
	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, trace.NodeFile), []byte(nodes), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, trace.PodFile), []byte(pods), 0o644))
	return dir
}

const (
	nodeHeads = "sn,cpu_milli,memory_mib,gpu,model\n"
	podHeads  = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,creation_time,deletion_time\n"
)

func TestTrace(t *testing.T) {
	moment, err := ReadTrace(writeTrace(t,
		nodeHeads+"n0,4000,8,0,\nn1,4000,8,2,T4\n",
		podHeads+
			"c,1000,1,0,0,,BE,30,40\n"+
			"a,3000,1,0,0,,LS,10,40\n"+
			"b,1000,2,1,460,,Guaranteed,20,40\n"+ // the GPU is on n1
			"d,3500,1,0,0,,Burstable,30,40\n")) // 3 on n0, 1 and then 1 on n1 and n0: no room
	require.NoError(t, err)
	c := moment.Cluster
	require.Equal(t, 3, c.TaskLen())
	for key, want := range map[string]struct {
		node     string
		queue    string
		size     resources.Vector
		priority int32
		age      time.Duration
	}{
		"a": {"n0", "root.ls.0", resources.Vector{3000, 1 << 20, 0}, 200, time.Hour + 20*time.Second},
		"b": {"n1", "root.guaranteed.1", resources.Vector{1000, 2 << 20, 460}, 300, time.Hour + 10*time.Second},
		"c": {"n0", "root.be.2", resources.Vector{1000, 1 << 20, 0}, 0, time.Hour},
	} {
		id, ok := c.Lookup(key)
		require.True(t, ok, key)
		task := c.Task(id)
		require.Equal(t, want.node, c.Node(task.Node).Name, key)
		require.Equal(t, want.queue, c.Tree().Path(task.Queue), key)
		require.Equal(t, want.size, task.Size, key)
		require.Equal(t, want.priority, task.Priority, key)
		require.Equal(t, want.age, Now.Sub(task.Scheduled), key)
		require.Equal(t, key, task.Application)
	}
	require.Len(t, moment.Asks, 1)
	require.Equal(t, "d", moment.Asks[0].Key)
	require.Equal(t, "root.burstable.3", c.Tree().Path(moment.Asks[0].Queue))
	require.Equal(t, int32(100), moment.Asks[0].Priority)
	require.Equal(t, Now.Add(-time.Hour), moment.Asks[0].PendingSince)

	// The ask is for 3.5 cores. On n0 it may only stop c, which has 1, and on n1,
	// where 3 are free, nothing: b is of higher priority, as a is.
	require.Zero(t, moment.Decide())
	require.Equal(t, "no-victims", moment.decision.Refusal.Reason)
}

func TestReadTraceErrors(t *testing.T) {
	const node, pod = nodeHeads + "n,1,1,1,\n", podHeads + "p,1,1,0,0,,LS,1,1\n"
	for _, test := range []struct {
		name, nodes, pods string
		want              string // in what the error says
	}{
		{"nodes that cannot be read", "sn,cpu_milli\n", pod, trace.NodeFile + ":1: column memory_mib"},
		{"pods that cannot be read", node, podHeads + "p,1,1,0,0,,XX,1,1\n", trace.PodFile + `:2: column qos: "XX"`},
		// 8 times 2⁴⁰ MiB are 2⁶³ bytes.
		{"nodes that are too large", nodeHeads + eightNodes("1099511627776"), pod, "out of range"},
	} {
		_, err := ReadTrace(writeTrace(t, test.nodes, test.pods))
		require.ErrorContains(t, err, test.want, test.name)
	}
	_, err := ReadTrace(t.TempDir())
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// eightNodes returns the records of nodes with that much memory each.
func eightNodes(mib string) string {
	var b strings.Builder
	for i := range 8 {
		fmt.Fprintf(&b, "n%d,1,%s,0,\n", i, mib)
	}
	return b.String()
}

// readTrace reads the production trace, or skips the test where it is not there.
func readTrace(t *testing.T) *Trace {
	t.Helper()
	moment, err := ReadTrace(filepath.Join("..", "..", "..", "..", "shared", "traces"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no trace: ", err)
	}
	require.NoError(t, err)
	return moment
}

// TestTwinOfTheTrace: the twin is a cluster as full as the trace is, with asks that
// find no room, of which some have plans and some have none.
func TestTwinOfTheTrace(t *testing.T) {
	moment := NewTwin()
	require.Equal(t, 1523, moment.Cluster.NodeLen())
	require.Equal(t, 8152, moment.Cluster.TaskLen()+len(moment.Asks))
	require.Greater(t, len(moment.Asks), 100)
	plans := moment.Decide()
	require.Positive(t, plans)
	require.Less(t, plans, len(moment.Asks))
	t.Logf("%d asks, %d plans", len(moment.Asks), plans)
	for n := range moment.Cluster.Nodes() {
		require.True(t, resources.Fits(nil, moment.Cluster.Free(nil, n)), "node %d is over-committed", n)
	}
}

func TestTraceAsItIs(t *testing.T) {
	if testing.Short() {
		t.Skip("TestTwinOfTheTrace does the same")
	}
	moment := readTrace(t)
	require.Equal(t, 1523, moment.Cluster.NodeLen())
	require.Equal(t, 8152, moment.Cluster.TaskLen()+len(moment.Asks))
	require.Equal(t, int64(6212000), moment.Cluster.Capacity()[2], "GPUs")
	require.NotEmpty(t, moment.Asks)
	require.Positive(t, moment.Decide())
	for n := range moment.Cluster.Nodes() {
		require.True(t, resources.Fits(nil, moment.Cluster.Free(nil, n)), "node %d is over-committed", n)
	}
}
