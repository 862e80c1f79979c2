// SPDX-License-Identifier: Apache-2.0

package upstream

// Why cases fail.
const (
	scores = "The test wants the victims on the nodes with the highest score; they are chosen by cost, and scores are not asked"
	woken  = "The test wants a pod to wait for the flush of the queue though all of its victims have gone; their end has it tried"
)

// failing has the cases that fail, by test, and why.
var failing = map[string]map[string]string{
	"TestAsyncPreemption": {
		"gated_preemptor_is_eventually_scheduled_even_if_victim_deletion_doesn't_raise_queue_hints": woken,
	},
	"TestPodGroupPreemption": {
		"Partial_Preemption_with_basic_policy":                                                     scores,
		"Topology-Aware_Preemption:_two_topologies,_both_eligible,_selects_higher_scored_topology": scores,
	},
}
