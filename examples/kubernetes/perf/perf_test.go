// SPDX-License-Identifier: Apache-2.0

package perf

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	perf "k8s.io/kubernetes/test/integration/scheduler_perf"
	"k8s.io/kubernetes/test/utils/client-go/ktesting"
	"sigs.k8s.io/yaml"
)

var (
	sizes  = flag.String("nodes", "500,1000", "the numbers of nodes to measure with, of those in workloads.yaml")
	rounds = flag.Int("rounds", 3, "how often each scheduler is measured with each workload, in turn")
	readme = flag.String("readme", "", "put what was measured into the table of this file")
	result = flag.String("result", "", "write what was measured to this file, as JSON")
)

// schedulers are those that are compared, and the files of their configurations.
var schedulers = []struct{ name, file string }{
	{"DefaultPreemption", "default.yaml"},
	{"PreemptByQueue", "queue.yaml"},
}

// BenchmarkPreemption runs all workloads of some sizes with both schedulers, which take
// turns in being first: a machine that is busy for a while is busy for both. The table is
// written after each workload, so that what was measured is kept if another one fails.
func BenchmarkPreemption(b *testing.B) {
	if testing.Short() {
		b.Skip("with -short there is no etcd")
	}
	var t table
	for _, w := range workloads(b) {
		for round := range *rounds {
			for i := range schedulers {
				s := schedulers[(i+round)%len(schedulers)] // who runs later finds a larger heap
				b.Run(fmt.Sprintf("%s/%d/%s", w.name, round, s.name), func(b *testing.B) {
					w.run(b, s.file, func(f figures) { t.add(s.name, f) })
				})
			}
		}
		if *readme != "" {
			require.NoError(b, t.write(*readme))
		}
		if *result != "" {
			text, err := json.Marshal(t.rows)
			require.NoError(b, err)
			require.NoError(b, os.WriteFile(*result, text, 0o600))
		}
		var usage syscall.Rusage
		require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
		fmt.Fprintf(os.Stderr, "%s: so far at most %d MiB, without etcd\n", w.name, usage.Maxrss>>10)
	}
}

// A workload is one of workloads.yaml, in one size.
type workload struct {
	name string
	text []byte // of a file that has nothing else; SCHEDULER is still in it
}

// workloads reads workloads.yaml, and returns those of the sizes that are wanted.
func workloads(b *testing.B) (list []workload) {
	text, err := os.ReadFile("workloads.yaml")
	require.NoError(b, err)
	var cases []map[string]any
	require.NoError(b, yaml.Unmarshal(text, &cases))
	for _, c := range cases {
		of := c["workloads"].([]any)
		for _, w := range of {
			name := w.(map[string]any)["name"].(string)
			_, nodes := split(name)
			if !slices.Contains(strings.Split(*sizes, ","), nodes) {
				continue
			}
			c["workloads"] = []any{w}
			text, err := yaml.Marshal([]any{c})
			require.NoError(b, err)
			list = append(list, workload{name, text})
		}
	}
	return list
}

// split returns what the name of a workload says.
func split(name string) (workload, nodes string) {
	workload, nodes, _ = strings.Cut(strings.TrimSuffix(name, "Nodes"), "_")
	return workload, nodes
}

// run runs a workload with a scheduler, and tells what it came to.
func (w *workload) run(b *testing.B, scheduler string, tell func(figures)) {
	file := filepath.Join(b.TempDir(), "workload.yaml")
	text := strings.ReplaceAll(string(w.text), "SCHEDULER", scheduler)
	require.NoError(b, os.WriteFile(file, []byte(text), 0o600))
	watch := &stopwatch{}
	perf.RunBenchmarkPerfScheduling(b, file, "preemption", watch.registry(),
		perf.WithPrepareFn(func(tCtx ktesting.TContext) error {
			watch.reset()
			b, client := tCtx.TB().(*testing.B), tCtx.Client()
			b.Cleanup(func() { // after the workload, and before the scheduler ends
				f := measure(b, w.name, watch, client)
				f.report(b)
				tell(f)
			})
			return nil
		}))
}

// TestSmall runs all workloads on a few nodes with the plugin, to see that the benchmarks
// work and that nobody is stopped in vain. It does so in a process of its own, for only
// that tells what went wrong in a benchmark.
func TestSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("builds etcd, and runs benchmarks for a minute")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "result.json")
	cmd := exec.Command(self, "-test.run", "^$", "-test.bench", "/././PreemptByQueue",
		"-test.timeout", "9m", // go test ends this process after ten
		"-nodes", "10,50", "-rounds", "1", "-result", file)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var rows []*row
	require.NoError(t, json.Unmarshal(text, &rows))
	require.Len(t, rows, 4, "%s", out)
	var all []figures
	for _, r := range rows {
		require.Len(t, r.Of["PreemptByQueue"], 1, "%s", out)
		f := r.Of["PreemptByQueue"][0]
		t.Logf("%s: %d calls, %.0f pods/s, %d victims", f.Workload, len(f.Durations), f.Rate, f.Victims)
		require.NotEmpty(t, f.Durations, f.Workload)
		require.NotZero(t, f.Rate, f.Workload)
		require.Zero(t, f.Wasted, f.Workload)
		all = append(all, f)
	}
	require.Equal(t, 20, all[0].Victims, "each of five asks takes a node of four pods")
	require.Zero(t, all[1].Victims)
	require.Equal(t, 4, all[2].Victims)
}
