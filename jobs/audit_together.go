// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"time"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Audit appends to dst what auditor a says at the instant now of j, and returns dst.
// Each part is judged as a plan for a job, for a copy of the cluster with the parts
// before it applied, and law 4 for each of its asks. It ends with the first part that
// breaks a law.
func (j *Joint) Audit(a *victims.Auditor, dst []victims.Violation, now time.Time) []victims.Violation {
	original, own, found := a.Cluster, a.Cluster.Clone(), len(dst)
	defer func() { a.Cluster = original }()
	a.Cluster = own
	placed := make(map[int]bool)
	for i := range j.Parts {
		part := &j.Parts[i]
		if dst = j.members(dst, part, placed); len(dst) > found {
			return dst
		}
		if dst = a.Audit(dst, j.decision(part, own.Version()), now); len(dst) > found {
			return dst
		}
		if err := own.Apply(j.decision(part, own.Version())); err != nil {
			return append(dst, victims.Violation{Of: "job", Law: finding.LawKnown, Job: part.Plan.Ask.Key})
		}
	}
	return dst
}

// members reports members of a part that are not the asks that they stand for, or an ask
// that has two places.
func (j *Joint) members(dst []victims.Violation, part *Part, placed map[int]bool) []victims.Violation {
	job := &part.Plan.Ask
	if len(part.Asks) != len(job.Members) || len(part.Asks) != len(part.Plan.Places) {
		return append(dst, victims.Violation{Of: "job", Law: finding.LawPlaced, Job: job.Key})
	}
	last := -1
	for n, i := range part.Asks {
		m := &job.Members[n]
		if i <= last || i >= len(j.Asks) || placed[i] || part.Plan.Places[n].Member != n {
			return append(dst, victims.Violation{Of: "job", Law: finding.LawPlaced, Member: m.Key})
		}
		last, placed[i] = i, true
		ask := &j.Asks[i]
		for _, law := range [...]struct {
			broken bool
			word   string
		}{
			{m.Key != ask.Key, finding.LawKey},
			{job.Queue != ask.Queue, finding.LawLeaf},
			{!resources.Equal(m.Size, ask.Size), finding.LawSize},
			{resources.Positive(m.Size) != resources.Positive(job.Members[0].Size), finding.LawTrigger},
			{job.Priority != ask.Priority, finding.LawMember},
			{job.Application != ask.Application, finding.LawApplication},
			{ask.NeverPreempts && !job.NeverPreempts, finding.LawMayPreempt},
			{ask.PendingSince.After(job.PendingSince), finding.LawDelay},
			{ask.LastAttempt.After(job.LastAttempt), finding.LawInterval},
			{ask.RequiredNode != "", finding.LawNode},
		} {
			if law.broken {
				dst = append(dst, victims.Violation{Of: "job", Law: law.word, Member: ask.Key})
			}
		}
	}
	return dst
}
