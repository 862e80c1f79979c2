// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/go-preempt/preempt/bench/solvers/draws"
	"github.com/go-preempt/preempt/bench/solvers/exact"
	"github.com/go-preempt/preempt/bench/solvers/rules"
	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/snapshot"
)

// A shown is what a case shows: the planner's levels and the solver's plan.
type shown struct {
	refused bool
	proof   string
	ours    rules.Levels
	best    *exact.Job
}

// show decides a case and asks the solver. ok is whether it is a case at all.
func (p *program) show(d *draws.Job) (s shown, ok bool) {
	dec, _, err := decide(&d.Planner, &d.Job)
	if err != nil || dec.Outcome == victims.Fits || dec.Outcome == victims.Waits {
		return s, false
	}
	j, err := rules.OfJob(&d.Planner, &d.Job, workload.Now)
	if err != nil || j.Facts.Refused != "" {
		return s, false
	}
	s.proof = told(dec.Outcome, dec.Plan.Proof, &dec.Refusal)
	s.refused = dec.Outcome == victims.Refused
	s.best = &exact.Job{Job: j, Limit: p.limit}
	if !s.refused {
		if s.best.Best, _ = j.Read(&dec.Plan); j.Broken(&s.best.Best) != "" {
			return s, false
		}
		s.ours, s.best.Found = s.best.Best.Cost.Levels, true
	}
	s.best.Descend(rules.SumPriorities, p.budget)
	return s, s.best.Found
}

// wanted reports whether a case shows what is asked for.
func (p *program) wanted(s *shown) bool {
	if s.refused || p.want == "missed" {
		return s.refused && p.want == "missed"
	}
	for l, v := range s.best.Best.Cost.Levels {
		if v != s.ours[l] {
			return rules.LevelNames[l] == p.want && s.ours[l]-v >= p.gap
		}
	}
	return false
}

// A cut makes a case smaller.
type cut func(d *draws.Job) error

// apply returns a case with a cut made in a copy of it.
func apply(d *draws.Job, c cut) (*draws.Job, error) {
	small := &draws.Job{Name: d.Name, Job: d.Job}
	small.Job.Members = slices.Clone(d.Job.Members)
	small.Planner = jobs.Planner{Cluster: d.Planner.Cluster.Clone(), Options: d.Planner.Options}
	return small, c(small)
}

// withoutTask takes a task away, and its size off the node.
func withoutTask(key string) cut {
	return func(d *draws.Job) error {
		c := d.Planner.Cluster
		for id := range c.Tasks() {
			row := c.TaskView(id)
			if row.Key != key {
				continue
			}
			node := c.Node(row.Node)
			node.Capacity = resources.Sub(nil, node.Capacity, row.Size)
			if err := c.RemoveTask(key); err != nil {
				return err
			}
			return c.UpdateNode(&node)
		}
		return fmt.Errorf("no task %s", key)
	}
}

// withoutNode takes a node away with all that runs there.
func withoutNode(name string) cut {
	return func(d *draws.Job) error {
		c := d.Planner.Cluster
		var keys []string
		for id := range c.Tasks() {
			if row := c.TaskView(id); c.NodeName(row.Node) == name {
				keys = append(keys, row.Key)
			}
		}
		for _, key := range keys {
			if err := c.RemoveTask(key); err != nil {
				return err
			}
		}
		_, err := c.RemoveNode(name)
		return err
	}
}

func withoutMember(i int) cut {
	return func(d *draws.Job) error {
		d.Job.Members = slices.Delete(d.Job.Members, i, i+1)
		return nil
	}
}

// cuts lists what can be taken off a case.
func cuts(d *draws.Job) (list []cut) {
	c := d.Planner.Cluster
	for n := range c.Nodes() {
		list = append(list, withoutNode(c.NodeName(n)))
	}
	for i := len(d.Job.Members) - 1; i >= 0 && len(d.Job.Members) > 1; i-- {
		list = append(list, withoutMember(i))
	}
	for id := range c.Tasks() {
		list = append(list, withoutTask(c.TaskView(id).Key))
	}
	return list
}

// shrinkJob cuts the first draw down as long as it shows what is asked for, and writes it as a
// document with the solver's plan as the proposed one.
func (p *program) shrinkJob() error {
	if p.file == "" {
		return errors.New("-mode shrinkjob wants a file: -o FILE")
	}
	p.n = 1
	var d *draws.Job
	err := p.eachJob(func(_ string, one *draws.Job) error {
		if d != nil {
			return errors.New("-mode shrinkjob wants one family: -family NAME")
		}
		d = one
		return nil
	})
	if err != nil {
		return err
	}
	if d == nil {
		return errors.New("no such family")
	}
	s, ok := p.show(d)
	if !ok || !p.wanted(&s) {
		return fmt.Errorf("%s does not show that: proof %s, levels %v", d.Name, s.proof, s.ours)
	}
	end := time.Now().Add(p.time)
	for again := true; again; {
		again = false
		for i := 0; time.Now().Before(end); {
			list := cuts(d)
			if i >= len(list) {
				break
			}
			small, err := apply(d, list[i])
			if err == nil {
				if t, ok := p.show(small); ok && p.wanted(&t) {
					d, s, again = small, t, true
					continue // the next cut has this place now
				}
			}
			i++
		}
	}
	return p.write(d, &s)
}

// write writes a case.
func (p *program) write(d *draws.Job, s *shown) error {
	best := &s.best.Best
	note := fmt.Sprintf("proof %s, levels %v; proposed: %v", s.proof, s.ours, best.Cost.Levels)
	text, unsaid, err := snapshot.Take(&snapshot.Scene{
		Name: "case", Note: note, Now: workload.Now,
		Planner: &d.Planner, Asks: []victims.Ask{d.Job},
	})
	if err != nil {
		return err
	}
	plan := s.best.Job.Plan(d.Planner.Cluster, best)
	places, keys := make(map[string]string), []string{}
	for _, x := range plan.Places {
		places[x.Key] = x.NodeName
	}
	for _, v := range plan.Victims {
		keys = append(keys, v.Key)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		return err
	}
	requests, _ := doc["requests"].([]any)
	if len(requests) == 0 {
		return errors.New("the document has no request")
	}
	requests[0].(map[string]any)["proposed"] = map[string]any{"victims": keys, "placements": places}
	if text, err = json.MarshalIndent(doc, "", " "); err != nil {
		return err
	}
	p.print("%s: %d nodes, %d tasks, %d members; %s; not said: %q\n", p.file, len(s.best.Job.Facts.Nodes), len(s.best.Job.Facts.Tasks), len(d.Job.Members), note, unsaid)
	return os.WriteFile(p.file, append(text, '\n'), 0o644)
}
