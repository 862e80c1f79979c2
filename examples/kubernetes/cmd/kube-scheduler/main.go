// SPDX-License-Identifier: Apache-2.0

// Command kube-scheduler is Kubernetes' scheduler with the plugin PreemptByQueue.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"github.com/go-preempt/preempt/examples/kubernetes/preemptbyqueue"
)

func main() {
	os.Exit(cli.Run(app.NewSchedulerCommand(app.WithPlugin(preemptbyqueue.Name, preemptbyqueue.Factory()))))
}
