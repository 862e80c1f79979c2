// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const shipped = "../config/second/scheduler.yaml"

// changed writes the shipped configuration with some text replaced, and returns the file.
func changed(t *testing.T, old, now string) string {
	text, err := os.ReadFile(shipped)
	require.NoError(t, err)
	require.Contains(t, string(text), old)
	return written(t, strings.Replace(string(text), old, now, 1))
}

func written(t *testing.T, text string) string {
	file := filepath.Join(t.TempDir(), "file.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// TestCheck: files are read as the scheduler reads them, and all mistakes are told.
func TestCheck(t *testing.T) {
	var out strings.Builder
	tree := "queues: [{name: other}, {name: prod, guaranteed: {cpu: 8}}]\n"
	inMap := "kind: ConfigMap\nmetadata: {name: q, namespace: team}\ndata:\n  queues.yaml: |\n    " + tree
	require.NoError(t, Check(&out, shipped, written(t, tree), written(t, inMap)))
	require.Equal(t, 3, strings.Count(out.String(), ": ok\n"), out.String())
	require.Equal(t, 2, strings.Count(out.String(), "guaranteed cpu=8"), out.String())

	for name, of := range map[string]struct {
		files []string
		says  []string
	}{
		"nothing":         {nil, []string{"no file"}},
		"no such file":    {[]string{"none.yaml"}, []string{"none.yaml"}},
		"unknown field":   {[]string{changed(t, "queueFrom:", "queueForm:")}, []string{"queueForm"}},
		"unknown value":   {[]string{changed(t, "queueFrom: Namespace", "queueFrom: Node")}, []string{"queueFrom", `"Node"`}},
		"not enabled":     {[]string{changed(t, "enabled: [{name: PreemptByQueue}]", "enabled: []")}, []string{"no profile enables"}},
		"no scheduler":    {[]string{written(t, tree)}, []string{"file.yaml"}},
		"two mistakes":    {[]string{changed(t, `cpu: "24"`, `cpu: "many"`), written(t, "queues: [{name: other, min: {}}]\n")}, []string{"many", "min"}},
		"map without key": {[]string{shipped, written(t, "kind: ConfigMap\nmetadata: {name: q, namespace: team}\n")}, []string{"team/q", "queues.yaml"}},
		"no default":      {[]string{shipped, written(t, "queues: [{name: prod}]\n")}, []string{"defaultQueue"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := Check(&out, of.files...)
			for _, text := range of.says {
				require.ErrorContains(t, err, text)
			}
		})
	}
}

// TestCheckObjects: PreemptQueues of all files make one tree.
func TestCheckObjects(t *testing.T) {
	withObjects := changed(t, "dryRun: true", "queuesNamespace: preempt-system")
	withObjects = written(t, cut(t, withObjects, "        - {name: batch", ""))
	var out strings.Builder
	require.NoError(t, Check(&out, withObjects, "../config/teams/web.yaml", "../config/teams/prod.yaml"))
	require.Contains(t, out.String(), "preemptqueues: ok\n")
	require.Regexp(t, `(?m)^    web +used none guaranteed cpu=24$`, out.String())

	head := "apiVersion: go-preempt.github.io/v1alpha1\nkind: PreemptQueue\n"
	for name, of := range map[string]struct {
		config, text string
		says         []string
	}{
		"no namespace of objects": {shipped, head + "metadata: {name: dev, namespace: preempt-system}\nspec: {}\n", []string{"queuesNamespace", "file.yaml"}},
		"unknown field":           {withObjects, head + "metadata: {name: dev, namespace: preempt-system}\nspec: {min: {}}\n", []string{"min", "file.yaml"}},
		"unknown version":         {withObjects, "apiVersion: go-preempt.github.io/v1\nkind: PreemptQueue\nmetadata: {name: dev, namespace: preempt-system}\nspec: {}\n", []string{"go-preempt.github.io/v1"}},
		"without a namespace":     {withObjects, head + "metadata: {name: dev}\nspec: {}\n", []string{"dev", "namespace"}},
		"no object":               {withObjects, head + "metadata: {name: dev, namespace: preempt-system}\nspec: {}\n---\nkind: Pod\n", []string{"no object of the API"}},
		"two mistakes": {withObjects, head + "metadata: {name: dev, namespace: web}\nspec: {}\n---\n" + head + "metadata: {name: a, namespace: web}\nspec: {parent: nowhere}\n",
			[]string{"web/dev: parent: only queues of namespace preempt-system", `web/a: parent: there is no queue "nowhere"`, "file.yaml"}},
		"more than its parent has": {withObjects, head + "metadata: {name: dev, namespace: preempt-system}\nspec: {max: {cpu: 4}}\n---\n" +
			head + "metadata: {name: a, namespace: preempt-system}\nspec: {parent: dev, guaranteed: {cpu: 6}}\n", []string{"guaranteed cpu: 4 of 6"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := Check(&out, of.config, written(t, of.text))
			for _, text := range of.says {
				require.ErrorContains(t, err, text)
			}
		})
	}
	require.ErrorContains(t, Check(&out, changed(t, "dryRun: true", "queuesNamespace: preempt-system\n      queuesConfigMap: a/b")), "not both")
	require.ErrorContains(t, Check(&out, changed(t, "defaultQueue: other", "queuesNamespace: preempt-system")), "name a defaultQueue")
}

// cut returns a file without what is from a text on.
func cut(t *testing.T, file, from, instead string) string {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	before, _, found := strings.Cut(string(text), from)
	require.True(t, found)
	return before + instead
}
