package workload

import (
	"encoding/csv"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// writeTrace writes the files of a trace to a folder.
func writeTrace(t *testing.T, nodes, pods string) (dir string) {
	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, TraceNodes), []byte(nodes), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, TracePods), []byte(pods), 0o644))
	return dir
}

const (
	nodeHeads = "sn,cpu_milli,memory_mib,gpu,model\n"
	podHeads  = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,creation_time\n"
)

func TestTrace(t *testing.T) {
	trace, err := ReadTrace(writeTrace(t,
		nodeHeads+"n0,4000,8,0,\nn1,4000,8,2,T4\n",
		podHeads+
			"c,1000,1,0,0,,BE,30\n"+
			"a,3000,1,0,0,,LS,10\n"+
			"b,1000,2,1,460,,Guaranteed,20\n"+ // the GPU is on n1
			"d,3500,1,0,0,,Burstable,30\n")) // 3 on n0, 1 and then 1 on n1 and n0: no room
	require.NoError(t, err)
	c := trace.Cluster
	require.Equal(t, 3, c.TaskLen())
	for key, want := range map[string]struct {
		node     string
		tenant   string
		size     resources.Vector
		priority int32
		age      time.Duration
	}{
		"a": {"n0", "LS", resources.Vector{3000, 1 << 20, 0}, 200, time.Hour + 20*time.Second},
		"b": {"n1", "Guaranteed", resources.Vector{1000, 2 << 20, 460}, 300, time.Hour + 10*time.Second},
		"c": {"n0", "BE", resources.Vector{1000, 1 << 20, 0}, 0, time.Hour},
	} {
		id, ok := c.Lookup(key)
		require.True(t, ok, key)
		task := c.Task(id)
		require.Equal(t, want.node, c.Node(task.Node).Name, key)
		parent, _ := c.Tree().Parent(task.Queue)
		require.Equal(t, want.tenant, c.Tree().Name(parent), key)
		require.Equal(t, want.size, task.Size, key)
		require.Equal(t, want.priority, task.Priority, key)
		require.Equal(t, want.age, Now.Sub(task.Scheduled), key)
		require.Equal(t, key, task.Application)
	}
	require.Len(t, trace.Asks, 1)
	require.Equal(t, "d", trace.Asks[0].Key)
	require.Equal(t, int32(100), trace.Asks[0].Priority)
	require.Equal(t, Now.Add(-time.Hour), trace.Asks[0].PendingSince)

	// What runs as best effort is not enough, and the other has a guarantee.
	require.Zero(t, trace.Decide())
}

// TestTenants works the guarantees of tenants out by hand: 80 cores, of which a
// leaf has a quarter of 1, 7 and 2 tenths.
func TestTenants(t *testing.T) {
	root := tenantQueues(resources.Vector{80000, 0, 41})
	require.Len(t, root.Children, 4)
	for i, want := range []struct {
		name         string
		tenant, leaf resources.Vector
		types        resources.Mask
	}{
		{"Guaranteed", resources.Vector{8000, 0, 4}, resources.Vector{2000, 0, 1}, 0b101},
		{"LS", resources.Vector{56000, 0, 28}, resources.Vector{14000, 0, 7}, 0b101},
		{"Burstable", resources.Vector{16000, 0, 8}, resources.Vector{4000, 0, 2}, 0b101},
		{"BE", resources.Vector{0, 0, 0}, resources.Vector{0, 0, 0}, 0},
	} {
		tenant := root.Children[i]
		require.Equal(t, want.name, tenant.Name)
		require.Equal(t, resources.Limit{Value: want.tenant, Defined: want.types}, tenant.Guaranteed)
		require.Len(t, tenant.Children, 4)
		for _, leaf := range tenant.Children {
			require.Equal(t, resources.Limit{Value: want.leaf, Defined: want.types}, leaf.Guaranteed)
		}
	}
	schema, err := resources.NewSchema("cpu", "memory", "gpu-milli")
	require.NoError(t, err)
	_, err = queue.New(schema, root, queue.Strict)
	require.NoError(t, err)
}

func TestTraceErrors(t *testing.T) {
	const node, pod = nodeHeads + "n,1,1,1,\n", podHeads + "p,1,1,0,0,,LS,1\n"
	for _, test := range []struct {
		name, nodes, pods string
		is                error
		want              string // what the error says, behind the name of the file
	}{
		{"no node file", "", pod, ErrTrace, "no records"},
		{"no column", "sn,cpu_milli,gpu\nn,1,1\n", pod, ErrTrace, `no column "memory_mib"`},
		{"no number", nodeHeads + "n,1,x,1,\n", pod, ErrTrace, `node 1, "n": "x"`},
		{"a negative number", nodeHeads + "n,1,1,-1,\n", pod, ErrTrace, `node 1, "n": "-1"`},
		{"a large number", nodeHeads + "n,2147483648,1,1,\n", pod, ErrTrace, `node 1, "n": "2147483648"`},
		{"a node twice", nodeHeads + "n,1,1,1,\nn,1,1,1,\n", pod, victims.ErrDuplicate, `node "n"`},
		{"no class", node, podHeads + "p,1,1,0,0,,XX,1\n", ErrTrace, `pod 1, "p": class of service "XX"`},
		{"no pod number", node, podHeads + "q,1,1,0,0,,LS,1\np,1,1,0,1.5,,LS,1\n", ErrTrace, `pod 2, "p": "1.5"`},
		{"a pod twice", node, podHeads + "p,1,0,0,0,,LS,1\np,0,0,0,0,,LS,1\n", victims.ErrDuplicate, `"p"`},
		{"a short record", node, podHeads + "p,1\n", csv.ErrFieldCount, "wrong number of fields"},
	} {
		_, err := ReadTrace(writeTrace(t, test.nodes, test.pods))
		require.ErrorIs(t, err, test.is, test.name)
		require.ErrorContains(t, err, test.want, test.name)
	}
	_, err := ReadTrace(t.TempDir())
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// readTrace reads the production trace, or skips the test where it is not there.
func readTrace(t *testing.T) *Trace {
	t.Helper()
	trace, err := ReadTrace(filepath.Join("..", "..", "..", "shared", "traces"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no trace: ", err)
	}
	require.NoError(t, err)
	return trace
}

func TestTraceAsItIs(t *testing.T) {
	trace := readTrace(t)
	require.Equal(t, 1523, trace.Cluster.NodeLen())
	require.Equal(t, 8152, trace.Cluster.TaskLen()+len(trace.Asks))
	require.Equal(t, int64(6212000), trace.Cluster.Capacity()[2], "GPUs")
	require.NotEmpty(t, trace.Asks)
	require.Positive(t, trace.Decide())
	for n := range trace.Cluster.Nodes() {
		require.True(t, resources.Fits(nil, trace.Cluster.Free(nil, n)), "node %d is over-committed", n)
	}
}
