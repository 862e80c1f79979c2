package victims

import "fmt"

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

var momentWords = [...]string{Present: "present", Coming: "coming"}

// String returns the stable word for the moment.
func (m Moment) String() string {
	if m > 0 && int(m) < len(momentWords) {
		return momentWords[m]
	}
	return fmt.Sprintf("Moment(%d)", uint8(m))
}
