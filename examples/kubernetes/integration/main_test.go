// SPDX-License-Identifier: Apache-2.0

// Package integration runs the plugin in a real kube-scheduler against a real
// kube-apiserver and etcd, all in the process of the test. Nodes are objects only.
package integration

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/klog/v2"
)

// TestMain sends what the scheduler and the API server log to a file. Set KLOG_FILE
// to keep it, and KLOG_V for more of it.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "integration")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	file := os.Getenv("KLOG_FILE")
	if file == "" {
		file = filepath.Join(dir, "log")
	}
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{
		"logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "FATAL", "log_file": file, "v": os.Getenv("KLOG_V"),
	} {
		if value != "" {
			flags.Set(name, value)
		}
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}
