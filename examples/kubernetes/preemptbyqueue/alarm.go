// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// alarms are instants at which pods are to be tried again, one for each pod.
type alarms struct {
	mu     sync.Mutex
	timers map[types.UID]*time.Timer
}

// set rings for a pod after a while, and not when it was to ring before.
func (a *alarms) set(pod types.UID, after time.Duration, ring func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timers == nil {
		a.timers = map[types.UID]*time.Timer{}
	}
	if t := a.timers[pod]; t != nil {
		t.Stop()
	}
	a.timers[pod] = time.AfterFunc(after, func() {
		a.mu.Lock()
		delete(a.timers, pod)
		a.mu.Unlock()
		ring()
	})
}

// stop does not ring for a pod any more.
func (a *alarms) stop(pod types.UID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t := a.timers[pod]; t != nil {
		t.Stop()
		delete(a.timers, pod)
	}
}
