// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/go-preempt/preempt/internal/judge/storm"
	"github.com/go-preempt/preempt/internal/plain"
)

// A stormLook says whether the tasks and asks of a document can stop each other
// for ever, if whoever is stopped comes back at once.
type stormLook struct {
	WhyNot string `json:"whyNot,omitempty"` // the document cannot be explored

	States int        `json:"states"`          // that were looked at, with the rules as they are
	Storm  *storyLook `json:"storm,omitempty"` // with the rules as they are; there should be none
	// Inside is a storm if asks might take from inside the starving queue.
	Inside *storyLook `json:"inside,omitempty"`
	// Rest is how the document comes to rest, if there is no storm either way.
	Rest *storyLook `json:"rest,omitempty"`
}

// A storyLook is a storm, if there are steps: after the last one all is as it
// was in the beginning.
type storyLook struct {
	Nodes []string        `json:"nodes"`
	Tasks []string        `json:"tasks"`
	Place []int           `json:"place"` // by task: an index of nodes, or -1 if it waits before the first step
	Steps []stormStepLook `json:"steps"`
	// Rests are longest ways to rest with the rules as they are: one from before
	// each step, or, if there are no steps, one from the beginning.
	Rests [][]stormStepLook `json:"rests,omitempty"`
}

// A stormStepLook is a task that starts on a node, and whom it takes the place
// of. They are indices of the tasks and nodes.
type stormStepLook struct {
	Starts int   `json:"starts"`
	On     int   `json:"on"`
	Stops  []int `json:"stops"`
}

// storm explores a document.
func (l *looker) storm(q *question) reply {
	doc, err := l.at(q.Document)
	if err != nil {
		return wrong(q, err)
	}
	run, err := doc.Run()
	if err != nil {
		return wrong(q, err)
	}
	x := explored{doc: doc, tree: run.Before.Tree()}
	s := &stormLook{}
	if err := x.read(); err != nil {
		s.WhyNot = err.Error()
		return reply{Storm: s}
	}
	inside := x.universe
	inside.Rules.Inside = true
	cycle, states := x.universe.Storm()
	s.States, s.Storm = states, x.story(cycle)
	cycle, _ = inside.Storm()
	s.Inside = x.story(cycle)
	if s.Storm == nil {
		switch {
		case s.Inside != nil:
			x.rest(s.Inside)
		default:
			s.Rest = x.story(&storm.Cycle{Running: x.place})
			x.rest(s.Rest)
		}
	}
	return reply{Storm: s}
}

// story returns a storm with the names of the document; nil if there is none.
func (x *explored) story(c *storm.Cycle) *storyLook {
	if c == nil {
		return nil
	}
	s := &storyLook{Tasks: x.keys, Place: c.Running, Steps: stepLooks(c.Steps)}
	for i := range x.doc.Nodes {
		s.Nodes = append(s.Nodes, plain.Name(x.doc.Nodes[i].Name))
	}
	return s
}

// stepLooks returns steps of single tasks: there are no jobs in what is explored.
func stepLooks(steps []storm.Step) []stormStepLook {
	all := []stormStepLook{}
	for i := range steps {
		s := &steps[i]
		all = append(all, stormStepLook{Starts: s.Tasks[0], On: s.Nodes[0], Stops: append([]int{}, s.Victims...)})
	}
	return all
}

// rest adds how it comes to rest with the rules as they are, from each state of
// the story.
func (x *explored) rest(s *storyLook) {
	place := slices.Clone(s.Place)
	for at := range max(1, len(s.Steps)) {
		steps, ok := x.universe.Rest(place)
		if !ok {
			return // more runs than a node or a queue takes
		}
		s.Rests = append(s.Rests, stepLooks(steps))
		if len(s.Steps) > 0 {
			step := &s.Steps[at]
			for _, v := range step.Stops {
				place[v] = -1
			}
			place[step.Starts] = step.On
		}
	}
}
