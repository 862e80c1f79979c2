// SPDX-License-Identifier: Apache-2.0

package util

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"

	"github.com/go-preempt/preempt/examples/kubernetes/upstream/harness"
)

func init() {
	defaultpreemption.Make = func(ctx context.Context, h fwk.Handle, hold func(*v1.Pod)) (defaultpreemption.Plugin, error) {
		return harness.New(ctx, h, hold)
	}
}
