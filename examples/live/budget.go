// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// A budget is a disruption budget, and whom it selects.
type budget struct {
	namespace, name string
	selector        labels.Selector
}

// selectors returns the disruption budgets, by name.
func (c *cluster) selectors() (all []budget, err error) {
	slices.SortFunc(c.budgets, func(a, b *policyv1.PodDisruptionBudget) int {
		return strings.Compare(name(a.Namespace, a.Name), name(b.Namespace, b.Name))
	})
	for _, b := range c.budgets {
		s, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil {
			return nil, c.from[b].wrong("spec.selector", err)
		}
		all = append(all, budget{b.Namespace, name(b.Namespace, b.Name), s})
	}
	return all, nil
}

// budgetsOf returns the budgets that a pod draws on.
func (w *work) budgetsOf(p *v1.Pod) (names []string) {
	for _, b := range w.budgets {
		if b.namespace == p.Namespace && b.selector.Matches(labels.Set(p.Labels)) {
			names = append(names, b.name)
		}
	}
	return names
}

// disrupted reports whether the eviction API has let a pod go that has not been told to stop
// yet. Its budgets have counted that.
func (w *work) disrupted(p *v1.Pod) bool {
	for _, b := range w.cluster.budgets {
		if _, going := b.Status.DisruptedPods[p.Name]; going && b.Namespace == p.Namespace {
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
