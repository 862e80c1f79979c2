// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"iter"
	"math"
	"slices"
	"time"

	"github.com/go-preempt/preempt/resources"
)

// A Task is a task on a node. Key, Queue (a leaf), Application and Node are
// never empty.
type Task struct {
	At              *Path
	Key             string
	Queue           string
	Application     string
	Node            string
	Resources       resources.Vector
	Class           string         // empty: none
	Age             time.Duration  // since it was created; never negative
	ScheduledAge    time.Duration  // since it was placed; 0 where it never was
	Ends            *time.Duration // until its expected end, never negative; nil: nobody knows. No decision heeds it
	Priority        int32          // its own, or its class's, or 0
	NeverScheduled  bool           // nominated, not yet scheduled
	Originator      bool
	State           State
	AllowPreemption *bool  // nil: the document does not say, and its class decides
	RequiredNode    string // empty: none
	Job             string // empty: none
	Preemptible     *bool  // nil: the document does not say

	Cost          int64          // never negative
	Preemptions   int            // how often before
	CheckpointAge *time.Duration // since the last checkpoint, never negative; nil: there is none
	Budgets       []string       // each once; nil: none
	Ports         []string       // none empty, each once; nil: none

	Movable      bool              // it can be started again elsewhere
	NodeSelector map[string]string // labels that its node must have, if it moves
}

// A State is what a task is doing.
type State uint8

const (
	StateRunning State = 1 + iota
	StateReleasing
	StatePreempting
)

var states = []string{"running", "releasing", "preempting"}

// String returns the state as documents spell it.
func (s State) String() string { return spell(states, uint8(s)) }

// longTasks are the tasks of a document that does not keep them.
type longTasks struct {
	v value   // their list
	d decoder // knows what they refer to
}

// each reads the tasks again. What is wrong with them was found before.
func (l *longTasks) each() iter.Seq[Task] {
	return func(yield func(Task) bool) {
		d := l.d // several may read at the same time
		d.known.jobs = make(map[string]bool)
		for v := range l.v.each() {
			if !yield(d.task(v, d.name)) {
				return
			}
		}
	}
}

// eachTask returns the tasks of the document.
func (doc *Document) eachTask() iter.Seq[Task] {
	if doc.long != nil {
		return doc.long.each()
	}
	return slices.Values(doc.Tasks)
}

// tasks reads the tasks of the document, whose keys differ.
func (d *decoder) tasks(v value) []Task {
	if d.long == nil {
		return d.tasksBeside(d.known.tasks)(v)
	}
	key := d.unique(d.known.tasks)
	for item := range d.list(v) {
		d.task(item, key)
	}
	d.long.v = v
	return nil
}

// tasksBeside returns what reads tasks whose keys differ, also from those seen.
func (d *decoder) tasksBeside(keys seen) func(value) []Task {
	key := d.unique(keys)
	return each(d, func(v value) Task { return d.task(v, key) })
}

// task reads a task whose key is read in a way.
func (d *decoder) task(v value, key func(value) string) Task {
	o := d.object(v, "key", "queue", "application", "node", "resources", "priority", "priorityClass",
		"age", "scheduledAge", "originator", "allowPreemption", "requiredNode", "state", "job", "preemptible",
		"cost", "preemptions", "checkpointAge", "budgets", "ports", "ends", "movable", "nodeSelector")
	t := Task{
		At:              v.at,
		Key:             required(o, "key", key),
		Queue:           required(o, "queue", d.leafRef),
		Application:     required(o, "application", d.name),
		Node:            required(o, "node", d.nodeRef),
		Resources:       required(o, "resources", d.vector),
		Class:           optional(o, "priorityClass", d.classRef, ""),
		Age:             optional(o, "age", d.duration, defaultAge),
		Originator:      optional(o, "originator", d.boolean, false),
		AllowPreemption: pointer(o, "allowPreemption", d.boolean),
		RequiredNode:    optional(o, "requiredNode", d.nodeOrNone, ""),
		State:           optional(o, "state", word[State](d, states), StateRunning),
		Job:             optional(o, "job", d.text, ""),
		Preemptible:     pointer(o, "preemptible", d.boolean),
		Cost:            optional(o, "cost", d.cost, 0),
		Preemptions:     int(optional(o, "preemptions", d.whole(0, math.MaxInt32), 0)),
		CheckpointAge:   pointer(o, "checkpointAge", d.duration),
		Budgets:         optional(o, "budgets", d.budgetRefs, nil),
		Ports:           optional(o, "ports", d.ports, nil),
		Ends:            pointer(o, "ends", d.duration),
		Movable:         optional(o, "movable", d.boolean, false),
		NodeSelector:    optional(o, "nodeSelector", d.selector, nil),
	}
	t.Priority = optional(o, "priority", d.priority, d.known.values[t.Class])
	t.ScheduledAge = t.Age
	if s := o.find("scheduledAge"); s.kind != 0 {
		t.ScheduledAge, t.NeverScheduled = d.scheduledAge(s)
	}
	d.known.jobs[t.Job] = true
	return t
}

// defaultAge is how long ago a task was created, or an ask made, that does not
// say.
const defaultAge = time.Hour

// scheduledAge reads the time since a task was placed, or that it never was.
func (d *decoder) scheduledAge(v value) (age time.Duration, never bool) {
	if v.kind == text && v.text == "never" {
		return 0, true
	}
	return d.duration(v), false
}

// An Ask is a task without a node. Key, Queue (a leaf) and Application are
// never empty.
type Ask struct {
	At                *Path
	Key               string
	Queue             string
	Application       string
	Resources         resources.Vector
	Priority          int32         // its own, or its class's, or 0
	Class             string        // empty: none
	Age               time.Duration // since when it is pending; never negative
	RequiredNode      string        // empty: none
	AllowPreemptOther bool

	NodeSelector Selector // nil: it may run on every node
	Ports        []string // none empty, each once; nil: none

	// What it will be as a task.
	Cost        int64    // never negative
	Preemptions int      // how often before
	Budgets     []string // each once; nil: none
	Job         string   // empty: none
	Preemptible *bool    // nil: the document does not say
	Originator  bool
}

// askFields are the fields of an ask.
var askFields = []string{
	"key", "queue", "application", "resources", "priority", "priorityClass", "age", "requiredNode",
	"allowPreemptOther", "nodeSelector", "ports", "cost", "preemptions", "budgets",
	"job", "preemptible", "originator",
}

// ask reads an ask. Its key may be that of another one.
func (d *decoder) ask(v value) Ask { return d.askOf(d.object(v, askFields...), d.name) }

// askOf reads the fields of an ask, and its key as given.
func (d *decoder) askOf(o fieldsOf, key func(value) string) Ask {
	v := o.v
	a := Ask{
		At:           v.at,
		Key:          required(o, "key", key),
		Queue:        required(o, "queue", d.leafRef),
		Application:  required(o, "application", d.name),
		Resources:    required(o, "resources", d.vector),
		Class:        optional(o, "priorityClass", d.classRef, ""),
		Age:          optional(o, "age", d.duration, defaultAge),
		RequiredNode: optional(o, "requiredNode", d.nodeOrNone, ""),
		NodeSelector: optional(o, "nodeSelector", d.selector, nil),
		Ports:        optional(o, "ports", d.ports, nil),
		Cost:         optional(o, "cost", d.cost, 0),
		Preemptions:  int(optional(o, "preemptions", d.whole(0, math.MaxInt32), 0)),
		Budgets:      optional(o, "budgets", d.budgetRefs, nil),
		Job:          optional(o, "job", d.text, ""),
		Preemptible:  pointer(o, "preemptible", d.boolean),
		Originator:   optional(o, "originator", d.boolean, false),
	}
	d.known.jobs[a.Job] = true
	a.Priority = optional(o, "priority", d.priority, d.known.values[a.Class])
	a.AllowPreemptOther = optional(o, "allowPreemptOther", d.boolean, !d.known.never[a.Class])
	return a
}

// A Grant is an ask that was given a place before the document begins. It has
// not started.
type Grant struct {
	Ask
	Node string
}

// grant reads a grant. Its key is that of no task and no other grant.
func (d *decoder) grant(v value) Grant {
	o := d.object(v, append(askFields[:len(askFields):len(askFields)], "node")...)
	return Grant{
		Ask:  d.askOf(o, d.unique(d.known.tasks)),
		Node: required(o, "node", d.nodeRef),
	}
}
