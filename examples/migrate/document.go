// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/go-preempt/preempt/internal/scenario"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/toleration"
)

// A document is a scenario document as it is written, with nothing but queues,
// classes and budgets in it.
type document struct {
	Name    string    `json:"name"`
	Queues  queueText `json:"queues"`
	Classes []class   `json:"priorityClasses"`

	Budgets  map[string]budget `json:"budgets,omitempty"`
	Nodes    []none            `json:"nodes"`
	Tasks    []none            `json:"tasks"`
	Requests []none            `json:"requests"`
}

type none struct{}

// A queueText is a queue, with quantities as they stand in the configuration.
type queueText struct {
	Name       string            `json:"name"`
	Resources  *bounds           `json:"resources,omitempty"`
	Properties map[string]string `json:"properties,omitempty"`
	Template   *templateText     `json:"template,omitempty"`
	Queues     []queueText       `json:"queues,omitempty"`
}

// A templateText is what queues get that are made at run time.
type templateText struct {
	Resources  *bounds           `json:"resources,omitempty"`
	Properties map[string]string `json:"properties,omitempty"`
}

type bounds struct {
	Guaranteed map[string]string `json:"guaranteed,omitempty"`
	Max        map[string]string `json:"max,omitempty"`
}

type class struct {
	Name        string            `json:"name"`
	Value       int32             `json:"value"`
	Policy      string            `json:"preemptionPolicy,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// migrate returns the document that the files make, and remarks on what it
// does not have and what is odd about it.
func migrate(all sources, partition string) (text []byte, remarks []error, err error) {
	m := migration{
		types: make(map[string]bool), queues: make(map[string]scenario.Value), objects: make(map[string]scenario.Value),
	}
	m.doc = document{
		Name: "priority classes", Queues: queueText{Name: rootName},
		Classes: []class{}, Nodes: []none{}, Tasks: []none{}, Requests: []none{},
	}
	if all.queues != nil {
		v, err := all.queues.value()
		if err != nil {
			return nil, nil, err
		}
		m.configuration(v, partition)
	}
	for i := range all.manifests {
		values, err := all.manifests[i].values()
		if err != nil {
			return nil, nil, err
		}
		for _, v := range values {
			m.manifest(v)
		}
	}
	if m.err != nil {
		return nil, nil, m.err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(&m.doc); err != nil {
		return nil, nil, err
	}
	if err := m.check(out.Bytes()); err != nil {
		return nil, nil, err
	}
	return out.Bytes(), m.remarks, nil
}

// check reads the document as examples/plan will, and builds its queues. What
// the library objects to, or warns of, gets the place that it came from.
func (m *migration) check(text []byte) error {
	doc, err := scenario.Parse("the document", text)
	if err != nil {
		return err
	}
	tree, err := queue.New(doc.Schema, doc.Root.Config(), queue.Lenient)
	if err != nil {
		problems := []error{err}
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			problems = joined.Unwrap()
		}
		for i, err := range problems {
			problems[i] = m.queueError(err)
		}
		return errors.Join(problems...)
	}
	for _, warning := range tree.Warnings() {
		m.remarks = append(m.remarks, m.queueError(warning))
	}
	for _, warning := range m.classes.Warnings() {
		m.remarks = append(m.remarks, m.classError(warning))
	}
	return nil
}

// queueError returns a problem with a queue at its place in the configuration.
func (m *migration) queueError(err error) error {
	p, ok := errors.AsType[*queue.Problem](err)
	if !ok {
		return err
	}
	v, ok := m.queues[p.Queue]
	if !ok { // the root that was put in
		return err
	}
	return named(v, p.Queue, p.Err)
}

// classError returns a problem with a class at its place in the manifests.
func (m *migration) classError(err error) error {
	c, ok := errors.AsType[*toleration.ClassError](err)
	if !ok {
		return err
	}
	return named(m.objects[c.Class], c.Class, c.Err)
}

// named returns the error that a thing is wrong, with its name for its value.
func named(v scenario.Value, name string, err error) error {
	e := v.Wrong(err)
	e.Value = strconv.Quote(name)
	return e
}
