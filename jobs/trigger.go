package jobs

import (
	"github.com/go-preempt/preempt/internal/trigger"
	"github.com/go-preempt/preempt/internal/word"
)

// A Trigger says what lets a job take from others. The zero value is by guarantee.
// (DESIGN.md, Jobs: laws.)
type Trigger uint8

const (
	// ByGuarantee: a job takes back what its queue is guaranteed, as an ask does. All
	// laws of asks hold. Its members, asked one after another with the largest last,
	// would each have to find the queue under its guarantee. Victims come from outside
	// of the needy queue, and are of lower or equal effective priority.
	ByGuarantee Trigger = iota
	// ByPriority: a job takes from strictly lower priority, its own leaf included, and
	// guarantees only protect. Use it for Koordinator's elastic quotas, and for clusters
	// with priorities and no guarantees.
	ByPriority
)

var triggerWords = word.Table{Of: "jobs.Trigger", Words: []string{ByGuarantee: "guarantee", ByPriority: "priority"}}

// String returns the stable word for the trigger: guarantee or priority.
func (t Trigger) String() string { return triggerWords.Word(uint8(t)) }

// MarshalText returns the stable word for the trigger. A number that has no word is an
// error.
func (t Trigger) MarshalText() ([]byte, error) { return triggerWords.Text(uint8(t)) }

// UnmarshalText sets the trigger whose text is given. Any other text is an error and
// changes nothing.
func (t *Trigger) UnmarshalText(text []byte) error { return word.Set(t, triggerWords, text) }

// A stage says whose tasks are candidates.
type stage uint8

const (
	byPriority  stage = iota // lower ones of all leaves in reach, the own one included
	outsideLeaf              // those of other leaves
	withOwnLeaf              // and lower ones of the job's own
)

// reasonOf are the obstacles of package trigger as reasons.
var reasonOf = [...]Reason{
	trigger.MayNot:         MayNotPreempt,
	trigger.Early:          TooEarly,
	trigger.Soon:           TooSoon,
	trigger.OverMax:        OverMax,
	trigger.NotGuaranteed:  NotGuaranteed,
	trigger.OverGuarantee:  OverGuarantee,
	trigger.HeadroomInside: HeadroomInside,
}
