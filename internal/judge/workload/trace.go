// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"path/filepath"
	"time"

	"github.com/go-preempt/preempt/internal/judge/trace"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Trace is a moment of a production trace: what runs, and the asks that
// found no room, in order of creation.
//
// Package internal/judge/trace says which trace that is, and which tenants, queues,
// guarantees and priorities it is given. It is a sample of what ran. So nothing
// ends, which fills the cluster: in order of creation, pods run on the first
// node that has room. The moment is [Now], an hour after the last creation.
type Trace struct {
	Cluster *victims.Cluster
	Asks    []victims.Ask

	planner  jobs.Planner
	decision victims.Decision
}

// Decide decides all asks, each as if it were the only one, and returns for how
// many there is a plan.
func (t *Trace) Decide() (plans int) {
	t.planner.Cluster = t.Cluster
	for i := range t.Asks {
		must(t.planner.Decide(&t.decision, &t.Asks[i], Now))
		if t.decision.Outcome == victims.Preempts {
			plans++
		}
	}
	return plans
}

// ReadTrace reads the two files from a folder. If they are not there, the
// error is fs.ErrNotExist.
func ReadTrace(dir string) (*Trace, error) {
	w, err := trace.Read(filepath.Join(dir, trace.NodeFile), filepath.Join(dir, trace.PodFile))
	if err != nil {
		return nil, err
	}
	return newTrace(w)
}

// NewTwin returns the moment of a generated twin of the trace, which needs no
// files; see [trace.Twin].
func NewTwin() *Trace {
	t, err := newTrace(trace.Twin())
	must(err)
	return t
}

// newTrace lets pods run where they can.
func newTrace(w *trace.Workload) (*Trace, error) {
	cluster, err := w.NewCluster()
	if err != nil {
		return nil, err
	}
	t := &Trace{Cluster: cluster}
	for i := range w.Pods {
		p := &w.Pods[i]
		age := time.Hour + time.Duration(w.Pods[len(w.Pods)-1].Created-p.Created)*time.Second
		if err := t.add(p, Now.Add(-age)); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// add lets a pod run on the first node with room, or ask.
func (t *Trace) add(p *trace.Pod, created time.Time) error {
	size := p.Size()
	var free resources.Vector
	for n := range t.Cluster.Nodes() {
		if free = t.Cluster.Free(free, n); resources.Fits(size, free) {
			_, err := t.Cluster.AddTask(&victims.Task{
				Key: p.Name, Application: p.Name, Queue: p.Leaf(), Node: n, Size: size,
				Priority: p.QoS.Priority(), Created: created, Scheduled: created,
			})
			return err
		}
	}
	t.Asks = append(t.Asks, victims.Ask{
		Key: p.Name, Application: p.Name, Queue: p.Leaf(), Size: size,
		Priority: p.QoS.Priority(), PendingSince: created,
	})
	return nil
}
