// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/toleration"
)

// What a document has; shared with nobody, for it is written only.
type (
	documentText struct {
		Name     string                `json:"name"`
		Now      time.Time             `json:"now"`
		Types    []string              `json:"types"`
		Queues   queueText             `json:"queues"`
		Classes  []classText           `json:"priorityClasses,omitempty"`
		Nodes    []nodeText            `json:"nodes"`
		Budgets  map[string]budgetText `json:"budgets,omitempty"`
		Tasks    []taskText            `json:"tasks"`
		Grants   []grantText           `json:"grants,omitempty"`
		Minimums map[string]int        `json:"jobMinimums,omitempty"`
		Requests []requestText         `json:"requests"`
		Options  optionsText           `json:"options"`
	}
	queueText struct {
		Name       string            `json:"name"`
		Resources  *bounds           `json:"resources,omitempty"`
		Properties map[string]string `json:"properties,omitempty"`
		Template   *templateText     `json:"template,omitempty"`
		Queues     []queueText       `json:"queues,omitempty"`
	}
	// A templateText is what queues get that are made at run time.
	templateText struct {
		Resources  *bounds           `json:"resources,omitempty"`
		Properties map[string]string `json:"properties,omitempty"`
	}
	bounds struct {
		Guaranteed map[string]amount `json:"guaranteed,omitempty"`
		Max        map[string]amount `json:"max,omitempty"`
	}
	classText struct {
		Name        string            `json:"name"`
		Value       int32             `json:"value"`
		Policy      string            `json:"preemptionPolicy,omitempty"`
		Annotations map[string]string `json:"annotations,omitempty"`
	}
	nodeText struct {
		Name          string            `json:"name"`
		Capacity      map[string]string `json:"capacity"`
		Unschedulable bool              `json:"unschedulable,omitempty"`
		Labels        map[string]string `json:"labels,omitempty"`
		Domains       []string          `json:"domains,omitempty"`
	}
	budgetText struct {
		Left int32 `json:"left"`
		Hard bool  `json:"hard,omitempty"`
	}
	// A podText is what tasks, asks and members have.
	podText struct {
		Key       string `json:"key"`
		Resources *size  `json:"resources"`
	}
	// A workText is what tasks and asks have.
	workText struct {
		podText
		Queue        string   `json:"queue"`
		Application  string   `json:"application"`
		Priority     int32    `json:"priority"`
		Class        string   `json:"priorityClass,omitempty"`
		Age          span     `json:"age"`
		RequiredNode string   `json:"requiredNode,omitempty"`
		Budgets      []string `json:"budgets,omitempty"`
		Ports        []string `json:"ports,omitempty"`
		Job          string   `json:"job,omitempty"`
	}
	taskText struct {
		workText
		Node            string   `json:"node"`
		ScheduledAge    sinceRun `json:"scheduledAge"`
		AllowPreemption *bool    `json:"allowPreemption,omitempty"`
		Cost            int64    `json:"cost,omitempty"`
		CheckpointAge   *span    `json:"checkpointAge,omitempty"`
		State           string   `json:"state,omitempty"`
	}
	askText struct {
		workText
		AllowPreemptOther *bool             `json:"allowPreemptOther,omitempty"`
		NodeSelector      map[string]string `json:"nodeSelector,omitempty"`
	}
	// A grantText is an ask that was promised a place.
	grantText struct {
		askText
		Node string `json:"node"`
	}
	memberText struct {
		podText
		NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	}
	jobText struct {
		Name        string       `json:"name"`
		Queue       string       `json:"queue"`
		Application string       `json:"application"`
		Priority    int32        `json:"priority"`
		Age         span         `json:"age"`
		MinMembers  int          `json:"minMembers"`
		Policy      string       `json:"preemptionPolicy,omitempty"`
		Domain      int          `json:"domain,omitempty"`
		Members     []memberText `json:"members"`
	}
	requestText struct {
		Ask  *askText `json:"ask,omitempty"`
		Job  *jobText `json:"job,omitempty"`
		Then string   `json:"then,omitempty"`
	}
	optionsText struct {
		Toleration     bool     `json:"toleration"`
		StrictPriority bool     `json:"strictPriority,omitempty"`
		OwnLeaf        string   `json:"ownLeaf,omitempty"`
		FairShares     bool     `json:"fairShares,omitempty"`
		Scarce         []string `json:"scarce,omitempty"`
	}
)

// A span is a length of time as a document has it.
type span time.Duration

func (s span) MarshalText() ([]byte, error) { return []byte(time.Duration(s).String()), nil }

// A sinceRun is how long ago a task was placed, or that it never was.
type sinceRun struct {
	span
	never bool
}

func (s sinceRun) MarshalText() ([]byte, error) {
	if s.never {
		return []byte("never"), nil
	}
	return s.span.MarshalText()
}

// child returns the queue of a name below a queue, or nil.
func (q *queueText) child(name string) *queueText {
	for i := range q.Queues {
		if q.Queues[i].Name == name {
			return &q.Queues[i]
		}
	}
	return nil
}

// document returns the document of the cluster, to be written and to be decided. Of the one to be
// decided all is read as examples/plan would, but for the tasks: there may be many, and their text
// is not made for that.
func (c *cluster) document() (*documentText, *scenario.Document, error) {
	d, err := c.text()
	if err != nil {
		return nil, nil, err
	}
	rest := *d
	rest.Tasks, rest.Minimums = []taskText{}, nil
	var text bytes.Buffer
	if err := rest.encode(&text, ""); err != nil {
		return nil, nil, err
	}
	doc, tree, err := c.check(text.Bytes())
	if err != nil {
		return nil, nil, err
	}
	doc.Tasks, doc.JobMinimums = d.tasks(doc.Schema), d.minimums()
	if d.Options.Scarce, err = c.scarce(doc, tree); err != nil {
		return nil, nil, err
	}
	for _, name := range d.Options.Scarce {
		t, _ := doc.Schema.Index(name)
		doc.Options.Scarce |= 1 << t
	}
	return d, doc, nil
}

// tasks returns the tasks as they are read from a document.
func (d *documentText) tasks(schema *resources.Schema) (all []scenario.Task) {
	states := map[string]scenario.State{"": scenario.StateRunning, "releasing": scenario.StateReleasing}
	at := (*scenario.Path)(nil).Field("tasks")
	for i := range d.Tasks {
		t := &d.Tasks[i]
		if all == nil {
			all = make([]scenario.Task, 0, len(d.Tasks))
		}
		all = append(all, scenario.Task{
			At: at.Item(i), Key: t.Key, Queue: t.Queue, Application: t.Application, Node: t.Node, Resources: t.Resources.vector(schema),
			Class: t.Class, Age: time.Duration(t.Age), ScheduledAge: time.Duration(t.ScheduledAge.span), NeverScheduled: t.ScheduledAge.never,
			Priority: t.Priority, State: states[t.State], AllowPreemption: t.AllowPreemption, RequiredNode: t.RequiredNode, Job: t.Job,
			Cost: t.Cost, CheckpointAge: (*time.Duration)(t.CheckpointAge), Budgets: t.Budgets, Ports: t.Ports,
		})
	}
	return all
}

// minimums returns the minimums of jobs as they are read from a document.
func (d *documentText) minimums() (all []scenario.JobMinimum) {
	at := (*scenario.Path)(nil).Field("jobMinimums")
	for _, job := range slices.Sorted(maps.Keys(d.Minimums)) {
		all = append(all, scenario.JobMinimum{At: at.Field(job), Job: job, Members: d.Minimums[job]})
	}
	return all
}

// text makes the document of what was read.
func (c *cluster) text() (*documentText, error) {
	if err := c.addWorkloads(); err != nil {
		return nil, err
	}
	slices.SortFunc(c.nodes, func(a, b *v1.Node) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(c.pods, func(a, b *pod) int { return strings.Compare(a.key, b.key) })
	d := &documentText{Name: "cluster", Now: c.options.now, Nodes: []nodeText{}, Tasks: []taskText{}, Requests: []requestText{},
		Options: optionsText{Toleration: true, StrictPriority: c.options.strict, OwnLeaf: c.options.ownLeaf, FairShares: c.systems[0].fair}}
	var err error
	if d.Classes, err = c.classTexts(); err != nil {
		return nil, err
	}
	d.Budgets = c.budgetTexts()
	w := newWork(c)
	if err := w.read(); err != nil {
		return nil, err
	}
	d.Types, d.Tasks, d.Grants, d.Requests, d.Minimums = w.types(), w.tasks, w.grants, w.requests(), w.minimums
	d.Queues = c.root // after the pods, who may have asked for a leaf
	if len(d.Types) > resources.MaxTypes {
		return nil, fmt.Errorf("%d resource types with those of queues, and a document has at most %d", len(d.Types), resources.MaxTypes)
	}
	for i, n := range c.nodes {
		d.Nodes = append(d.Nodes, w.places.node(i, n, d.Types))
	}
	c.pods, c.from, c.shapes, c.labels = nil, nil, nil, nil // all is said, and they are large
	return d, nil
}

// write writes a document for people to read.
func (d *documentText) write(out io.Writer) error {
	rest := *d
	rest.Tasks = []taskText{}
	w := bufio.NewWriter(out)
	err := scenario.Write(w, rest, d.Tasks)
	return cmp.Or(err, w.Flush())
}

// encode writes a document, each level of it indented.
func (d *documentText) encode(out io.Writer, indent string) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	return enc.Encode(d)
}

// scarce returns the types whose guarantees count, and notes what was taken; nil for all. Kueue looks at
// contested types only, and Volcano wants one type over its share.
func (c *cluster) scarce(doc *scenario.Document, tree *queue.Tree) (names []string, err error) {
	which := c.options.scarce
	if doc.Options.FairShares {
		if which != "" {
			return nil, fmt.Errorf("-scarce %q: fair shares are of scarce types already", which)
		}
		c.notes.say("fair shares: the quota of a queue, and what others leave of theirs by weight, type by type, count as its guarantee")
		return nil, nil
	}
	if which == "" && c.systems[0].contested {
		which = "auto"
	}
	switch which {
	case "", "all":
		return nil, nil
	case "auto":
	default:
		for _, name := range strings.Split(which, ",") {
			if _, known := doc.Schema.Index(name); !known || slices.Contains(names, name) {
				return nil, fmt.Errorf("-scarce %q: %q is no type of the cluster, or there twice", which, name)
			}
			names = append(names, name)
		}
		return names, nil
	}
	types, err := doc.Scarce(tree)
	if err != nil {
		return nil, err
	}
	types |= doc.Lacking()
	for i := range doc.Schema.Len() {
		if types.Has(i) {
			names = append(names, doc.Schema.Name(i))
		}
	}
	if len(names) == 0 {
		c.notes.say("scarce: there is enough of every type, and a document cannot say that no guarantee counts: all do")
	} else {
		c.notes.say("scarce: guarantees count in " + strings.Join(names, ", ") + " only; -scarce all has them count in all types")
	}
	return names, nil
}

// tolerationPrefix begins the annotations by which classes tolerate preemptors.
const tolerationPrefix = "preemption-toleration.scheduling.x-k8s.io/"

// classTexts returns the priority classes. The library says what is wrong with them.
func (c *cluster) classTexts() (all []classText, err error) {
	slices.SortFunc(c.classes, func(a, b *schedulingv1.PriorityClass) int { return cmp.Compare(a.Name, b.Name) })
	read, warnings := map[string]bool{}, []error(nil)
	parse := func(t classText) error {
		class, err := toleration.Parse(toleration.PriorityClass{Name: t.Name, Value: t.Value, PreemptionPolicy: t.Policy, Annotations: t.Annotations})
		warnings = append(warnings, class.Warnings...)
		return err
	}
	for _, t := range c.slurm.classes {
		all, read[t.Name] = append(all, t), true
		if err := parse(t); err != nil {
			return nil, err
		}
	}
	for _, p := range c.classes {
		t := classText{Name: p.Name, Value: p.Value}
		if read[p.Name] {
			return nil, c.from[p].wrong("metadata.name", errors.New("a QOS of Slurm has this name, too"))
		}
		if p.GlobalDefault {
			c.notes.add("PriorityClass "+p.Name, "left out: globalDefault; pods have their priority already")
		}
		if p.PreemptionPolicy != nil {
			t.Policy = string(*p.PreemptionPolicy)
		}
		for k, v := range p.Annotations {
			if k == toleration.AnnotationAllowPreemption || strings.HasPrefix(k, tolerationPrefix) {
				if t.Annotations == nil {
					t.Annotations = map[string]string{}
				}
				t.Annotations[k] = v
			}
		}
		if err := parse(t); err != nil {
			return nil, c.from[p].wrong("metadata.annotations", err)
		}
		all = append(all, t)
	}
	for _, warning := range warnings {
		c.notes.say(warning.Error())
	}
	return all, nil
}

// quantity returns an amount as a document has it, rounded up as the scheduler of
// Kubernetes does.
func quantity(name string, q resource.Quantity) string { return quantityOf(name, units(name, q)) }

// quantityOf returns an amount in base units as a document has it.
func quantityOf(name string, n int64) string {
	if name == string(v1.ResourceCPU) {
		return resource.NewMilliQuantity(n, resource.DecimalSI).String()
	}
	return resource.NewQuantity(n, resource.DecimalSI).String()
}

// units returns an amount in base units: thousandths of cpus, or bytes, or pieces.
func units(name string, q resource.Quantity) int64 {
	if name == string(v1.ResourceCPU) {
		return q.MilliValue()
	}
	return q.Value()
}
