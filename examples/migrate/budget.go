// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/go-preempt/preempt/internal/scenario"

// A budget is soft, which is how the scheduler of Kubernetes takes it.
type budget struct {
	Left int32 `json:"left"`
}

// Why parts of a disruption budget have no place in a document.
var (
	budgetMetadataReasons = map[string]string{
		"annotations":       "budgets have no annotations",
		"creationTimestamp": "budgets have no history",
		"generation":        "budgets have no history",
		"labels":            "budgets have no labels",
		"managedFields":     "budgets have no history",
		"resourceVersion":   "budgets have no history",
		"uid":               "budgets are known by name",
	}
	budgetSpecReasons = map[string]string{
		"selector":                   "name the budget in the tasks that it selects",
		"unhealthyPodEvictionPolicy": "tasks are not told apart by health",
	}
	budgetStatusReasons = map[string]string{
		"conditions":         "a budget says what is left and nothing else",
		"currentHealthy":     "what is left says it all",
		"desiredHealthy":     "what is left says it all",
		"disruptedPods":      "pods that are leaving are tasks of the state preempting",
		"expectedPods":       "what is left says it all",
		"observedGeneration": "budgets have no history",
	}
)

// budget migrates a disruption budget, under its name or namespace/name.
func (m *migration) budget(o *object) {
	m.apiVersion(o, kindBudget, budgetGroup)
	meta := o.take("metadata")
	if meta.Absent() {
		m.fail(o.v, "%w: metadata", scenario.ErrMissing)
	}
	mo := m.object(meta, false)
	name := mo.text("name")
	if v := mo.take("namespace"); !v.Blank() {
		namespace, err := v.Text()
		m.failed(err)
		name = namespace + "/" + name
	}
	spec, status := m.object(o.take("spec"), false), m.object(o.take("status"), false)
	left := m.left(o, spec, status)
	if _, ok := m.doc.Budgets[name]; ok {
		m.fail(o.v, "%w: a budget named %q is there already", scenario.ErrDuplicate, name)
	}
	if m.doc.Budgets == nil {
		m.doc.Budgets = make(map[string]budget)
	}
	m.doc.Budgets[name] = budget{left}
	spec.rest(budgetSpecReasons)
	status.rest(budgetStatusReasons)
	mo.rest(budgetMetadataReasons)
	o.rest(nil)
}

// left returns how many pods may still be stopped. The cluster has counted them
// for minAvailable as for maxUnavailable. A budget that no cluster has seen yet
// has no count, and a number for maxUnavailable is taken instead.
func (m *migration) left(o, spec, status *object) int32 {
	least, most := spec.take("minAvailable"), spec.take("maxUnavailable")
	if !least.Absent() && !most.Absent() {
		m.fail(most, "%w: minAvailable is there already", scenario.ErrValue)
	}
	allowed := status.take("disruptionsAllowed")
	if !allowed.Absent() {
		n, err := allowed.Int32()
		m.failed(err)
		return n
	}
	n, err := most.Int32()
	if most.Absent() || err != nil {
		m.fail(o.v, "%w: status.disruptionsAllowed, without which nobody knows how many pods there are", scenario.ErrMissing)
		return 0
	}
	m.remark(most, "what is left, as if all pods were healthy, for there is no status.disruptionsAllowed")
	return n
}
