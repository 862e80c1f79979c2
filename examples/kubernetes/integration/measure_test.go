package integration

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/component-base/metrics/legacyregistry"
)

var measured = flag.Int("nodes", 0, "measure preemption on so many nodes, beside DefaultPreemption; 0: do not")

// TestMeasure fills nodes with eight pods each, and asks for half of every fifth one.
// It prints how long PostFilter takes, who had to go, and how many pods came to run.
func TestMeasure(t *testing.T) {
	if *measured == 0 {
		t.Skip("measures with -nodes only")
	}
	w := newWorld(t)
	for _, c := range []struct{ name, profiles string }{
		{"DefaultPreemption", ""},
		{"PreemptByQueue", queues(map[string]string{"prod": fmt.Sprint(8 * *measured)}).profiles(t, "default-scheduler")},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.story(t)
			var pods []*v1.Pod
			for i := range *measured {
				n := node(fmt.Sprintf("n%04d", i), "8")
				w.addNodes(t, n)
				for j := range 8 {
					pods = append(pods, on(n.Name, pod(fmt.Sprintf("etl-%s-%d", n.Name, j), "batch", "mid", "1")))
				}
			}
			w.run(t, pods...)
			w.scheduleProfiles(t, c.profiles)
			calls, seconds := postFilter(t)
			asks, begin := *measured/5, time.Now()
			for i := range asks {
				w.add(t, pod(fmt.Sprint("web-", i), "prod", "high", "4"))
			}
			eventually(t, "prod runs", func() bool { return w.running("prod") == asks })
			took := time.Since(begin)
			callsNow, secondsNow := postFilter(t)
			calls, seconds = callsNow-calls, secondsNow-seconds
			t.Logf("%d nodes, %d pods: %.0f pods/s, %v for a PostFilter on average of %d, %d victims of %d needed",
				*measured, asks, float64(asks)/took.Seconds(), time.Duration(seconds/float64(calls)*float64(time.Second)), calls,
				len(w.gonePods()), 4*asks)
		})
	}
}

// postFilter returns how often PostFilter was called so far, and how long that took.
func postFilter(t *testing.T) (calls uint64, seconds float64) {
	families, err := legacyregistry.DefaultGatherer.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() != "scheduler_framework_extension_point_duration_seconds" {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "extension_point" && l.GetValue() == "PostFilter" {
					calls += m.GetHistogram().GetSampleCount()
					seconds += m.GetHistogram().GetSampleSum()
				}
			}
		}
	}
	return calls, seconds
}
