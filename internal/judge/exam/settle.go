// SPDX-License-Identifier: Apache-2.0

package exam

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/judge/alike"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/snapshot"
)

// A Story is what happens to a document if all its asks are pending at once and
// a controller recreates every victim at once.
type Story struct {
	Plans  int // with victims
	Wasted int // of these, plans after which the ask still had no place
	// Loop is set if the same tasks ran on the same nodes as before, with plans
	// in between: then it may go on for ever.
	Loop bool
	// Quiet is set if nothing more happens.
	Quiet bool
	Lines []string // what happened; of a loop only that
}

// Settle lets a peer decide all that is pending, again and again, until nothing
// happens, a state comes back, or there were so many plans. Who is first in line
// is decided first; a victim goes to the end of the line. An ask whose plan made
// no room for it stays in line and preempts no more.
func Settle(p Peer, doc *scenario.Document, plans int) (*Story, error) {
	rules := p.Rules()
	s := &settling{peer: p, rules: rules, doc: *rules.read(doc), seen: make(map[string]int)}
	s.doc.Requests, s.doc.Tasks = nil, slices.Clone(doc.Tasks)
	for i := range doc.Requests {
		if r := &doc.Requests[i]; r.Kind == scenario.KindAsk && r.Repeat == 0 {
			s.line = append(s.line, waiting{task: started(r.Ask, ""), ask: *r.Ask})
		}
	}
	for s.story.Plans < plans {
		if s.returned() {
			return &s.story, nil
		}
		moved, err := s.step()
		if err != nil || !moved {
			s.story.Quiet = err == nil
			return &s.story, err
		}
	}
	return &s.story, nil
}

// A settling is a history that is under way.
type settling struct {
	peer  Peer
	rules Rules
	doc   scenario.Document // with what runs
	line  []waiting
	seen  map[string]int // lines of the story when a state was seen
	story Story
}

// A waiting is an ask in line, and the task that it becomes.
type waiting struct {
	task scenario.Task
	ask  scenario.Ask
}

var (
	asTask = alike.Copier[scenario.Task, scenario.Ask]()
	asAsk  = alike.Copier[scenario.Ask, scenario.Task]()
)

// started returns the task that an ask becomes.
func started(a *scenario.Ask, node string) scenario.Task {
	t := scenario.Task{Node: node, State: scenario.StateRunning}
	asTask(&t, a)
	t.At, t.Job, t.Preemptible, t.Originator = nil, "", nil, false
	return t
}

// recreated returns the ask that a controller makes in place of a victim. It
// has waited long enough for any delay.
func recreated(t *scenario.Task) scenario.Ask {
	a := scenario.Ask{AllowPreemptOther: true}
	asAsk(&a, t)
	a.Age = max(t.Age, time.Hour)
	a.At, a.Job, a.Preemptible, a.Originator = nil, "", nil, false
	return a
}

// returned notes the state, and reports whether it was there before.
func (s *settling) returned() bool {
	var names []string
	for i := range s.doc.Tasks {
		names = append(names, s.doc.Tasks[i].Key+"@"+s.doc.Tasks[i].Node)
	}
	for i := range s.line {
		names = append(names, fmt.Sprint(s.line[i].ask.Key, s.line[i].ask.AllowPreemptOther))
	}
	slices.Sort(names)
	state := strings.Join(names, " ")
	if from, ok := s.seen[state]; ok {
		s.story.Loop, s.story.Lines = true, s.story.Lines[from:]
		return true
	}
	s.seen[state] = len(s.story.Lines)
	return false
}

// step does the first thing in line that can be done.
func (s *settling) step() (moved bool, err error) {
	w, err := s.peer.Load(&s.doc)
	if err != nil {
		return false, err
	}
	for i := range s.line {
		a, err := w.Decide(&s.line[i].ask)
		if err != nil {
			return false, err
		}
		if !a.Refused() {
			return true, s.carryOut(i, &a)
		}
	}
	return false, nil
}

// carryOut does what an answer about somebody in line says.
func (s *settling) carryOut(i int, a *Answer) error {
	w := s.line[i]
	s.line = slices.Delete(s.line, i, i+1)
	if len(a.Victims) > 0 {
		s.story.Plans++
	}
	for _, key := range a.Victims {
		at := slices.IndexFunc(s.doc.Tasks, func(t scenario.Task) bool { return t.Key == key })
		if at < 0 {
			return fmt.Errorf("exam: %s: no task %q", s.rules.Name, key)
		}
		victim := s.doc.Tasks[at]
		s.doc.Tasks = slices.Delete(s.doc.Tasks, at, at+1)
		s.line = append(s.line, waiting{task: victim, ask: recreated(&victim)})
	}
	line := fmt.Sprintf("%s (%s, priority %d)", w.ask.Key, w.ask.Queue, w.ask.Priority)
	if !s.room(&w.task, a.Node) {
		line += " has no room on " + a.Node
		s.story.Wasted++
		w.ask.AllowPreemptOther = false
		s.line = slices.Insert(s.line, 0, w)
	} else {
		line += " starts on " + a.Node
		w.task.Node, w.task.ScheduledAge, w.task.NeverScheduled = a.Node, 0, false
		s.doc.Tasks = append(s.doc.Tasks, w.task)
	}
	if len(a.Victims) > 0 {
		line += ", and stopped for it: " + strings.Join(a.Victims, ", ")
	}
	s.story.Lines = append(s.story.Lines, line)
	return nil
}

// room reports whether a task can start on a node: it fits, and above it no max
// is exceeded if the scheduler knows of any.
func (s *settling) room(t *scenario.Task, node string) bool {
	used := make(amounts)
	for i := range s.doc.Tasks {
		o := &s.doc.Tasks[i]
		used.add("node "+o.Node, s.doc.Schema, o.Resources)
		for q := range above(o.Queue) {
			used.add(q, s.doc.Schema, o.Resources)
		}
	}
	fits := func(name string, limit resources.Vector, defined resources.Mask) bool {
		for i := range s.doc.Schema.Len() {
			if t.Resources[i] > 0 && defined.Has(i) && used[name][s.doc.Schema.Name(i)]+t.Resources[i] > limit[i] {
				return false
			}
		}
		return true
	}
	for i := range s.doc.Nodes {
		if n := &s.doc.Nodes[i]; n.Name == node && !fits("node "+node, n.Capacity, ^resources.Mask(0)) {
			return false
		}
	}
	if !slices.Contains(s.rules.Knows, QueueMax) {
		return true
	}
	q, path := &s.doc.Root, s.doc.Root.Name
	for q != nil {
		if !fits(path, q.Max.Value, q.Max.Defined) {
			return false
		}
		q, path = below(q, path, t.Queue)
	}
	return true
}

// below returns the queue below q on the way to a leaf, or nil.
func below(q *scenario.Queue, path, leaf string) (*scenario.Queue, string) {
	for i := range q.Children {
		next := path + "." + q.Children[i].Name
		if leaf == next || strings.HasPrefix(leaf, next+".") {
			return &q.Children[i], next
		}
	}
	return nil, ""
}

// A Rest counts how the documents of a peer come to rest.
type Rest struct {
	Told, Quiet, Loops, Unsettled int // documents
	Plans, Most                   int // plans of all, and of the document with the most
	Wasted                        int // plans that made no room
	// Shortest is the shortest loop, and Paper the document that it began with.
	Shortest *Story
	Paper    string
}

// Add lets a peer settle a document and counts. What the peer cannot be told is
// passed over.
func (r *Rest) Add(p Peer, name string, doc *scenario.Document, plans int) error {
	if _, err := Load(p, doc); errors.Is(err, ErrCannot) {
		return nil
	}
	story, err := Settle(p, doc, plans)
	if errors.Is(err, ErrCannot) {
		return nil
	} else if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r.Told++
	r.Plans += story.Plans
	r.Most = max(r.Most, story.Plans)
	r.Wasted += story.Wasted
	switch {
	case story.Quiet:
		r.Quiet++
	case story.Loop:
		r.Loops++
		if r.Shortest == nil || len(story.Lines) < len(r.Shortest.Lines) {
			r.Shortest, r.Paper = story, name
		}
	default:
		r.Unsettled++
	}
	return nil
}

// RandomAsks returns a document about a random world with many asks, the same
// for the same number, of the kind that more schedulers can be told.
func RandomAsks(number int) (*scenario.Document, error) {
	load := world.Workloads(world.Small).Example(number)
	load.World.Grants, load.Options.OwnLeaf = nil, ""
	for i := range load.World.Nodes {
		load.World.Nodes[i].ReservedFor = ""
	}
	tasks := load.World.Tasks[:0]
	for _, t := range load.World.Tasks {
		if !t.State.Leaving() { // who would recreate it?
			tasks = append(tasks, t)
		}
	}
	load.World.Tasks = tasks
	c := &world.Case{World: load.World}
	tidy(c)
	cluster, err := world.Build(&c.World)
	if err != nil {
		return nil, err
	}
	var asks []victims.Ask
	for i := range load.Asks {
		load.Asks[i].Application += " of " + load.Asks[i].Queue
		load.Asks[i].LastAttempt = time.Time{}
		a, err := world.AskOf(cluster, &load.Asks[i])
		if err != nil {
			return nil, err
		}
		asks = append(asks, a)
	}
	name := fmt.Sprintf("asks-%d", number)
	text, _, err := snapshot.Take(&snapshot.Scene{Name: name, Planner: world.PlannerOf(cluster, &load.Options), Now: load.Options.Now, Asks: asks})
	if err != nil {
		return nil, err
	}
	return scenario.Parse(name, text)
}
