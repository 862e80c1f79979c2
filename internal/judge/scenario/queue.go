// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"strings"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A Queue is a queue and those below it. References to it join the names from
// the root down with dots.
type Queue struct {
	At         *Path
	Name       string // not empty, without dots
	Guaranteed resources.Limit
	Max        resources.Limit
	Properties map[string]string // any names, any values; nil: none
	// Template is for queues that are made below it at run time, which documents
	// have none of: no answer depends on it. nil: none.
	Template *queue.Config
	Children []Queue // of different names; none: a leaf
}

// PropertyAt returns the place of a property.
func (q *Queue) PropertyAt(name string) *Path {
	return q.At.Field("properties").Field(name)
}

// queueBelow returns what reads a queue below the given one, with all that is
// below it in turn.
func (d *decoder) queueBelow(up *branch) func(value) Queue {
	return func(v value) Queue {
		here := newBranch(v.at)
		o := d.object(v, "name", "resources", "properties", "template", "queues")
		q := Queue{At: v.at, Name: required(o, "name", d.queueName)}
		if twin := up.below[q.Name]; twin != nil {
			d.fail(o.find("name"), "%w: the name is taken at %s", ErrDuplicate, twin.at.Field("name"))
		}
		up.below[q.Name] = here
		q.Guaranteed, q.Max = d.bounds(o.find("resources"))
		q.Properties = optional(o, "properties", d.texts, nil)
		q.Template = optional(o, "template", d.template, nil)
		q.Children = optional(o, "queues", each(d, d.queueBelow(here)), nil)
		return q
	}
}

// bounds reads what a queue is guaranteed, and its max.
func (d *decoder) bounds(v value) (guaranteed, most resources.Limit) {
	r := d.object(v, "guaranteed", "max")
	return optional(r, "guaranteed", d.limit, resources.Limit{}), optional(r, "max", d.limit, resources.Limit{})
}

// template reads what queues get that are made at run time.
func (d *decoder) template(v value) *queue.Config {
	o := d.object(v, "resources", "properties")
	t := &queue.Config{Properties: optional(o, "properties", d.texts, nil)}
	t.Guaranteed, t.Max = d.bounds(o.find("resources"))
	return t
}

// Config returns the queue, and those below it, as package queue wants them.
func (q *Queue) Config() queue.Config {
	c := queue.Config{Name: q.Name, Guaranteed: q.Guaranteed, Max: q.Max, Properties: q.Properties, Template: q.Template}
	for i := range q.Children {
		c.Children = append(c.Children, q.Children[i].Config())
	}
	return c
}

// queueName reads a queue's own name.
func (d *decoder) queueName(v value) string {
	if strings.Contains(d.name(v), ".") {
		d.fail(v, "%w: a queue's own name has no dot", ErrValue)
	}
	return v.text
}

// A branch is a queue, for looking up those below it.
type branch struct {
	at    *Path
	below map[string]*branch
}

func newBranch(at *Path) *branch {
	return &branch{at: at, below: make(map[string]*branch)}
}

// find returns the queue whose names are joined with dots, or nil.
func (b *branch) find(dotted string) *branch {
	for name := range strings.SplitSeq(dotted, ".") {
		if b = b.below[name]; b == nil {
			return nil
		}
	}
	return b
}

// queueRef reads the dotted name of a queue.
func (d *decoder) queueRef(v value) string {
	if d.want(v, text) && d.known.queues.find(v.text) == nil {
		d.refer(v, d.known.doubt.queues, "no queue of this name")
	}
	return v.text
}

// leafRef reads the dotted name of a queue without children.
func (d *decoder) leafRef(v value) string {
	name := d.queueRef(v)
	if b := d.known.queues.find(name); b != nil && len(b.below) > 0 {
		d.refer(v, d.known.doubt.queues, "the queue has children, and only leaves hold tasks")
	}
	return name
}
