// SPDX-License-Identifier: Apache-2.0

package exam

import (
	"maps"
	"slices"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/victims"
)

// A Judgement is what there is to say of a peer's answer to a paper.
type Judgement struct {
	Answer Answer
	Ours   string // the outcome of this library
	Faults []Fault
	Texts  []string // what the auditor says of each law that is broken
	Defect bool     // the answer shows that this library is wrong

	leaving bool // there are tasks that are leaving
}

// runs is how often a peer is asked the same, each time in a new world.
const runs = 3

// Judge has a peer decide a paper and judges the answer. Errors are those of
// [Load] and of the peer.
func Judge(p Peer, paper *Paper) (*Judgement, error) {
	rules := p.Rules()
	doc := rules.read(paper.Doc)
	j := &Judgement{}
	for run := range runs {
		w, err := Load(p, doc)
		if err != nil {
			return nil, err
		}
		a, err := w.Decide(paper.Ask())
		if err != nil {
			return nil, err
		}
		slices.Sort(a.Victims)
		if run == 0 {
			j.Answer = a
		} else if !a.Equal(&j.Answer) {
			j.Faults = append(j.Faults, Wavers)
			break
		}
	}
	return j, j.audit(*doc)
}

// JudgeAnswer judges an answer to a paper that a scheduler of these rules gave.
func JudgeAnswer(rules *Rules, paper *Paper, a Answer) (*Judgement, error) {
	j := &Judgement{Answer: a}
	return j, j.audit(*rules.read(paper.Doc))
}

// read returns a document as a scheduler of these rules understands it.
func (r *Rules) read(doc *scenario.Document) *scenario.Document {
	d := *doc
	d.Options.StrictPriority = d.Options.StrictPriority || r.StrictPriority
	if r.RawPriority {
		d.Root = raw(&d.Root)
	}
	return &d
}

// raw returns a queue without offsets and fences of priorities.
func raw(q *scenario.Queue) scenario.Queue {
	c := *q
	c.Properties, c.Children = maps.Clone(q.Properties), nil
	delete(c.Properties, "priority.offset")
	delete(c.Properties, "priority.policy")
	for i := range q.Children {
		c.Children = append(c.Children, raw(&q.Children[i]))
	}
	return c
}

// audit adds what is wrong with the answer itself.
func (j *Judgement) audit(doc scenario.Document) error {
	proposal := &scenario.Proposal{Node: j.Answer.Node}
	for _, key := range j.Answer.Victims {
		proposal.Victims = append(proposal.Victims, scenario.Ref{Key: key})
	}
	request := doc.Requests[0]
	request.Proposed = proposal
	doc.Requests = []scenario.Request{request}
	run, err := doc.RunJudged()
	if err != nil {
		return err
	}
	j.leaving = slices.Contains(Features(&doc), FeatureLeaving)
	judged, ours := run.Steps[0].Judged, &run.Steps[0].Asked.Decision
	j.Ours, j.Defect = ours.Outcome.String(), judged.Defect()
	switch judged.Verdict {
	case scenario.Breaks:
		j.broken(judged, ours)
	case scenario.Refuses:
		// Who waits for what is leaving need not say so.
		if ours.Outcome != victims.Waits {
			j.add(Refuses)
		}
	case scenario.Dearer:
		j.add(dearer(judged, ours))
	}
	return nil
}

// add notes a fault. Who does not know that others leave already takes more than
// is needed, or nothing: these are faults of their own.
func (j *Judgement) add(f Fault) {
	switch {
	case j.leaving && (f == "helpful" || f == "minimal" || f == Needless):
		f = Impatient
	case j.leaving && f == Refuses:
		f = Unaware
	}
	if !slices.Contains(j.Faults, f) {
		j.Faults = append(j.Faults, f)
	}
}

// broken adds the laws that a plan breaks. To take victims for an ask that
// needs none is one fault, whatever else follows from it.
func (j *Judgement) broken(judged *scenario.Judged, ours *victims.Decision) {
	for _, b := range judged.Broken {
		j.Texts = append(j.Texts, b.Text)
	}
	if len(j.Answer.Victims) > 0 && (ours.Outcome == victims.Fits || ours.Outcome == victims.Waits) {
		j.add(Needless)
		return
	}
	for _, b := range judged.Broken {
		j.add(Fault(b.Law))
	}
}

// dearer returns in what a lawful plan costs more than the least.
func dearer(judged *scenario.Judged, ours *victims.Decision) Fault {
	if ours.Outcome != victims.Preempts {
		return Needless
	}
	a, b := judged.Cost, judged.Least
	switch {
	case a.OptedOut != b.OptedOut:
		return DearerOptedOut
	case a.Overrun != b.Overrun:
		return DearerBudget
	case a.Originators != b.Originators:
		return DearerOriginators
	case a.MaxRank != b.MaxRank, a.MaxPriority != b.MaxPriority:
		return DearerPriority
	case a.Jobs == b.Jobs && a.Own == b.Own && a.Victims != b.Victims:
		return DearerVictims
	}
	return DearerOther
}
