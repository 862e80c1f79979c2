package main

import (
	"errors"
	"strings"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/scenario"
	"github.com/go-preempt/preempt/toleration"
)

// The kinds of manifests that have priority classes. Lists of kubectl are of
// any kind, those of the API name the kind of their items once.
const (
	kindClass     = "PriorityClass"
	kindClassList = "PriorityClassList"
	kindList      = "List"
	classGroup    = "scheduling.k8s.io/"
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

// manifest migrates a priority class, or those of a list.
func (m *migration) manifest(v scenario.Value) {
	o := m.object(v, false)
	switch kind := o.text("kind"); {
	case m.err != nil:
	case kind == kindClass:
		m.class(o)
	case kind == kindList, kind == kindClassList:
		m.apiVersion(o, kind)
		for _, item := range o.items("items") {
			o := m.object(item, false)
			if itemKind := o.take("kind"); kind == kindList || !itemKind.Absent() {
				m.wantClass(o)
			}
			m.class(o)
		}
		o.rest(map[string]string{"metadata": "a list is no part of a document"})
	default:
		m.fail(v, "%w: unknown kind %s: want %s, %s or %s", scenario.ErrValue, plain.Name(kind), kindClass, kindClassList, kindList)
	}
}

// wantClass complains about the kind of an item of a list that is none of ours.
func (m *migration) wantClass(o *object) {
	if kind := o.text("kind"); kind != kindClass {
		m.fail(o.v, "%w: unknown kind %s: want %s", scenario.ErrValue, plain.Name(kind), kindClass)
	}
}

// apiVersion complains about an object of another group that has a kind of the
// same name. Items of lists may do without a version.
func (m *migration) apiVersion(o *object, kind string) {
	v := o.take("apiVersion")
	version, err := v.Text()
	m.failed(err)
	if kind != kindList && version != "" && !strings.HasPrefix(version, classGroup) {
		m.fail(v, "%w: unknown kind: want a %s of %sv1", scenario.ErrValue, kind, classGroup)
	}
}

// class migrates a priority class.
func (m *migration) class(o *object) {
	m.apiVersion(o, kindClass)
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
