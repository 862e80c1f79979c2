// SPDX-License-Identifier: Apache-2.0

// Package upstream runs the tests that Kubernetes has for DefaultPreemption with this
// plugin in its place.
package upstream

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	upstream = flag.Bool("upstream", false, "fetch Kubernetes and run its tests, which takes more than an hour")
	theirs   = flag.Bool("theirs", false, "run them with DefaultPreemption, to see what they find without the plugin")
	keep     = flag.String("keep", "", "set them up in this `FOLDER`, and keep it and the logs")
	readme   = flag.String("readme", "", "put the results into the table of this `FILE`")
)

// tests are those of Kubernetes that are run, by their package below
// test/integration/scheduler.
var tests = []struct {
	pkg   string
	names []string
}{
	{"preemption", []string{"TestPreemption", "TestInterPodAffinityPreemption", "TestAsyncPreemption",
		"TestPreemptionRespectsWaitingPod", "TestPreemptionRespectsBindingPod"}},
	{"preemption/misc", []string{"TestNonPreemption", "TestDisablePreemption", "TestPodPriorityResolution",
		"TestPreemptionStarvation", "TestPreemptionRaces", "TestPDBInPreemption", "TestReadWriteOncePodPreemption"}},
	{"preemption/nominatednodename", []string{"TestNominatedNode", "TestPreferNominatedNode"}},
	{"nominated_node_name", []string{"TestNominatedNodeNameIsSetBeforePreBindAndWaitOnPermit",
		"TestPreemptionAndNominatedNodeNameScenarios", "TestSchedulerRestartWithNominatedNode"}},
	{"preemption/podgroup", []string{"TestPodGroupPreemption", "TestPodGroupPreemptionStatus",
		"TestPodGroupPreemption_NominatedNodeNameRespected", "TestPodGroupCycleStatePreserved"}},
}

// TestUpstream runs the tests of Kubernetes, each top-level test in a process of its own. Every
// case has to pass but those in failing, and those have to fail.
func TestUpstream(t *testing.T) {
	if !*upstream {
		t.Skip("takes more than an hour: see -upstream")
	}
	dir := *keep
	if dir == "" {
		dir = t.TempDir()
	}
	k, err := setUp(t, dir)
	require.NoError(t, err)
	var results table
	for _, of := range tests {
		build := sync.OnceValues(func() (string, error) { return k.build(of.pkg) })
		for _, name := range of.names {
			t.Run(name, func(t *testing.T) {
				bin, err := build()
				require.NoError(t, err)
				r, err := k.run(bin, of.pkg, name)
				require.NoError(t, err)
				results = append(results, r)
				t.Logf("%s%s", r, &r.said)
				want := slices.Sorted(maps.Keys(failing[name]))
				if *theirs {
					want = nil
				}
				require.Equal(t, want, r.failed(), "cases that fail")
			})
		}
	}
	if *readme != "" {
		require.NoError(t, results.write(*readme))
	}
}

// A kubernetes is a copy of k8s.io/kubernetes in a folder with a go.mod, which has the
// tests use this checkout.
type kubernetes struct{ dir string }

// setUp makes one. What it needs comes as Go modules, by the versions of our go.mod.
func setUp(t *testing.T, dir string) (*kubernetes, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	ours, err := filepath.Abs("..")
	if err != nil {
		return nil, err
	}
	k := &kubernetes{dir}
	if err := os.MkdirAll(k.path("bin"), 0o755); err != nil {
		return nil, err
	}
	if _, err := run(ours, "go", "mod", "download", "k8s.io/kubernetes"); err != nil {
		return nil, err
	}
	source, err := run(ours, "go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes")
	if err != nil {
		return nil, err
	}
	// go refuses to replace a file of the module cache in a build.
	if err := os.RemoveAll(k.path("kubernetes")); err != nil {
		return nil, err
	}
	if err := os.CopyFS(k.path("kubernetes"), os.DirFS(string(bytes.TrimSpace(source)))); err != nil {
		return nil, err
	}
	if err := k.patient(); err != nil {
		return nil, err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(ours, name))
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(k.path(name), text, 0o644); err != nil {
			return nil, err
		}
	}
	const us = "github.com/go-preempt/preempt"
	if _, err := run(dir, "go", "mod", "edit", "-module=upstream",
		"-replace=k8s.io/kubernetes=./kubernetes",
		"-replace="+us+"="+filepath.Join(ours, "..", ".."),
		"-replace="+us+"/examples/kubernetes="+ours,
		"-require="+us+"/examples/kubernetes@v0.0.0"); err != nil {
		return nil, err
	}
	t.Log("etcd")
	_, err = run(ours, "go", "build", "-o", k.path("bin", "etcd"), "go.etcd.io/etcd/server/v3")
	return k, err
}

// path returns the path of a file in the folder.
func (k *kubernetes) path(elem ...string) string {
	return filepath.Join(append([]string{k.dir}, elem...)...)
}

// patient has the tests wait longer than ten seconds for an API server to start.
func (k *kubernetes) patient() error {
	file := k.path("kubernetes", "test", "integration", "framework", "test_server.go")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	short, long := []byte("100*time.Millisecond, 10*time.Second, true"), []byte("100*time.Millisecond, 2*time.Minute, true")
	if bytes.Count(text, short) != 1 {
		return fmt.Errorf("%s does not say once how long it waits", file)
	}
	return os.WriteFile(file, bytes.Replace(text, short, long, 1), 0o644)
}

// run runs a program in a folder, and returns what it writes.
func run(dir, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%v: %w\n%s%s", cmd, err, out, stderr.Bytes())
	}
	return out, err
}

// build builds the tests of a package, and returns their program.
func (k *kubernetes) build(pkg string) (string, error) {
	args := []string{"test", "-mod=mod", "-vet=off", "-trimpath", "-c"} // trimpath: the next folder needs no other build
	bin := k.path("bin", strings.ReplaceAll(pkg, "/", "_")+".test")
	if !*theirs {
		ours, err := filepath.Abs("testdata")
		if err != nil {
			return "", err
		}
		text, err := json.Marshal(map[string]any{"Replace": map[string]string{
			k.path("kubernetes/pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go"): filepath.Join(ours, "default_preemption.go"),
			k.path("kubernetes/test/integration/util/harness.go"):                                        filepath.Join(ours, "util.go"),
		}})
		if err != nil {
			return "", err
		}
		overlay := k.path("overlay.json")
		if err := os.WriteFile(overlay, text, 0o644); err != nil {
			return "", err
		}
		args = append(args, "-overlay", overlay)
	}
	_, err := run(k.dir, "go", append(args, "-o", bin, "k8s.io/kubernetes/test/integration/scheduler/"+pkg)...)
	return bin, err
}

// run runs a top-level test of a program, and keeps what it says beside the program.
func (k *kubernetes) run(bin, pkg, name string) (*result, error) {
	file := k.path("bin", name)
	said, err := os.Create(file + ".out")
	if err != nil {
		return nil, err
	}
	defer said.Close()
	logged, err := os.Create(file + ".log")
	if err != nil {
		return nil, err
	}
	defer logged.Close()
	cmd := exec.Command(bin, "-test.v=test2json", "-test.timeout=90m", "-test.run=^"+name+"$")
	cmd.Dir = k.path("kubernetes", "test", "integration", "scheduler", pkg)
	cmd.Env = append(os.Environ(), "PATH="+k.path("bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Stdout, cmd.Stderr = said, logged
	ended := cmd.Run()
	events, err := run(k.dir, "go", "tool", "test2json", "cat", said.Name())
	if err != nil {
		return nil, err
	}
	r, err := read(name, events)
	if err == nil && ended != nil && len(r.failed()) == 0 {
		err = fmt.Errorf("%s passes, and its process does not: %w", name, ended)
	}
	return r, err
}
