// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-preempt/preempt/internal/scenario"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/snapshot"
)

// writeSnapshots writes what each document decides at a request, or at its first
// decision, as a document of its own: a long history becomes one scene.
func writeSnapshots(out *bytes.Buffer, sources []source, request int) error {
	var problems []error
	for _, s := range sources {
		text, err := snapshotOf(s, request)
		problems = append(problems, err)
		out.Write(text)
	}
	return errors.Join(problems...)
}

func snapshotOf(s source, request int) (text []byte, err error) {
	doc, err := scenario.ParseLong(s.file, s.data)
	if err != nil {
		return nil, err
	}
	var shot *snapshot.Snapshot
	var failed error
	_, err = doc.RunSeen(func(m *scenario.Moment) {
		if shot == nil && failed == nil && (request == firstPlan || request == m.Request) {
			shot, failed = snapshot.Take(whole(doc, m))
		}
	})
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	if shot == nil {
		return nil, fmt.Errorf("%s: no decision to take a snapshot of, at request %d", s.file, request)
	}
	return shot.Text, nil
}

// whole returns what is decided at a moment, and all that it is decided by.
func whole(doc *scenario.Document, m *scenario.Moment) *snapshot.Scene {
	s := &snapshot.Scene{
		Name: fmt.Sprintf("%s, request %d", doc.Name, m.Request), Note: doc.Note,
		Planner: m.Planner, Now: m.Now, JobPlanner: m.JobPlanner, Enforcer: m.Enforcer,
	}
	switch {
	case m.Ask != nil:
		s.Asks = []victims.Ask{*m.Ask}
	case m.Job != nil:
		s.Jobs = []jobs.Job{*m.Job}
	default:
		s.Enforce = []quota.Quota{{Queue: m.Queue, Max: m.Max}}
	}
	return s
}
