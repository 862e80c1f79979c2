// SPDX-License-Identifier: Apache-2.0

package exam

import (
	"slices"

	"github.com/go-preempt/preempt/internal/judge/scenario"
)

// A Feature is something that a document may say beside amounts, queues,
// priorities and ages, and that changes the answer.
type Feature string

// The features. A peer that cannot be told one is not asked about documents
// that have it.
const (
	FeatureSelector       Feature = "node selector"
	FeaturePorts          Feature = "ports"
	FeatureRequiredNode   Feature = "required node"
	FeatureReserved       Feature = "reserved node"
	FeatureLeaving        Feature = "leaving tasks"
	FeatureGrants         Feature = "grants"
	FeatureGangs          Feature = "gangs"
	FeatureSoftBudgets    Feature = "soft budgets"
	FeatureHardBudgets    Feature = "hard budgets"
	FeatureToleration     Feature = "toleration"
	FeatureOwnCosts       Feature = "own costs"
	FeatureOwnLeaf        Feature = "the own leaf"
	FeatureFairShares     Feature = "fair shares"
	FeatureScarce         Feature = "scarce types"
	FeatureStrictPriority Feature = "strict priority"
)

// allFeatures is every feature.
var allFeatures = []Feature{
	FeatureSelector, FeaturePorts, FeatureRequiredNode, FeatureReserved, FeatureLeaving, FeatureGrants, FeatureGangs,
	FeatureSoftBudgets, FeatureHardBudgets, FeatureToleration, FeatureOwnCosts, FeatureOwnLeaf, FeatureFairShares, FeatureScarce,
	FeatureStrictPriority,
}

// lacks returns a feature of the document that the peer cannot be told, or "".
func (r *Rules) lacks(doc *scenario.Document) Feature {
	for _, f := range Features(doc) {
		if f == FeatureStrictPriority && r.StrictPriority {
			continue
		}
		if !slices.Contains(r.Told, f) {
			return f
		}
	}
	return ""
}

// Features returns the features of a document, each once.
func Features(doc *scenario.Document) (all []Feature) {
	add := func(has bool, f Feature) {
		if has && !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	add(doc.Options.StrictPriority, FeatureStrictPriority)
	add(doc.Options.OwnLeaf != "", FeatureOwnLeaf)
	add(doc.Options.FairShares, FeatureFairShares)
	add(doc.Options.Scarce != 0, FeatureScarce)
	for i := range doc.Classes {
		add(doc.Options.Toleration && len(doc.Classes[i].Annotations) > 0, FeatureToleration)
	}
	add(len(doc.Grants) > 0, FeatureGrants)
	for i := range doc.Nodes {
		add(doc.Nodes[i].ReservedFor != "", FeatureReserved)
	}
	minimums := make(map[string]bool)
	for i := range doc.JobMinimums {
		minimums[doc.JobMinimums[i].Job] = doc.JobMinimums[i].Members > 0
	}
	hard := make(map[string]bool)
	for i := range doc.Budgets {
		hard[doc.Budgets[i].Name] = doc.Budgets[i].Hard
	}
	for i := range doc.Tasks {
		t := &doc.Tasks[i]
		add(t.State != scenario.StateRunning, FeatureLeaving)
		add(t.Job != "" && minimums[t.Job], FeatureGangs)
		add(t.Cost > 0, FeatureOwnCosts)
		for _, b := range t.Budgets {
			add(hard[b], FeatureHardBudgets)
			add(!hard[b], FeatureSoftBudgets)
		}
	}
	for i := range doc.Requests {
		if a := doc.Requests[i].Ask; a != nil {
			add(len(a.NodeSelector) > 0, FeatureSelector)
			add(len(a.Ports) > 0, FeaturePorts)
			add(a.RequiredNode != "", FeatureRequiredNode)
		}
	}
	return all
}
