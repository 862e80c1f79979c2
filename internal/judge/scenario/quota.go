// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"strconv"
	"strings"

	"github.com/go-preempt/preempt/resources"
)

// A Quota is what a queue may use for jobs. Min is not compared with Max here.
type Quota struct {
	At      *Path
	Queue   string // inner queues included
	Min     resources.Limit
	Max     resources.Limit
	Waiting resources.Vector // non-preemptible requests that wait; nil: none
}

// quotas reads at most one quota for each queue.
func (d *decoder) quotas(v value) []Quota {
	queues := make(seen)
	return each(d, func(v value) Quota { return d.quota(v, queues) })(v)
}

// quota reads the quota of a queue that is not among those seen.
func (d *decoder) quota(v value, queues seen) Quota {
	o := d.object(v, "queue", "min", "max", "waitingNonPreemptible")
	q := Quota{
		At:      v.at,
		Queue:   required(o, "queue", d.unique(queues)),
		Min:     optional(o, "min", d.limit, resources.Limit{}),
		Max:     optional(o, "max", d.limit, resources.Limit{}),
		Waiting: optional(o, "waitingNonPreemptible", d.vector, nil),
	}
	d.queueRef(o.find("queue"))
	return q
}

// An EnforceQuota brings a queue's usage under its max.
type EnforceQuota struct {
	At        *Path
	Queue     string           // inner queues included
	Max       *resources.Limit // replaces the queue's first; nil: that stays
	Overshoot Overshoot
	Miss      resources.Vector // what may stay over; nil: nothing
	MissShare resources.Share  // of the target that may stay over; zero: nothing
	Order     Order
	Whole     bool // of OrderFewest: fewest of all leaves together
}

// An Overshoot is how much more than the target may be taken.
type Overshoot uint8

const (
	OvershootOneTask Overshoot = 1 + iota
	OvershootExact
)

var overshoots = []string{"one-task", "exact"}

// String returns the word as documents spell it.
func (o Overshoot) String() string { return spell(overshoots, uint8(o)) }

// An Order is the order in which victims are taken.
type Order uint8

const (
	OrderDefault Order = 1 + iota
	OrderClosestMatch
	OrderPack
	OrderFewest
)

var orders = []string{"default", "closest-match", "pack", "fewest"}

// String returns the word as documents spell it.
func (o Order) String() string { return spell(orders, uint8(o)) }

// enforceQuota reads which quota to enforce, and how.
func (d *decoder) enforceQuota(v value) EnforceQuota {
	o := d.object(v, "queue", "max", "overshoot", "miss", "order", "whole")
	q := EnforceQuota{
		At:        v.at,
		Queue:     required(o, "queue", d.queueRef),
		Max:       pointer(o, "max", d.limit),
		Overshoot: optional(o, "overshoot", word[Overshoot](d, overshoots), OvershootOneTask),
		Order:     optional(o, "order", word[Order](d, orders), OrderDefault),
		Whole:     optional(o, "whole", d.boolean, false),
	}
	if q.Whole && q.Order != OrderFewest {
		d.fail(o.find("whole"), "%w: only with the order fewest", ErrValue)
	}
	if miss := o.find("miss"); miss.kind == text {
		q.MissShare = d.percentage(miss)
	} else {
		q.Miss = optional(o, "miss", d.vector, nil)
	}
	return q
}

// percentage reads a share such as "10%" or "2.5%", exactly.
func (d *decoder) percentage(v value) resources.Share {
	digits, ok := strings.CutSuffix(v.text, "%")
	before, after, point := strings.Cut(digits, ".")
	share := resources.Share{Of: 100}
	for range after {
		share.Of *= 10
		ok = ok && share.Of < 1e12
	}
	n, err := strconv.ParseUint(before+after, 10, 63)
	if !ok || err != nil || before == "" || point && after == "" || int64(n) > share.Of {
		d.fail(v, "%w: want amounts by type, or a share such as 10%%", ErrValue)
		return resources.Share{}
	}
	share.Amount = int64(n)
	return share
}
