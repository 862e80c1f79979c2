// SPDX-License-Identifier: Apache-2.0

package exam

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/snapshot"
)

// A Paper is a document with a single request: an ask, decided as a dry run.
type Paper struct {
	Name string
	Doc  *scenario.Document
	Text []byte // the document
}

// Ask returns what is asked.
func (p *Paper) Ask() *scenario.Ask { return p.Doc.Requests[0].Ask }

// Proposed returns the document with an answer beside its request, as
// examples/plan -audit reads it.
func (p *Paper) Proposed(a *Answer) ([]byte, error) {
	var doc map[string]any
	if err := json.Unmarshal(p.Text, &doc); err != nil {
		return nil, err
	}
	proposed := map[string]any{}
	if !a.Refused() {
		proposed["node"] = a.Node
		proposed["victims"] = append([]string{}, a.Victims...)
	}
	doc["requests"].([]any)[0].(map[string]any)["proposed"] = proposed
	return json.MarshalIndent(doc, "", " ")
}

// Papers returns a paper for each ask of a document, with the cluster as this
// library left it before. Other requests are carried out and not asked about.
// Documents that a cluster cannot be made of have none: that is the error.
func Papers(file string, text []byte) ([]Paper, error) {
	doc, err := scenario.Parse(file, text)
	if err != nil {
		return nil, err
	}
	if r := doc.Requests; len(r) == 1 && r[0].Kind == scenario.KindAsk && r[0].Repeat == 0 {
		doc.Requests[0].Then = scenario.ThenNothing
		return []Paper{{Name: doc.Name, Doc: doc, Text: text}}, nil
	}
	var all []Paper
	for i := range doc.Requests {
		if doc.Requests[i].Kind != scenario.KindAsk || doc.Requests[i].Repeat > 0 {
			continue
		}
		p, err := paperAt(doc, i)
		if err != nil {
			return nil, err
		}
		all = append(all, *p)
	}
	return all, nil
}

// paperAt returns the paper of a request.
func paperAt(doc *scenario.Document, i int) (*Paper, error) {
	before := *doc
	before.Requests = doc.Requests[:i]
	live, err := before.LiveAfter()
	if err != nil {
		return nil, err
	}
	planner, ask, err := live.Aim(doc.Requests[i].Ask)
	if err != nil {
		return nil, err
	}
	return take(fmt.Sprintf("%s/%d", doc.Name, i), planner, live.Now(), ask)
}

// take writes a cluster and an ask as a paper.
func take(name string, planner *jobs.Planner, now time.Time, ask *victims.Ask) (*Paper, error) {
	text, _, err := snapshot.Take(&snapshot.Scene{Name: name, Planner: planner, Now: now, Asks: []victims.Ask{*ask}})
	if err != nil {
		return nil, err
	}
	doc, err := scenario.Parse(name, text)
	if err != nil {
		return nil, err
	}
	return &Paper{Name: name, Doc: doc, Text: text}, nil
}

// Random returns a paper about a random world, the same for the same number. It
// has amounts, queues with bounds, fences and offsets, priorities, opted-out
// tasks, originators, tasks that require their node and tasks that are leaving.
// Three of four are of a kind that more schedulers can be told: each application
// has one queue, and no bound is of zeros alone.
func Random(number int) (*Paper, error) {
	shape := world.Small
	if number%2 == 1 {
		shape = world.Large
	}
	c := world.Cases(shape).Example(number)
	c.Options = world.Options{Now: c.Options.Now}
	c.World.Grants = nil
	c.Ask.LastAttempt = time.Time{}
	for i := range c.World.Nodes {
		c.World.Nodes[i].ReservedFor = ""
	}
	if number%4 < 3 {
		tidy(c)
	}
	return Of(fmt.Sprintf("world-%d", number), c)
}

// tidy gives each queue applications of its own and takes bounds of zeros alone
// away.
func tidy(c *world.Case) {
	c.Ask.Application += " of " + c.Ask.Queue
	for i := range c.World.Tasks {
		t := &c.World.Tasks[i]
		t.Application += " of " + t.Queue
	}
	for _, q := range c.World.Queues() {
		for _, bound := range []*world.Amounts{&q.Guaranteed, &q.Max} {
			sum := int64(0)
			for _, amount := range *bound {
				sum |= amount
			}
			if sum == 0 {
				*bound = nil
			}
		}
	}
}

// Of returns a paper about the world of a case.
func Of(name string, c *world.Case) (*Paper, error) {
	cluster, err := world.Build(&c.World)
	if err != nil {
		return nil, err
	}
	ask, err := world.AskOf(cluster, &c.Ask)
	if err != nil {
		return nil, err
	}
	return take(name, world.CasePlanner(cluster, c), c.Options.Now, &ask)
}
