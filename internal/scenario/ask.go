package scenario

import (
	"time"

	"github.com/go-preempt/preempt/resources"
)

// An Ask is a task without a node. Key, Queue (a leaf) and Application are
// never empty.
type Ask struct {
	At                *Path
	Key               string
	Queue             string
	Application       string
	Resources         resources.Vector
	Priority          int32         // its own, or its class's, or 0
	Class             string        // empty: none
	Age               time.Duration // since when it is pending; never negative
	RequiredNode      string        // empty: none
	AllowPreemptOther bool
}

// ask reads an ask.
func (d *decoder) ask(v value) Ask {
	o := d.object(v, "key", "queue", "application", "resources", "priority", "priorityClass",
		"age", "requiredNode", "allowPreemptOther")
	a := Ask{
		At:                v.at,
		Key:               required(o, "key", d.name),
		Queue:             required(o, "queue", d.leafRef),
		Application:       required(o, "application", d.name),
		Resources:         required(o, "resources", d.vector),
		Class:             optional(o, "priorityClass", d.classRef, ""),
		Age:               optional(o, "age", d.duration, defaultAge),
		RequiredNode:      optional(o, "requiredNode", d.nodeOrNone, ""),
		AllowPreemptOther: optional(o, "allowPreemptOther", d.boolean, true),
	}
	a.Priority = optional(o, "priority", d.priority, d.known.values[a.Class])
	return a
}

// An EnforceQuota brings a queue's usage under its max.
type EnforceQuota struct {
	At        *Path
	Queue     string           // inner queues included
	Max       *resources.Limit // replaces the queue's first; nil: that stays
	Overshoot Overshoot
	Miss      resources.Vector // what may stay over; nil: nothing
	Order     Order
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
)

var orders = []string{"default", "closest-match"}

// String returns the word as documents spell it.
func (o Order) String() string { return spell(orders, uint8(o)) }

// enforceQuota reads which quota to enforce, and how.
func (d *decoder) enforceQuota(v value) EnforceQuota {
	o := d.object(v, "queue", "max", "overshoot", "miss", "order")
	return EnforceQuota{
		At:        v.at,
		Queue:     required(o, "queue", d.queueRef),
		Max:       pointer(o, "max", d.limit),
		Overshoot: optional(o, "overshoot", word[Overshoot](d, overshoots), OvershootOneTask),
		Miss:      optional(o, "miss", d.vector, nil),
		Order:     optional(o, "order", word[Order](d, orders), OrderDefault),
	}
}
