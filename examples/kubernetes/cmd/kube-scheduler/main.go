// SPDX-License-Identifier: Apache-2.0

// Command kube-scheduler is Kubernetes' scheduler with the plugin PreemptByQueue.
//
//	kube-scheduler -check FILE [QUEUES...]
//
// reads a configuration, and files with queues, without a cluster. It exits with 1 and
// tells all mistakes if there are any.
//
//	kube-scheduler -version
//
// tells the release of the plugin, and the version of Kubernetes that it is built with.
package main

import (
	"fmt"
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"github.com/go-preempt/preempt/examples/kubernetes/preemptbyqueue"
)

// version is the release of this repository. Builds set it, as the Dockerfile does:
// -ldflags "-X main.version=v0.2.0".
var version = "development"

func main() {
	first := ""
	if len(os.Args) > 1 {
		first = os.Args[1]
	}
	build := preemptbyqueue.BuildOf(version)
	switch first {
	case "-check", "--check":
		if err := preemptbyqueue.Check(os.Stdout, os.Args[2:]...); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "-version", "--version":
		fmt.Println(build)
	default:
		build.Tell()
		os.Exit(cli.Run(app.NewSchedulerCommand(app.WithPlugin(preemptbyqueue.Name, preemptbyqueue.Factory()))))
	}
}
