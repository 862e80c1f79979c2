// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// philly writes the two files of a batch.
func philly(t *testing.T, jobs, vcs string) (jobFile, vcFile string) {
	t.Helper()
	dir := t.TempDir()
	jobFile, vcFile = filepath.Join(dir, "jobs.csv"), filepath.Join(dir, "vcs.csv")
	require.NoError(t, os.WriteFile(jobFile, []byte("submit,duration,gpus,vc\n"+jobs), 0o600))
	require.NoError(t, os.WriteFile(vcFile, []byte("vc,jobs,gpu_hours,nodes\n"+vcs), 0o600))
	return jobFile, vcFile
}

func TestReadPhilly(t *testing.T) {
	b, err := ReadPhilly(philly(t, "90000,5,20,b\n0,60,1,a\n", "a,1,1,3\nb,1,1,1\n"))
	require.NoError(t, err)
	require.Equal(t, &Batch{
		Hosts: phillyHosts, VCs: []VC{{"a", 3}, {"b", 1}},
		Jobs: []Job{
			{Name: "job-00001", VC: 0, GPUs: 1, Submit: 0, Duration: 60},
			{Name: "job-00000", VC: 1, GPUs: 20, Submit: 90000, Duration: 5},
		},
	}, b)
	require.Equal(t, []int64{8, 8, 4}, b.Jobs[1].Members())

	b.Window(1, 1)
	require.Len(t, b.Jobs, 1)
	require.Equal(t, int64(90000-day), b.Jobs[0].Submit)
}

func TestReadPhilly_Errors(t *testing.T) {
	for _, c := range []struct{ name, jobs, vcs, want string }{
		{"gpus", "0,1,0,a\n", "a,1,1,3\n", `jobs.csv:2: column gpus: "0": not a number that a trace can hold: want 1 or more`},
		{"more than there are", "0,1,449,a\n", "a,1,1,3\n", `jobs.csv:2: column gpus: "449": not a number that a trace can hold: want 0 to 448`},
		{"virtual cluster", "0,1,1,b\n", "a,1,1,3\n", `jobs.csv:2: column vc: "b": not in the list of virtual clusters`},
		{"nodes", "", "a,1,1,0\n", `vcs.csv:2: column nodes: "0": not a number that a trace can hold: want 1 or more`},
		{"twice", "", "a,1,1,1\na,1,1,1\n", `vcs.csv:3: column vc: "a": empty, or used before`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadPhilly(philly(t, c.jobs, c.vcs))
			require.ErrorContains(t, err, c.want)
		})
	}
}

// TestPhillyTwin: the twin is the same every time, wants more than there is, and has
// gangs that their virtual clusters are guaranteed enough for.
func TestPhillyTwin(t *testing.T) {
	b := PhillyTwin()
	require.Equal(t, b, PhillyTwin())
	c, err := b.NewCluster()
	require.NoError(t, err)
	capacity := c.Capacity()[0]
	var sum, wanted, gangs int64
	for vc := range b.VCs {
		guaranteed, ok := c.Tree().Guaranteed(b.Leaf(vc)).Bound(0)
		require.True(t, ok)
		sum += guaranteed
	}
	require.Equal(t, capacity, sum)
	for i := range b.Jobs {
		j := &b.Jobs[i]
		wanted += j.GPUs * j.Duration
		if len(j.Members()) > 1 {
			gangs++
			guaranteed, _ := c.Tree().Guaranteed(b.Leaf(j.VC)).Bound(0)
			require.LessOrEqual(t, j.GPUs, guaranteed, j.Name)
		}
	}
	require.Equal(t, int64(26), gangs)
	require.Greater(t, wanted, capacity*twinDays*day)
	require.True(t, strings.HasPrefix(c.Tree().Path(b.Leaf(0)), "root."))
	require.Equal(t, resources.Vector{0}, c.Tree().Usage(queue.Root))
}
