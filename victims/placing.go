package victims

import (
	"github.com/go-preempt/preempt/internal/word"
)

// A Placing is the question whether an ask may run on a node. A predicate of
// the caller's answers it. It must depend on its question only and must not
// keep what is in it. What accepts a set of victims must accept every larger
// set.
type Placing struct {
	Ask     *Ask
	Node    NodeID
	Victims []TaskID // in no particular order
	Moment  Moment
}

// A Moment says what of the cluster is still there when the ask is to run.
type Moment uint8

const (
	// Present is how things are: the ask fits.
	Present Moment = 1 + iota
	// Coming is when all that is leaving, and all the victims, have gone: the
	// ask waits, or has a plan.
	Coming
)

var momentWords = word.Table{Of: "victims.Moment", Words: []string{Present: "present", Coming: "coming"}}

// String returns the stable word for the moment.
func (m Moment) String() string { return momentWords.Word(uint8(m)) }

// MarshalText returns the stable word for the moment, and nothing for 0. A number that
// has no word is an error.
func (m Moment) MarshalText() ([]byte, error) { return momentWords.Text(uint8(m)) }

// UnmarshalText sets the moment whose text is given. Any other text is an error
// and changes nothing.
func (m *Moment) UnmarshalText(text []byte) error { return word.Set(m, momentWords, text) }
