// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"k8s.io/component-base/metrics"
	"k8s.io/klog/v2"
)

// A Build says what a program is made of.
type Build struct {
	Release    string // of the plugin
	Kubernetes string // the version that it is built with; "unknown" without modules
	Go         string
}

// BuildOf returns what this program is made of. It knows all but the release.
func BuildOf(release string) Build {
	b := Build{Release: release, Kubernetes: "unknown", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, m := range info.Deps {
		if m.Path == "k8s.io/kubernetes" {
			b.Kubernetes = m.Version
		}
	}
	return b
}

// String tells it in a line.
func (b Build) String() string {
	return fmt.Sprintf("%s %s, kube-scheduler %s, %s", Name, b.Release, b.Kubernetes, b.Go)
}

// Tell logs it, and has the scheduler serve it as the metric
// preempt_by_queue_build_info.
func (b Build) Tell() {
	registerMetrics()
	buildInfo.WithLabelValues(b.Release, b.Kubernetes).Set(1)
	klog.Background().WithName(Name).Info("Build", "release", b.Release, "kubernetes", b.Kubernetes, "go", b.Go)
}

var buildInfo = metrics.NewGaugeVec((*metrics.GaugeOpts)(options("build_info",
	"The release of the plugin and the version of Kubernetes that it is built with; always 1.")), []string{"release", "kubernetes"})
