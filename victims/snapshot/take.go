// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/jobs/koordinator"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/victims"
)

// A Scene is what [Take] writes.
type Scene struct {
	Name string // of the document; "" is "snapshot"
	Note string // for people

	// Planner has the cluster and the options, Moves too.
	Planner *jobs.Planner
	Now     time.Time
	Asks    []victims.Ask // each is decided on the cluster as it is
	// Quotas are those that Admit goes by, by queue.
	Quotas map[string]*koordinator.ElasticQuota

	// Enforcer, of the same cluster, must be there if there is something to Enforce.
	Enforcer *quota.Enforcer
	Enforce  []queue.ID // queues that are to come within their max; each is decided like an ask

	// Ends says when a task is expected to end, for people.
	Ends func(victims.TaskID) (end time.Time, known bool)
}

// Take writes a scene as a document, with equal bytes for equal scenes, and returns what it cannot say, a line each.
// Each line begins with a word for what it is about.
//
// Errors are names that JSON cannot hold (not valid UTF-8), and asks or instants that no document can have. It panics
// without a planner or cluster, or if clusters differ. Per ask it calls Filter and Blockers for each node, and
// Exempt for each task; for those who may move Filter and Blockers, too.
func Take(s *Scene) (text []byte, unsaid []string, err error) {
	if s.Planner == nil || s.Planner.Cluster == nil {
		panic("snapshot: Take without a planner that has a cluster")
	}
	if len(s.Enforce) > 0 && (s.Enforcer == nil || s.Enforcer.Cluster != s.Planner.Cluster) {
		panic("snapshot: Take of quotas without an enforcer of the same cluster")
	}
	w := writer{s: s, p: s.Planner, c: s.Planner.Cluster, schema: s.Planner.Cluster.Schema()}
	doc := w.document()
	if w.wrong != nil {
		return nil, nil, w.wrong
	}
	doc.Note = note(s.Note, w.unsaid)
	var out bytes.Buffer
	tasks := doc.Tasks
	doc.Tasks = []task{}
	if err := scenario.Write(&out, doc, tasks); err != nil {
		return nil, nil, fmt.Errorf("snapshot: %w", err)
	}
	// Whoever gets the document can read it.
	if _, err := scenario.ParseLong("document", out.Bytes()); err != nil {
		return nil, nil, fmt.Errorf("snapshot: %w", err)
	}
	return out.Bytes(), w.unsaid, nil
}

// note adds what is not said to the note of a document.
func note(text string, unsaid []string) string {
	if len(unsaid) == 0 {
		return text
	}
	lines := make([]string, 0, 1+len(unsaid))
	if text != "" {
		lines = append(lines, text)
	}
	for _, u := range unsaid {
		lines = append(lines, "not said: "+u)
	}
	return strings.Join(lines, "\n")
}
