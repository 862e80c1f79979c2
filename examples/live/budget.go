// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
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

// budgetTexts returns what budgets have left. The cluster has counted that, for
// minAvailable as for maxUnavailable. A budget that no cluster has seen yet has no
// count, and a number for maxUnavailable is taken instead.
func (c *cluster) budgetTexts() (map[string]budgetText, error) {
	all := map[string]budgetText{}
	for _, b := range c.budgets {
		left := b.Status.DisruptionsAllowed
		if b.Status.ExpectedPods == 0 && b.Status.ObservedGeneration == 0 && len(b.Status.Conditions) == 0 && left == 0 {
			most := b.Spec.MaxUnavailable
			if most == nil || most.Type != intstr.Int {
				return nil, c.from[b].wrong("status.disruptionsAllowed", errors.New("missing, and without it nobody knows how many pods there are"))
			}
			left = most.IntVal
			c.notes.add(name(b.Namespace, b.Name), "has no status: maxUnavailable is what is left, as if all pods were healthy")
		}
		all[name(b.Namespace, b.Name)] = budgetText{left, c.options.hard}
	}
	return all, nil
}
