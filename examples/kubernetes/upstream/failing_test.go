// SPDX-License-Identifier: Apache-2.0

package upstream

// Why cases fail.
const (
	shared = "A pod that takes a place over waits for the victims that were told to stop already, and tells nobody again"
	scores = "The test wants the victims on the nodes with the highest score; they are chosen by cost, and scores are not asked"
	woken  = "The test wants a pod to wait for the flush of the queue though all of its victims have gone; their end has it tried"
	status = "The condition of a group that waits for its victims is replaced by that of its next attempt"
	book   = "Reserve plugins refuse what Filter plugins allow; the group is refused, and nobody stops"
)

// failing has the cases that fail, by test, and why.
var failing = map[string]map[string]string{
	"TestAsyncPreemption": {
		"Higher_priority_Pod_takes_over_the_place_for_lower_priority_Pod_that_is_running_the_preemption": shared,
		"gated_preemptor_is_eventually_scheduled_even_if_victim_deletion_doesn't_raise_queue_hints":      woken,
	},
	"TestPodGroupPreemptionStatus": {"": status},
	"TestPodGroupPreemption": {
		"Partial_Preemption_with_basic_policy":                                                     scores,
		"Topology-Aware_Preemption:_two_topologies,_both_eligible,_selects_higher_scored_topology": scores,
		"Reserve_plugins_are_called_during_preemption_simulation,_so_second_pod_fails":             book,
	},
}
