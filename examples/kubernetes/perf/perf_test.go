package perf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	perf "k8s.io/kubernetes/test/integration/scheduler_perf"
	"k8s.io/kubernetes/test/utils/client-go/ktesting"
)

// schedulers are the columns of the table, and the files of their configurations.
var schedulers = []struct{ name, file string }{
	{"DefaultPreemption", "default.yaml"},
	{"PreemptByQueue", "queue.yaml"},
}

// BenchmarkPreemption runs all workloads with both schedulers. Which sizes are run is
// what -perf-scheduling-label-filter says: performance, which is the default, is 500
// and 1000 nodes; large is 5000; small is for tests.
func BenchmarkPreemption(b *testing.B) {
	var t table
	for _, s := range schedulers {
		b.Run(s.name, func(b *testing.B) { run(b, s.file, func(f figures) { t.add(s.name, f) }) })
	}
	if *readme != "" {
		require.NoError(b, t.write(*readme))
	}
}

// run runs the workloads with a scheduler, and tells what each came to.
func run(b *testing.B, file string, tell func(figures)) {
	text, err := os.ReadFile("workloads.yaml")
	require.NoError(b, err)
	workloads := filepath.Join(b.TempDir(), "workloads.yaml")
	text = []byte(strings.ReplaceAll(string(text), "SCHEDULER", file))
	require.NoError(b, os.WriteFile(workloads, text, 0o600))
	watch, name := &stopwatch{}, ""
	perf.RunBenchmarkPerfScheduling(b, workloads, "preemption", watch.registry(),
		perf.WithPreRunFn(func(_ ktesting.TContext, w *perf.Workload) (func(), error) {
			name = w.Name
			return nil, nil
		}),
		perf.WithPrepareFn(func(tCtx ktesting.TContext) error {
			watch.reset()
			b, client := tCtx.TB().(*testing.B), tCtx.Client()
			b.Cleanup(func() { // after the workload, and before the scheduler ends
				f := measure(b, name, watch, client)
				f.report(b)
				tell(f)
			})
			return nil
		}))
}

// TestSmall runs all workloads on a few nodes with the plugin, to see that the benchmarks
// work and that nobody is stopped in vain. If the machine is so busy that scheduler_perf
// gives up, it is tried again.
func TestSmall(t *testing.T) {
	filter := perf.PerfSchedulingLabelFilter
	perf.PerfSchedulingLabelFilter = "small"
	defer func() { perf.PerfSchedulingLabelFilter = filter }()
	var all []figures
	for attempt := 0; attempt < 3 && len(all) < 4; attempt++ {
		all = nil
		testing.Benchmark(func(b *testing.B) { run(b, schedulers[1].file, func(f figures) { all = append(all, f) }) })
	}
	require.Len(t, all, 4, "a workload failed")
	for _, f := range all {
		t.Logf("%+v", f)
		require.NotZero(t, f.calls, f.workload)
		require.NotZero(t, f.rate, f.workload)
		require.Zero(t, f.wasted, f.workload)
	}
	require.Equal(t, 20, all[0].victims, "each of five asks takes a node of four pods")
	require.Zero(t, all[1].victims)
	require.Equal(t, 4, all[2].victims)
}
