// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"math"
	"time"

	"github.com/go-preempt/preempt/resources"
)

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
