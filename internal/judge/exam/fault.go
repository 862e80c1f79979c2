// SPDX-License-Identifier: Apache-2.0

package exam

// A Fault is a kind of thing that is wrong with an answer: the word of a law
// that a plan breaks, as the auditor has it, or one of those below.
type Fault string

// The faults that are no laws of the auditor.
const (
	// Refuses: nothing is done, though a lawful plan exists.
	Refuses Fault = "refuses though lawful"
	// Wavers: the same document gets another answer on another run.
	Wavers Fault = "another answer on a second run"
	// Dearer: there is a lawful plan that costs less. What it is dearer in first
	// is one of the faults that follow.
	DearerOptedOut    Fault = "more opted-out victims than needed"
	DearerBudget      Fault = "more victims beyond budgets than needed"
	DearerOriginators Fault = "more originators than needed"
	DearerPriority    Fault = "a higher victim than needed"
	DearerVictims     Fault = "more victims than needed"
	DearerOther       Fault = "dearer in something finer"
	// Needless: victims though the ask could start, or wait for what is leaving.
	Needless Fault = "victims though none is needed"
	// Impatient: more victims than needed, if what is leaving already counts.
	Impatient Fault = "more victims than needed beside those leaving already"
	// Unaware: a refusal, though there is a plan that counts on what is leaving.
	Unaware Fault = "refuses, though with what is leaving there is a lawful plan"
)

// Faults has the faults in the order in which they are printed. The words of
// the auditor's laws stand as they are.
var Faults = []Fault{
	"opted-out", "guarantee", "application", "trigger", "surplus", "priority", "fence", "disabled", "storm",
	"required-task", "leaving", "exempt", "nearby", "gang", "budget",
	"room", "headroom", "max", "delay", "may-preempt", "schedulable", "reserved", "filter", "required-node", "blocker",
	"helpful", "minimal", Needless, Impatient, Unaware,
	Refuses, Wavers, DearerOptedOut, DearerBudget, DearerOriginators, DearerPriority, DearerVictims, DearerOther,
}

// faultTexts says what the words of laws mean, for readers of a sheet.
var faultTexts = map[Fault]string{
	"opted-out":     "law 1: an opted-out victim, though another would do",
	"guarantee":     "law 2: a queue ends below its guarantee",
	"application":   "law 3: a victim of the same application",
	"trigger":       "law 4: the asking queue is not under its guarantee",
	"surplus":       "law 5: a victim of a queue that is not over its guarantee",
	"priority":      "law 6: a victim of higher priority",
	"fence":         "law 7: a victim outside the fence",
	"disabled":      "a victim in a queue with preemption disabled",
	"storm":         "a victim inside the starving queue",
	"required-task": "a victim that can run on its node only",
	"leaving":       "a victim that is leaving already",
	"exempt":        "a victim that is tolerated",
	"nearby":        "a victim elsewhere, for an ask that requires its node",
	"gang":          "a running job is left with too few members",
	"budget":        "a hard budget is overrun",
	"room":          "the node has no room, even without the victims",
	"headroom":      "a queue ends above its max",
	"max":           "a queue was above its max before",
	"delay":         "before the preemption delay is over",
	"may-preempt":   "for an ask that must not preempt",
	"schedulable":   "on a node that takes no tasks",
	"reserved":      "on a node that is reserved",
	"filter":        "on a node that the selector refuses",
	"required-node": "not on the node that the ask requires",
	"blocker":       "on a node where somebody holds a port",
	"helpful":       "a victim that frees nothing the ask needs",
	"minimal":       "a victim that can be given back",
}

// String returns the fault in words.
func (f Fault) String() string {
	if text, ok := faultTexts[f]; ok {
		return text
	}
	return string(f)
}
