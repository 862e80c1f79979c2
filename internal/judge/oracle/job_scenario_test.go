// SPDX-License-Identifier: Apache-2.0

package oracle_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
)

// The oracle agrees with every scenario document that places jobs.
func TestJobScenarios(t *testing.T) {
	run := 0
	for _, file := range documents(t) {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		var doc document
		require.NoError(t, json.Unmarshal(data, &doc))
		if doc.Options.FairShares || doc.Options.Moves != "" || !slices.ContainsFunc(doc.Requests, func(r docRequest) bool { return r.Job != nil }) {
			continue
		}
		run++
		t.Run(filepath.Base(file), func(t *testing.T) {
			s := newJobScript(t, &doc, data)
			for i := range doc.Requests {
				s.request(i)
			}
			require.Len(t, s.more.Expect, len(s.results)+len(s.asks))
			next := 0
			for i, want := range s.more.Expect {
				context := fmt.Sprintf("result %d\n%v", i, s.w)
				if at := slices.Index(s.asks, i); at >= 0 {
					want.expectation.check(t, s.script.results[at], context)
					continue
				}
				s.check(want, s.results[next], context)
				next++
			}
		})
	}
	require.Greater(t, run, 60, "documents of jobs")
}

// The parts of a document that only jobs go by.
type (
	jobDocument struct {
		Tasks    []docTaskOfJob
		Requests []struct {
			Job   *docJob
			Start []docTaskOfJob
		}
		Quotas []struct {
			Queue                           string
			Min, Max, WaitingNonPreemptible map[string]string
		}
		JobMinimums     map[string]int
		PriorityClasses []docClass
		Options         struct {
			Toleration, JobsNeedPreemptibleLabel bool
			JobTrigger                           string
		}
		Expect []jobExpectation
	}
	docTaskOfJob struct {
		Key, Job, PriorityClass string
		Preemptible             *bool
	}
	docJob struct {
		Name, Queue, Application, PreemptionPolicy string
		Priority                                   int32
		Preemptible                                *bool
		MinMembers, Domain                         int
		Age                                        string
		Members                                    []struct {
			Key, Node               string
			Resources, NodeSelector map[string]string
		}
	}
	docClass struct {
		Name        string
		Value       int32
		Annotations map[string]string
	}
	jobExpectation struct {
		expectation
		Placements map[string]string
	}
)

// jobScript carries a document with jobs out over a world.
type jobScript struct {
	*script
	more    jobDocument
	classOf map[string]string // by the key of a task
	results []oracle.JobResult
	asks    []int // which of all results are those of asks
}

func newJobScript(t *testing.T, doc *document, data []byte) *jobScript {
	s := &jobScript{script: newScript(t, doc), classOf: make(map[string]string)}
	require.NoError(t, json.Unmarshal(data, &s.more))
	s.join(s.more.Tasks)
	return s
}

// preemptible says what a document means that may not say it.
func (s *jobScript) preemptible(label *bool) bool {
	if label == nil {
		return !s.more.Options.JobsNeedPreemptibleLabel
	}
	return *label
}

// join adds to tasks of the world what jobs go by.
func (s *jobScript) join(tasks []docTaskOfJob) {
	for _, more := range tasks {
		i := slices.IndexFunc(s.w.Tasks, func(t world.Task) bool { return t.Key == more.Key })
		s.w.Tasks[i].Job = more.Job
		s.w.Tasks[i].NonPreemptible = !s.preemptible(more.Preemptible)
		s.classOf[more.Key] = more.PriorityClass
	}
}

func (s *jobScript) request(i int) {
	r := &s.more.Requests[i]
	if r.Job != nil {
		s.job(r.Job, s.doc.Requests[i].Then)
		return
	}
	require.Nil(s, s.doc.Requests[i].EnforceQuota, "requests[%d]: a document of gangs may have asks, but enforces no quota: make two of it", i)
	s.script.request(s.doc.Requests[i])
	for range s.script.results[len(s.asks):] {
		s.asks = append(s.asks, len(s.results)+len(s.asks))
	}
	s.join(r.Start)
}

// job decides a job and carries the decision out. Members with a node run there
// already, whatever is decided.
func (s *jobScript) job(d *docJob, then string) {
	job := world.Job{
		Name: d.Name, Application: d.Application, Queue: d.Queue, Priority: d.Priority,
		NonPreemptible: !s.preemptible(d.Preemptible), MinMembers: d.MinMembers, MayNot: d.PreemptionPolicy == "Never",
		Domain: d.Domain, PendingSince: s.now.Add(-time.Hour),
	}
	if d.Age != "" {
		age, err := time.ParseDuration(d.Age)
		require.NoError(s, err)
		job.PendingSince = s.now.Add(-age)
	}
	for _, m := range d.Members {
		member := world.Member{Key: m.Key, Size: s.amounts(m.Resources), Selector: m.NodeSelector}
		job.Members = append(job.Members, member)
		if ask := job.Ask(&member); m.Node != "" {
			s.w.Tasks = append(s.w.Tasks, ask.Started(m.Node, s.now))
		}
	}
	c := &world.JobCase{
		World: *s.w, Job: job, Quotas: s.quotas(), Minimums: s.more.JobMinimums,
		Options:    world.Options{Now: s.now, Exempt: s.exempt(d.Priority), OwnLeaf: s.doc.Options.OwnLeaf, Scarce: s.doc.Options.Scarce, Choices: s.doc.Options.Choices},
		ByPriority: s.more.Options.JobTrigger == "priority",
	}
	r := oracle.DecideJob(c)
	s.results = append(s.results, r)
	if r.Outcome != oracle.Refused && then != "nothing" {
		s.carryOut(&job, r, then == "leave" || r.Outcome == oracle.Waits)
	}
}

func (s *jobScript) carryOut(job *world.Job, r oracle.JobResult, leave bool) {
	s.spend(r.Victims)
	if !leave {
		s.finish(r.Victims)
	}
	for i := range s.w.Tasks {
		if slices.Contains(r.Victims, s.w.Tasks[i].Key) {
			s.w.Tasks[i].State = world.Preempting
		}
	}
	for _, p := range r.Placements {
		i := slices.IndexFunc(job.Members, func(m world.Member) bool { return m.Key == p.Member })
		ask := job.Ask(&job.Members[i])
		if leave {
			s.w.Grants = append(s.w.Grants, world.Grant{Ask: ask, Node: p.Node})
		} else {
			s.w.Tasks = append(s.w.Tasks, ask.Started(p.Node, s.now))
		}
	}
}

func (s *jobScript) quotas() map[string]world.Quota {
	quotas := make(map[string]world.Quota)
	for _, q := range s.more.Quotas {
		quotas[q.Queue] = world.Quota{
			Min: s.amounts(q.Min), Max: s.amounts(q.Max), Waiting: s.amounts(q.WaitingNonPreemptible),
		}
	}
	return quotas
}

// exempt returns whom a preemptor of some priority tolerates: by the minimum
// and the seconds of the priority class of the victim (DESIGN.md,
// Toleration: policy).
func (s *jobScript) exempt(preemptor int32) map[string]time.Time {
	exempt := make(map[string]time.Time)
	if !s.more.Options.Toleration {
		return exempt
	}
	number := func(c *docClass, name string, otherwise int64) int64 {
		text, ok := c.Annotations["preemption-toleration.scheduling.x-k8s.io/"+name]
		if !ok {
			return otherwise
		}
		v, err := strconv.ParseInt(text, 10, 64)
		require.NoError(s, err)
		return v
	}
	for _, t := range s.w.Tasks {
		i := slices.IndexFunc(s.more.PriorityClasses, func(c docClass) bool { return c.Name == s.classOf[t.Key] })
		if i < 0 {
			continue
		}
		class := &s.more.PriorityClasses[i]
		seconds := number(class, "toleration-seconds", 0)
		switch {
		case int64(preemptor) >= number(class, "minimum-preemptable-priority", int64(class.Value)+1):
		case seconds < 0:
			exempt[t.Key] = time.Time{}
		case seconds > 0 && !t.Scheduled.IsZero():
			exempt[t.Key] = t.Scheduled.Add(time.Duration(seconds) * time.Second)
		}
	}
	return exempt
}

func (s *jobScript) check(want jobExpectation, got oracle.JobResult, context string) {
	victims := []oracle.Victim{}
	for _, key := range got.Victims {
		victims = append(victims, oracle.Victim{Key: key})
	}
	result := oracle.Result{
		Outcome: got.Outcome, Victims: victims, RetryAt: got.RetryAt, Reason: got.Reason, Counts: got.Counts,
		OwnLeaf: got.OwnLeaf,
	}
	result.Cost.Overrun = got.Cost.Overrun
	want.expectation.check(s.T, result, context)
	for member, node := range want.Placements {
		require.True(s, slices.ContainsFunc(got.Placements, func(p oracle.Placement) bool { return p.Member == member && p.Node == node }), context)
	}
}
