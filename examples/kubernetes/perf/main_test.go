// SPDX-License-Identifier: Apache-2.0

// Package perf measures the plugin beside DefaultPreemption with scheduler_perf, the
// benchmarks of kube-scheduler itself.
package perf

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	_ "k8s.io/component-base/logs/json/register"
	perf "k8s.io/kubernetes/test/integration/scheduler_perf"
)

// builtEtcd is the variable of the environment that says where etcd is, in a process
// that a test has started.
const builtEtcd = "PERF_TEST_ETCD"

// TestMain builds the etcd that scheduler_perf looks for in PATH, from the module
// that go.mod names.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "perf")
	if err == nil {
		err = prepare(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// prepare sets the process up as scheduler_perf wants it. Its etcd need not survive a
// power failure: otherwise the disk would be measured, too.
func prepare(dir string) error {
	perf.LoggingConfig.Verbosity = 0
	if err := perf.InitTests(); err != nil {
		return err
	}
	if testing.Short() { // no workload is run
		return nil
	}
	etcd := os.Getenv(builtEtcd)
	if etcd == "" {
		etcd = filepath.Join(dir, "bin-etcd")
		build := exec.Command("go", "build", "-o", etcd, "go.etcd.io/etcd/server/v3")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("etcd: %w\n%s", err, out)
		}
		if err := os.Setenv(builtEtcd, etcd); err != nil {
			return err
		}
	}
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' --unsafe-no-fsync \"$@\"\n", etcd)
	if err := os.WriteFile(filepath.Join(dir, "etcd"), []byte(script), 0o700); err != nil {
		return err
	}
	if err := os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH")); err != nil {
		return err
	}
	if err := os.Setenv("ARTIFACTS", dir); err != nil { // for logs
		return err
	}
	for name, value := range map[string]string{
		"data-items-dir":               dir,  // where it would leave files of its own
		"test.benchtime":               "1x", // once is a benchmark
		"perf-scheduling-label-filter": "",   // -nodes says what is run
	} {
		if err := flag.Set(name, value); err != nil {
			return err
		}
	}
	return nil
}
