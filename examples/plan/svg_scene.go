// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/examples/plan/internal/moment"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A scene is what a picture shows: one request, and the cluster as that found
// it.
type scene struct {
	page
	cluster *victims.Cluster
	decided bool            // else there is no request, but the cluster alone
	asker   queue.ID        // whose ask, job or quota it is
	places  bool            // it is an ask or a job: what leaves makes room for it
	victims []victims.Task  // in the order of the plan
	goes    map[string]bool // the keys of victims
	comes   []arrival
	moves   []victims.Move
	aside   *scenario.Aside
	blocks  map[string]bool  // the keys of those who are in the way of the ask, whatever the amounts
	falls   map[string]bool  // the keys of victims that stop with all of their job
	asked   resources.Vector // by the request, or what a quota has to be freed of

	waiting  int // members of a job that have no place yet
	headline string
	verdict  string
	remarks  []string
	max      resources.Limit // of the asker, that is enforced, if it is a quota
	depth    int             // of the domain that a job requires, or 0
	closest  []string        // the domain that came closest, if it is refused
	lost     string          // the work that goes with the victims, if it is known
}

// An arrival is a place for an ask, or for a member of a job.
type arrival struct {
	key  string
	node victims.NodeID
	size resources.Vector
	held bool // its amounts count already: it holds a grant
}

var (
	errOneDocument = errors.New("one document has one picture")
	errNoRequest   = errors.New("no such request")
	errNoResult    = errors.New("a request that decides nothing")
)

// firstPlan is the number of a request that names none: the first with victims
// is shown, else the first that decides anything.
const firstPlan = moment.First

// sceneOf returns the scene of the only document there is.
func sceneOf(runs []outcome, request int) (*scene, error) {
	if len(runs) != 1 {
		return nil, fmt.Errorf("%w: there are %d", errOneDocument, len(runs))
	}
	s, err := newScene(runs[0].run, request)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", runs[0].file, err)
	}
	return s, nil
}

// newScene returns the scene of a request, by its number. If an ask is
// repeated, it is the first repetition with victims, else the first.
func newScene(run *scenario.Run, request int) (*scene, error) {
	step := stepOf(run, request)
	switch count := len(run.Document.Requests); {
	case step != nil || request == firstPlan:
		return sceneAt(run, step)
	case request < count:
		return nil, fmt.Errorf("request %d: %w", request, errNoResult)
	default:
		return nil, fmt.Errorf("request %d: %w: the document has %d", request, errNoRequest, count)
	}
}

// sceneAt returns the scene of a step that decides, or of the cluster alone if
// step is nil.
func sceneAt(run *scenario.Run, step *scenario.Step) (*scene, error) {
	s := &scene{
		page: page{run: run}, cluster: run.Before, aside: &scenario.Aside{},
		goes: make(map[string]bool), blocks: make(map[string]bool), falls: make(map[string]bool),
	}
	if step == nil {
		s.headline, s.verdict = "no request decides anything", "the cluster as it is"
		return s, nil
	}
	var err error
	if s.cluster, err = reached(run, step); err != nil {
		return nil, err
	}
	s.decided = true
	s.tell(step)
	return s, nil
}

// stepOf returns what came of a request, or nil if it decides nothing.
func stepOf(run *scenario.Run, request int) (found *scenario.Step) {
	for i := range run.Steps {
		s := &run.Steps[i]
		if request != firstPlan && s.Request != request || s.Result == nil {
			continue
		}
		if found == nil || len(found.Result.Victims) == 0 && len(s.Result.Victims) > 0 {
			found = s
		}
	}
	return found
}

// reached returns the cluster as a step found it, with the members that a job
// brings along. To that end the requests before it are carried out anew.
func reached(run *scenario.Run, step *scenario.Step) (*victims.Cluster, error) {
	doc := *run.Document
	doc.Requests = slices.Clone(doc.Requests[:step.Request+1])
	last := &doc.Requests[step.Request]
	earlier := 0
	for i := range run.Steps {
		if s := &run.Steps[i]; s == step {
			break
		} else if s.Request == step.Request {
			earlier++
		}
	}
	if last.Repeat = min(last.Repeat, earlier); earlier == 0 {
		last.Then = scenario.ThenNothing
	}
	again, err := doc.Run()
	if err != nil {
		return nil, err
	}
	return again.After, nil
}

// tasksOn returns the tasks and grants of a node, queue by queue and by key. A
// grant that starts with the plan is left out: it is an arrival.
func (s *scene) tasksOn(id victims.NodeID) []victims.Task {
	var all []victims.Task
	for row := range s.cluster.TasksOn(id) {
		t := s.cluster.Task(row)
		if !slices.ContainsFunc(s.comes, func(a arrival) bool { return a.key == t.Key }) {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b victims.Task) int {
		return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Key, b.Key))
	})
	return all
}

// comesTo returns the arrivals on a node, in their order.
func (s *scene) comesTo(id victims.NodeID) (here []arrival) {
	for _, a := range s.comes {
		if a.node == id {
			here = append(here, a)
		}
	}
	return here
}

// move returns the move of a task, or nil if it does not move.
func (s *scene) move(key string) *victims.Move {
	for i := range s.moves {
		if s.moves[i].Key == key {
			return &s.moves[i]
		}
	}
	return nil
}

// A taskPart is the part that a task plays in a scene.
type taskPart uint8

const (
	stays taskPart = iota
	victim
	mover
	held    // a place for an ask that waits
	leaving // already
)

func (s *scene) part(t *victims.Task) taskPart {
	switch _, granted := s.cluster.LookupGrant(t.Key); {
	case s.goes[t.Key]:
		return victim
	case s.move(t.Key) != nil:
		return mover
	case granted:
		return held
	case t.State != victims.Running:
		return leaving
	}
	return stays
}

// describe says of a task what there is to know.
func (s *scene) describe(t *victims.Task) string {
	text := fmt.Sprintf("%s: %s, %s, priority %d", plain.Name(t.Key), s.queue(t.Queue), s.amounts(t.Size), t.Priority)
	switch s.part(t) {
	case victim:
		text += ", a victim"
	case mover:
		text += ", moves to " + s.node(s.move(t.Key).To)
	case held:
		text += ", a place that is held"
	case leaving:
		text += ", " + t.State.String()
	}
	if r := s.about(t); r != "" {
		text += ", " + r
	}
	return text
}

// about says what is particular about why a task goes, or should, or must not,
// and what makes it costly to stop.
func (s *scene) about(t *victims.Task) string {
	var all []string
	if s.blocks[t.Key] {
		all = append(all, "blocks the node")
	}
	if kept := s.keptBy(t); kept != "" {
		all = append(all, "kept by budget "+plain.Name(kept))
	}
	rest := jobRemarks(t)
	if s.falls[t.Key] {
		all, rest = append(all, "all of job "+plain.Name(t.Job)+" goes"), remarks(t)
	}
	if rest != "" {
		all = append(all, rest)
	}
	return strings.Join(all, ", ")
}

// keptBy returns the hard budget that keeps a task, or "": one of which nobody
// more may stop.
func (s *scene) keptBy(t *victims.Task) string {
	for _, name := range t.Budgets {
		if b, _ := s.cluster.Budget(name); s.decided && b.Hard && b.Left <= 0 && t.State == victims.Running {
			return name
		}
	}
	return ""
}

// filtered says which labels keep who asks from a node, or "". If some members
// may run there, it says nothing: the node can be used.
func (s *scene) filtered(id victims.NodeID) string {
	var lacks []string
	members := 0
	for i := range s.aside.Filters {
		f := &s.aside.Filters[i]
		if !slices.Contains(f.Refused, id) {
			return ""
		}
		members += f.Members
		lacks = append(lacks, labels(f.Selector))
	}
	if len(lacks) == 0 || members < s.waiting {
		return ""
	}
	return "lacks " + strings.Join(lacks, " and ")
}

// most returns the max of a queue: the one that is enforced, if it is.
func (s *scene) most(q queue.ID) resources.Limit {
	if q == s.asker && s.max.Defined != 0 {
		return s.max
	}
	return s.cluster.Tree().Max(q)
}
