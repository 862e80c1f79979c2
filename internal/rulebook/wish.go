// SPDX-License-Identifier: Apache-2.0

package rulebook

import (
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A Wish is what victims.Help.MayHaveChanged has to know of a refused ask or job.
type Wish struct {
	Key       string   // of the ask
	Queue     queue.ID // of the ask or job
	Node      string   // that is required, or ""
	Least     resources.Vector
	All       resources.Vector // of all members together; Least is what each wants of a type at least
	Many      bool             // it has several members
	At        time.Time
	RetryAt   time.Time
	Reason    string
	About     queue.ID // with Type: of over-max, over-guarantee and headroom-inside
	Type      int
	Before    int64          // of the type, what comes before the last member
	Anything  bool           // whatever changes may help
	Gangs     bool           // and if some job needs a number of its members
	NeedsRoom bool           // headroom is lacking, and victims may make it
	Places    []int32        // rows of the nodes of grants, for in-flight
	Counting  resources.Mask // the types whose guarantees count
}
