package jobs

import "github.com/go-preempt/preempt/internal/word"

// A Trigger says what entitles a job to have victims. The zero value is by
// guarantee. (DESIGN.md, Jobs.)
type Trigger uint8

const (
	// ByGuarantee: a job is an ask with many members. Its queue must be under its
	// guarantee, and it takes from others at lower or equal priority.
	ByGuarantee Trigger = iota
	// ByPriority: a job takes what is of strictly lower priority, whatever its
	// queue is guaranteed.
	ByPriority
)

var triggerWords = word.Table{Of: "jobs.Trigger", Words: []string{ByGuarantee: "guarantee", ByPriority: "priority"}}

// String returns the stable word for the trigger: guarantee or priority.
func (t Trigger) String() string { return triggerWords.Word(uint8(t)) }

// MarshalText returns the stable word for the trigger. A number that has no word
// is an error.
func (t Trigger) MarshalText() ([]byte, error) { return triggerWords.Text(uint8(t)) }

// UnmarshalText sets the trigger whose text is given. Any other text is an error
// and changes nothing.
func (t *Trigger) UnmarshalText(text []byte) error { return word.Set(t, triggerWords, text) }
