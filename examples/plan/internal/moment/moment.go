// SPDX-License-Identifier: Apache-2.0

// Package moment takes what is decided at a request of a document as a document of its
// own: a long history becomes one scene.
package moment

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/snapshot"
)

// First is the request of the first decision.
const First = -1

// errTaken ends a run of which no more is of interest.
var errTaken = errors.New("the snapshot is taken")

// Take returns what a document decides at a request, or at its first decision.
func Take(text scenario.Text, request int) ([]byte, error) {
	doc, err := scenario.ParseLong(text.File, text.Data)
	if err != nil {
		return nil, err
	}
	var shot []byte
	_, err = doc.RunSeen(func(m *scenario.Moment) (err error) {
		if request != First && request != m.Request {
			return nil
		}
		if shot, _, err = snapshot.Take(Scene(doc, m)); err != nil {
			return err
		}
		return errTaken
	})
	switch {
	case errors.Is(err, errTaken):
		return shot, nil
	case err != nil:
		return nil, err
	}
	return nil, fmt.Errorf("%s: no decision to take a snapshot of, at request %d", text.File, request)
}

// Scene returns what is decided at a moment, and all that it is decided by.
func Scene(doc *scenario.Document, m *scenario.Moment) *snapshot.Scene {
	s := &snapshot.Scene{
		Name: fmt.Sprintf("%s, request %d", doc.Name, m.Request), Note: doc.Note,
		Planner: m.Planner, Now: m.Now, Quotas: m.Quotas, Enforcer: m.Enforcer,
		Ends: func(id victims.TaskID) (time.Time, bool) {
			end, known := m.Ends[m.Planner.Cluster.Key(id)]
			return end, known
		},
	}
	switch {
	case m.Ask != nil:
		s.Asks = []victims.Ask{*m.Ask}
	case m.Job != nil:
		s.Planner, s.Asks = m.JobPlanner, []victims.Ask{*m.Job}
	default:
		s.Enforce = []queue.ID{m.Queue}
	}
	return s
}

// Queue returns the queue that a step asks for.
func Queue(run *scenario.Run, s *scenario.Step) string {
	switch tree := run.After.Tree(); {
	case s.Asked != nil:
		return tree.Path(s.Asked.Decision.Plan.Ask.Queue)
	case s.Placed != nil:
		return tree.Path(s.Placed.Decision.Plan.Ask.Queue)
	default:
		return run.Document.Requests[s.Request].EnforceQuota.Queue
	}
}
