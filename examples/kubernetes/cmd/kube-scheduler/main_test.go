// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVersion: what the Dockerfile builds tells its release and that of Kubernetes, and
// checks the configuration that is shipped. The links of a build take a minute.
func TestVersion(t *testing.T) {
	if testing.Short() {
		t.Skip("links a kube-scheduler")
	}
	kubernetes, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes").Output()
	require.NoError(t, err)
	program := filepath.Join(t.TempDir(), "kube-scheduler")
	flags := strings.NewReplacer("$VERSION", "v9.8.7", "$(go list -m -f '{{.Version}}' k8s.io/kubernetes)",
		strings.TrimSpace(string(kubernetes))).Replace(dockerfile(t, `-ldflags "([^"]*)"`))
	require.NotContains(t, flags, "$")
	run := func(name string, args ...string) string {
		out, err := exec.Command(name, args...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	run("go", "build", "-buildvcs=false", "-ldflags", flags, "-o", program, ".")
	for _, flag := range []string{"-version", "--version"} {
		require.Contains(t, run(program, flag), "PreemptByQueue v9.8.7, kube-scheduler "+strings.TrimSpace(string(kubernetes))+", go1.")
	}
	require.Contains(t, run(program, "--version=raw"), strings.TrimSpace(string(kubernetes)), "what kube-scheduler tells of itself")
	require.Contains(t, run(program, "-check", "../../config/second/scheduler.yaml"), ": ok\n")
}

// TestDockerfile: the image has the program that the Deployment runs, as the user that
// it runs as, built by the Go of go.mod.
func TestDockerfile(t *testing.T) {
	read := func(file string) string {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(text)
	}
	deployment := read("../../config/second/deployment.yaml")
	require.Contains(t, deployment, "command: ["+filepath.Base(dockerfile(t, `COPY --from=build \S+ (\S+)`))+",")
	require.Equal(t, dockerfile(t, `ENV PATH=(\S+)`), filepath.Dir(dockerfile(t, `COPY --from=build \S+ (\S+)`)))
	require.Equal(t, dockerfile(t, `-o (\S+)`), dockerfile(t, `COPY --from=build (\S+)`))
	require.Contains(t, deployment, "runAsUser: "+dockerfile(t, `USER (\d+):`))
	require.Contains(t, read("../../go.mod"), "\ngo "+dockerfile(t, `FROM golang:(\S+)`)+".")
}

// dockerfile returns what an expression finds in the Dockerfile.
func dockerfile(t *testing.T, expression string) string {
	text, err := os.ReadFile("../../Dockerfile")
	require.NoError(t, err)
	found := regexp.MustCompile(expression).FindSubmatch(text)
	require.NotNil(t, found, expression)
	return string(found[1])
}
