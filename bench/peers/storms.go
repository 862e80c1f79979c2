package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/exam"
	"github.com/go-preempt/preempt/internal/scenario"
)

// enoughPlans is after how many plans a history that goes on is given up.
const enoughPlans = 100

// storms lets everybody settle the cases and random worlds with many asks.
func (r *report) storms() error {
	docs, err := histories(r.worlds)
	if err != nil {
		return err
	}
	for _, p := range everybody() {
		var rest exam.Rest
		for _, doc := range docs {
			if err := rest.Add(p, doc.Name, doc, enoughPlans); err != nil {
				return err
			}
		}
		r.rests = append(r.rests, rest)
	}
	return nil
}

// histories returns the cases as documents, and random ones with many asks.
func histories(n int) (docs []*scenario.Document, err error) {
	entries, err := cases.ReadDir("cases")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		text, err := cases.ReadFile(path.Join("cases", e.Name()))
		if err != nil {
			return nil, err
		}
		doc, err := scenario.Parse(e.Name(), text)
		if err != nil {
			return nil, err
		}
		if asksOnly(doc) {
			docs = append(docs, doc)
		}
	}
	for i := range n {
		doc, err := exam.RandomAsks(i)
		if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

// asksOnly reports whether nothing but different asks is requested, nothing was
// granted before, and nobody is leaving.
func asksOnly(doc *scenario.Document) bool {
	keys := make(map[string]bool)
	for i := range doc.Requests {
		r := &doc.Requests[i]
		if r.Kind != scenario.KindAsk || r.Repeat > 0 || keys[r.Ask.Key] {
			return false
		}
		keys[r.Ask.Key] = true
	}
	features := exam.Features(doc)
	return !slices.Contains(features, exam.FeatureGrants) && !slices.Contains(features, exam.FeatureLeaving)
}

// rest returns the table of who comes to rest, and the shortest stories.
func (r *report) rest() string {
	var b strings.Builder
	row := func(head string, cell func(*exam.Rest) int) {
		fmt.Fprintf(&b, "| %s |", head)
		for i := range r.rests {
			fmt.Fprintf(&b, " %d |", cell(&r.rests[i]))
		}
		b.WriteByte('\n')
	}
	b.WriteString("| |")
	for _, p := range everybody() {
		fmt.Fprintf(&b, " %s |", p.Rules().Name)
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|", len(r.rests)) + "\n")
	row("could be told", func(r *exam.Rest) int { return r.Told })
	row("come to rest", func(r *exam.Rest) int { return r.Quiet })
	row("**come back to a state they were in: a storm**", func(r *exam.Rest) int { return r.Loops })
	row(fmt.Sprintf("go on after %d plans", enoughPlans), func(r *exam.Rest) int { return r.Unsettled })
	row("plans in all", func(r *exam.Rest) int { return r.Plans })
	row("most plans until rest", func(r *exam.Rest) int { return r.Most })
	row("plans that made no room for their ask", func(r *exam.Rest) int { return r.Wasted })
	for i, p := range everybody() {
		story := r.rests[i].Shortest
		if story == nil {
			continue
		}
		fmt.Fprintf(&b, "\nThe shortest storm of %s, in `%s`:\n\n", p.Rules().Name, r.rests[i].Paper)
		for n, line := range story.Lines {
			fmt.Fprintf(&b, "%d. %s\n", n+1, line)
		}
	}
	return b.String()
}
