// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// mostEnforced is how many times a max is lowered in a history. Each time is a
// change of what may run, so that there must be an end to it.
const mostEnforced = 3

// enforce lowers the max of some queue that uses anything, but not below its
// guarantee, and has package quota enforce that. Who goes comes back.
func (h *history) enforce() event {
	usage := h.w.Usage(true)
	var queues []world.Place
	for _, q := range h.w.Queues() {
		if usage[q.Path][h.w.Types[0]] > q.Guaranteed[h.w.Types[0]] {
			queues = append(queues, q)
		}
	}
	if len(queues) == 0 || h.enforced == mostEnforced {
		return event{}
	}
	q := of(h.T, "enforced", queues)
	id, ok := h.cluster.Tree().Lookup(q.Path)
	if !ok {
		h.Fatalf("no queue %s", q.Path)
	}
	least, used := q.Guaranteed[h.w.Types[0]], usage[q.Path][h.w.Types[0]]
	most := least + rapid.Int64Range(0, used-least).Draw(h.T, "max")
	limit := resources.Limit{Value: make(resources.Vector, len(h.w.Types))}
	at, _ := h.cluster.Schema().Index(h.w.Types[0])
	limit.Value[at], limit.Defined = most, limit.Defined|1<<at
	if h.cluster.SetMax(id, limit) != nil {
		return event{} // below what children or types beside it are guaranteed
	}
	h.enforced++
	e := quota.Enforcer{Cluster: h.cluster, Order: of(h.T, "order", []quota.Order{quota.YoungestFirst, quota.ClosestMatch, quota.Pack, quota.Fewest, quota.FewestOfAll})}
	var d victims.Decision
	h.must(e.Enforce(&d, id, h.o.Now))
	if d.Outcome == victims.Preempts {
		h.must(h.cluster.Apply(&d))
	}
	var keys []string
	for _, v := range d.Plan.Victims {
		keys = append(keys, v.Key)
		h.stop(v.Key)
	}
	return event{told: fmt.Sprintf("%s is held to %d, and loses %s", q.Path, most, strings.Join(keys, " "))}
}
