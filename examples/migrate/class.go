// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"strings"

	"github.com/go-preempt/preempt/internal/scenario"
	"github.com/go-preempt/preempt/toleration"
)

// Why parts of a manifest have no place in a document.
var (
	classReasons = map[string]string{
		"description": "classes have no descriptions",
	}
	metadataReasons = map[string]string{
		"creationTimestamp": "classes have no history",
		"generation":        "classes have no history",
		"labels":            "classes have no labels",
		"managedFields":     "classes have no history",
		"resourceVersion":   "classes have no history",
		"uid":               "classes are known by name",
	}
)

// class migrates a priority class.
func (m *migration) class(o *object) {
	m.apiVersion(o, kindClass, classGroup)
	meta := o.take("metadata")
	if meta.Absent() {
		m.fail(o.v, "%w: metadata", scenario.ErrMissing)
	}
	mo := m.object(meta, false)
	c := class{Name: mo.text("name")}
	value := o.take("value")
	n, err := value.Int32()
	m.failed(err)
	if value.Absent() {
		m.fail(o.v, "%w: value", scenario.ErrMissing)
	}
	c.Value = n
	annotations := mo.take("annotations")
	c.Annotations = m.annotations(annotations)
	policy := o.take("preemptionPolicy")
	m.register(o, &c, policy, annotations)
	if byDefault := o.take("globalDefault"); m.isTrue(byDefault) {
		m.leaveOut(byDefault, "there is no default class: name it in tasks and asks")
	}
	mo.rest(metadataReasons)
	o.rest(classReasons)
	m.doc.Classes = append(m.doc.Classes, c)
}

// annotations migrates those that concern preemption.
func (m *migration) annotations(v scenario.Value) map[string]string {
	fields, err := v.Fields()
	m.failed(err)
	var kept map[string]string
	for _, f := range fields {
		text, err := f.Text()
		m.failed(err)
		switch {
		case f.Name() == toleration.AnnotationAllowPreemption, strings.HasPrefix(f.Name(), toleration.AnnotationPrefix):
			if kept == nil {
				kept = make(map[string]string)
			}
			kept[f.Name()] = text
		default:
			m.leaveOut(f, "the annotation does not concern preemption")
		}
	}
	return kept
}

// register gives a class to the library, which says what is wrong with it.
func (m *migration) register(o *object, c *class, policy, annotations scenario.Value) {
	text, err := policy.Text()
	m.failed(err)
	if m.err != nil {
		return
	}
	if _, ok := m.objects[c.Name]; ok {
		m.fail(o.v, "%w: a class named %q is there already", scenario.ErrDuplicate, c.Name)
		return
	}
	m.objects[c.Name] = o.v
	err = m.classes.Set(toleration.Config{
		Name: c.Name, Value: c.Value, PreemptionPolicy: text, Annotations: c.Annotations,
	})
	malformed, _ := errors.AsType[*toleration.AnnotationError](err)
	switch {
	case malformed != nil:
		m.fail(m.object(annotations, false).take(malformed.Key), "%w: %w", scenario.ErrValue, malformed.Err)
	case err != nil:
		m.fail(policy, "%w: want %s or %s", scenario.ErrValue, toleration.PreemptLowerPriority, toleration.PreemptNever)
	case text == toleration.PreemptNever:
		c.Policy = text
	}
	if got, _ := m.classes.Lookup(c.Name); got.Policy.TolerationSeconds != 0 {
		m.remark(annotations, "kept, and counts where options.toleration is true")
	}
}
