package victims

import "errors"

// The kinds of errors of this package. They come wrapped in errors that name
// the task, node or ask and its value.
var (
	ErrDuplicate = errors.New("duplicate key")       // a key or a node's name that is taken, a victim named twice
	ErrUnknown   = errors.New("unknown")             // no task, grant, node or queue has the name or number
	ErrEmpty     = errors.New("empty name")          // a task, ask or node without a name
	ErrAmount    = errors.New("bad amount")          // -1, 1 of a type that the schema does not have
	ErrRange     = errors.New("out of range")        // a sum above 9223372036854775807, the year 2400
	ErrQueue     = errors.New("not a leaf queue")    // a task of a queue that has children
	ErrState     = errors.New("wrong state")         // a victim that leaves already, a task added as granted
	ErrBusy      = errors.New("has tasks")           // to remove a budget that tasks or grants name
	ErrStale     = errors.New("cluster has changed") // a plan for another version of the cluster
	ErrClosed    = errors.New("node is closed")      // a grant on it
	ErrRoom      = errors.New("no room")             // StartIfRoom of a grant that has to wait
	ErrForeign   = errors.New("another cluster")     // a plan for another cluster
)
