// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/configz"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"

	"github.com/go-preempt/preempt/examples/kubernetes/preemptbyqueue"
)

// schedulerConfig is a KubeSchedulerConfiguration without profiles, which means
// DefaultPreemption.
const schedulerConfig = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %q, qps: 5000, burst: 5000}
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 1
%s`

// profile is a profile with the plugin in it.
const profile = `
- schedulerName: NAME
  plugins:
    multiPoint:
      enabled: [{name: PreemptByQueue}]
      disabled: [{name: DefaultPreemption}]
  pluginConfig:
  - name: PreemptByQueue
    args: ARGS
`

// args are arguments of the plugin, as JSON has them.
type args map[string]any

// queues are arguments with leaves below the root: each has the guarantee in cpu
// that is given, or none.
func queues(guaranteed map[string]string) args {
	list := []any{args{"name": "system", "properties": args{"preemption.policy": "disabled"}}}
	for _, name := range []string{"batch", "prod", "teamb"} {
		q := args{"name": name}
		if g := guaranteed[name]; g != "" {
			q["guaranteed"] = args{"cpu": g}
		}
		list = append(list, q)
	}
	return args{"defaultQueue": "system", "root": args{"queues": list}}
}

// with returns a copy of arguments with one more.
func (a args) with(name string, value any) args {
	copied := args{name: value}
	for k, v := range a {
		if k != name {
			copied[k] = v
		}
	}
	return copied
}

// profiles returns profiles of the given names, all with the same arguments.
func (a args) profiles(t *testing.T, names ...string) string {
	text, err := json.Marshal(a)
	require.NoError(t, err)
	all := "profiles:"
	for _, name := range names {
		all += strings.NewReplacer("NAME", name, "ARGS", string(text)).Replace(profile)
	}
	return all
}

// schedule runs kube-scheduler with the plugin until the test ends or stop is
// called. It is set up as its command does it.
func (w *world) schedule(t *testing.T, a args) (stop func()) {
	return w.scheduleProfiles(t, a.profiles(t, "default-scheduler"))
}

// scheduleProfiles runs kube-scheduler with the given profiles.
func (w *world) scheduleProfiles(t *testing.T, profiles string) (stop func()) {
	return w.scheduleAs(t, w.config, "leaderElection: {leaderElect: false}\n"+profiles)
}

// scheduleAs runs kube-scheduler with the rest of a configuration, and more plugins
// perhaps, as one whom the API knows by a config.
func (w *world) scheduleAs(t *testing.T, as *rest.Config, configuration string, more ...app.Option) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	opts := options.NewOptions()
	opts.ConfigFile = writeFile(t, "scheduler.yaml", schedulerConfig, writeKubeconfig(t, as), configuration)
	opts.SecureServing.BindPort = 0
	opts.Authentication.SkipInClusterLookup = true
	opts.Authentication.RemoteKubeConfigFileOptional = true
	config, scheduler, err := app.Setup(ctx, opts, append(more, app.WithPlugin(preemptbyqueue.Name, preemptbyqueue.Factory()))...)
	if err != nil {
		cancel()
		require.NoError(t, err)
	}
	done := make(chan error, 1)
	go func() { done <- app.Run(ctx, config, scheduler) }()
	stop = sync.OnceFunc(func() {
		cancel()
		<-done
		configz.Delete("componentconfig") // or the next scheduler finds it taken
	})
	t.Cleanup(stop)
	return stop
}

// eventually waits until something holds. It asks on the goroutine of the test, so what
// it asks may wait for something else.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			require.FailNow(t, "never: "+what)
		}
	}
}
