// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/scenario"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/victims"
)

// A Scene is what [Take] writes.
type Scene struct {
	Name string // of the document; "" is "snapshot"
	Note string // for people

	// Planner has the cluster and the options. Its functions are asked.
	Planner *victims.Planner
	Now     time.Time
	Asks    []victims.Ask // each is decided on the cluster as it is

	// JobPlanner, of the same cluster, must be there if there are Jobs.
	JobPlanner *jobs.Planner
	Jobs       []jobs.Job // each is decided like an ask

	// Enforcer, of the same cluster, must be there if there is something to Enforce.
	Enforcer *quota.Enforcer
	Enforce  []quota.Quota // each is decided like an ask

	// Strict makes what the document cannot say an error. By default it is noted.
	Strict bool
}

// A Snapshot is a scene as a document.
type Snapshot struct {
	Text []byte // JSON; equal scenes give equal bytes
	// Unsaid has what the document cannot say.
	Unsaid []Unsaid
}

// An Unsaid is something of a scene that a document cannot say.
type Unsaid struct {
	// What: compare, predicate, steps, interval, exempt, closed, usage, pending, job,
	// required-node, minimum, own-leaf, enforced or miss.
	What string
	Of   string // the name of the task, ask, grant, node, queue or job; "" for an option
	Why  string // what is written instead, for people
}

// String tells it in a line.
func (u Unsaid) String() string {
	if u.Of == "" {
		return u.What + ": " + u.Why
	}
	return fmt.Sprintf("%s of %q: %s", u.What, u.Of, u.Why)
}

// The kinds of errors of this package.
var (
	ErrUnsaid = errors.New("a document cannot say it") // in a strict scene
	ErrText   = errors.New("not valid UTF-8")          // a key or a name
)

// Take writes a scene. Errors are names that JSON cannot hold ([ErrText]), what cannot be
// said in a strict scene ([ErrUnsaid]), and asks or instants that no document can have.
// It panics without a planner or cluster, or if clusters differ. Per ask and job it calls
// Filter and Blockers for each node, and Exempt for each task.
func Take(s *Scene) (*Snapshot, error) {
	if s.Planner == nil || s.Planner.Cluster == nil {
		panic("snapshot: Take without a planner that has a cluster")
	}
	if len(s.Jobs) > 0 && (s.JobPlanner == nil || s.JobPlanner.Cluster != s.Planner.Cluster) {
		panic("snapshot: Take of jobs without a planner of the same cluster")
	}
	if len(s.Enforce) > 0 && (s.Enforcer == nil || s.Enforcer.Cluster != s.Planner.Cluster) {
		panic("snapshot: Take of quotas without an enforcer of the same cluster")
	}
	w := writer{s: s, p: s.Planner, c: s.Planner.Cluster, schema: s.Planner.Cluster.Schema()}
	doc := w.document()
	if w.wrong != nil {
		return nil, w.wrong
	}
	if s.Strict && len(w.unsaid) > 0 {
		return nil, fmt.Errorf("snapshot: %w: %v", ErrUnsaid, w.unsaid[0])
	}
	doc.Note = note(s.Note, w.unsaid)
	text, err := encode(doc)
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	// Whoever gets the document can read it.
	if _, err := scenario.Parse("document", text); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	return &Snapshot{Text: text, Unsaid: w.unsaid}, nil
}

// note adds what is not said to the note of a document.
func note(text string, unsaid []Unsaid) string {
	if len(unsaid) == 0 {
		return text
	}
	lines := make([]string, 0, 1+len(unsaid))
	if text != "" {
		lines = append(lines, text)
	}
	for _, u := range unsaid {
		lines = append(lines, "not said: "+u.String())
	}
	return strings.Join(lines, "\n")
}
