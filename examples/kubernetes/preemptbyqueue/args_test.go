// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"os"
	"testing"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

func unknown(text string) *runtime.Unknown {
	return &runtime.Unknown{Raw: []byte(text), ContentType: runtime.ContentTypeYAML}
}

func TestDefaults(t *testing.T) {
	for _, obj := range []runtime.Object{nil, &runtime.Unknown{}, unknown("{}")} {
		args, err := decode(obj)
		require.NoError(t, err)
		require.Equal(t, defaults(), args)
	}
	s, err := defaults().check()
	require.NoError(t, err)
	require.Equal(t, 1, s.tree.Len(), "without queues all pods are in the root")
	require.Equal(t, queue.Met, s.ownLeaf)
	require.Equal(t, time.Duration(0), *s.tree.Policies(s.def).PreemptionDelay)
	require.False(t, s.maxes)
}

func TestDecodeIsStrict(t *testing.T) {
	_, err := decode(unknown("queuLabel: x\nbudget: 1\nroot: {queues: [{guarantee: {cpu: 1}}]}\ndryrun: true\n"))
	require.ErrorContains(t, err, `unknown field "queuLabel"`)
	require.ErrorContains(t, err, `unknown field "root.queues[0].guarantee"`)
	require.ErrorContains(t, err, `unknown field "dryrun"`)
	_, err = decode(unknown("budget: 1\nbudget: 2\n"))
	require.ErrorContains(t, err, "budget")
	_, err = decode(unknown("budget: many\n"))
	require.ErrorContains(t, err, "budget")
	_, err = decode(&metav1.Status{})
	require.ErrorContains(t, err, "not a *runtime.Unknown")
}

// TestAllMistakesAtOnce: who writes a configuration wants to hear everything that is
// wrong with it the first time.
func TestAllMistakesAtOnce(t *testing.T) {
	args, err := decode(unknown(`
queueLabel: ""
queueFrom: pod
disruptionBudgets: soft
ownLeaf: sometimes
grantDeadline: 0s
budget: -1
defaultQueue: nowhere
root:
  queues:
  - {name: a, guaranteed: {cpu: 1x}}
  - {name: b, guaranteed: {gpu: "1"}, max: {cpu: "-1"}}
`))
	require.NoError(t, err)
	_, err = args.check()
	for _, part := range []string{
		"queueLabel", "queueFrom", "disruptionBudgets", "ownLeaf", "grantDeadline", "budget: -1", "nowhere",
		"queue root.a: guaranteed", "1x", "queue root.b: guaranteed", "gpu", "queue root.b: max",
	} {
		require.ErrorContains(t, err, part)
	}
}

func TestLeaf(t *testing.T) {
	args, err := decode(unknown("defaultQueue: a.b\nroot: {queues: [{name: a, queues: [{name: b, max: {cpu: 1}}]}]}\n"))
	require.NoError(t, err)
	s, err := args.check()
	require.NoError(t, err)
	require.Equal(t, "root.a.b", s.tree.Path(s.def))
	require.True(t, s.maxes)
	_, err = s.leaf("a")
	require.ErrorContains(t, err, `"root.a" is no leaf`)
	_, err = s.leaf("")
	require.ErrorContains(t, err, `"root" is no leaf`)
}

// TestConfig reads the configuration that is there to be copied.
func TestConfig(t *testing.T) {
	text, err := os.ReadFile("../config/second/scheduler.yaml")
	require.NoError(t, err)
	var file struct {
		Profiles []struct {
			PluginConfig []struct {
				Name string
				Args map[string]any
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	plugin := file.Profiles[0].PluginConfig[0]
	require.Equal(t, Name, plugin.Name)
	raw, err := yaml.Marshal(plugin.Args)
	require.NoError(t, err)
	args, err := decode(unknown(string(raw)))
	require.NoError(t, err)
	_, err = args.check()
	require.NoError(t, err)
}
