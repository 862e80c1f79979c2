// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// A budget is a disruption budget, and whom it selects.
type budget struct {
	name      string
	selector  labels.Selector
	disrupted map[string]metav1.Time
}

// selectors returns the disruption budgets of each namespace, by name.
func (c *cluster) selectors() (map[string][]budget, error) {
	all := map[string][]budget{}
	slices.SortFunc(c.budgets, func(a, b *policyv1.PodDisruptionBudget) int {
		return strings.Compare(name(a.Namespace, a.Name), name(b.Namespace, b.Name))
	})
	for _, b := range c.budgets {
		s, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil {
			return nil, c.from[b].wrong("spec.selector", err)
		}
		all[b.Namespace] = append(all[b.Namespace], budget{name(b.Namespace, b.Name), s, b.Status.DisruptedPods})
	}
	return all, nil
}

// budgetsOf returns the budgets that a pod draws on.
func (w *work) budgetsOf(p *pod) (names []string) {
	for _, b := range w.budgets[p.namespace] {
		if b.selector.Matches(p.labels) {
			names = append(names, b.name)
		}
	}
	return names
}

// disrupted reports whether the eviction API has let a pod go that has not been told to stop
// yet. Its budgets have counted that.
func (w *work) disrupted(p *pod) bool {
	for _, b := range w.budgets[p.namespace] {
		if _, going := b.disrupted[p.name]; going {
			return true
		}
	}
	return false
}

// budgetTexts returns what budgets have left. The cluster has counted that, for
// minAvailable as for maxUnavailable. A budget that no cluster has seen yet has no
// count: nobody knows how many pods there are, and nothing is left.
func (c *cluster) budgetTexts() map[string]budgetText {
	all := map[string]budgetText{}
	for _, b := range c.budgets {
		if b.Status.ExpectedPods == 0 && b.Status.ObservedGeneration == 0 && len(b.Status.Conditions) == 0 && b.Status.DisruptionsAllowed == 0 {
			c.notes.add("PodDisruptionBudget "+name(b.Namespace, b.Name), "has no status: it has nothing left")
		}
		all[name(b.Namespace, b.Name)] = budgetText{b.Status.DisruptionsAllowed, c.options.hard}
	}
	return all
}
