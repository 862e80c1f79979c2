// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/scenario"
)

// The kinds of manifests that are migrated, and their API groups. Lists of
// kubectl are of any kind, those of the API name the kind of their items once.
const (
	kindClass      = "PriorityClass"
	kindClassList  = "PriorityClassList"
	kindBudget     = "PodDisruptionBudget"
	kindBudgetList = "PodDisruptionBudgetList"
	kindList       = "List"

	classGroup  = "scheduling.k8s.io/"
	budgetGroup = "policy/"
)

// manifest migrates an object, or those of a list.
func (m *migration) manifest(v scenario.Value) {
	o := m.object(v, false)
	switch kind := o.text("kind"); {
	case m.err != nil:
	case kind == kindClass, kind == kindBudget:
		m.single(o, kind)
	case kind == kindClassList:
		m.list(o, kindClass, classGroup)
	case kind == kindBudgetList:
		m.list(o, kindBudget, budgetGroup)
	case kind == kindList:
		m.list(o, "", "")
	default:
		m.fail(v, "%w: unknown kind %s: want %s, %s, a list of one of them, or %s",
			scenario.ErrValue, plain.Name(kind), kindClass, kindBudget, kindList)
	}
}

func (m *migration) single(o *object, kind string) {
	if kind == kindClass {
		m.class(o)
	} else {
		m.budget(o)
	}
}

// list migrates the items of a list: of one kind and group, or if there is no
// kind, each of its own.
func (m *migration) list(o *object, kind, group string) {
	if kind != "" {
		m.apiVersion(o, kind+"List", group)
	}
	o.take("apiVersion")
	for _, item := range o.items("items") {
		o := m.object(item, false)
		own := kind
		if v := o.take("kind"); kind == "" || !v.Absent() {
			own = o.text("kind")
		}
		switch {
		case m.err != nil:
			return
		case kind != "" && own != kind:
			m.fail(o.v, "%w: unknown kind %s: want %s", scenario.ErrValue, plain.Name(own), kind)
		case own != kindClass && own != kindBudget:
			m.fail(o.v, "%w: unknown kind %s: want %s or %s", scenario.ErrValue, plain.Name(own), kindClass, kindBudget)
		default:
			m.single(o, own)
		}
	}
	o.rest(map[string]string{"metadata": "a list is no part of a document"})
}

// apiVersion complains about an object of another group that has a kind of the
// same name. Items of lists may do without a version.
func (m *migration) apiVersion(o *object, kind, group string) {
	v := o.take("apiVersion")
	version, err := v.Text()
	m.failed(err)
	if version != "" && !strings.HasPrefix(version, group) {
		m.fail(v, "%w: unknown kind: want a %s of %sv1", scenario.ErrValue, kind, group)
	}
}
