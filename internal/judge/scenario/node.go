// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"math"

	"github.com/go-preempt/preempt/resources"
)

// A Node is a node.
type Node struct {
	At            *Path
	Name          string
	Capacity      resources.Vector
	Unschedulable bool
	ReservedFor   string            // the key of an ask; empty: nobody
	Labels        map[string]string // any names, any values; nil: none
	Rank          int64             // smaller is better
	Domains       []string          // widest first, none empty; nil: none
}

// node reads a node.
func (d *decoder) node(v value) Node {
	o := d.object(v, "name", "capacity", "unschedulable", "reservedFor", "labels", "rank", "domains")
	return Node{
		At:            v.at,
		Name:          required(o, "name", d.unique(d.known.nodes)),
		Capacity:      required(o, "capacity", d.vector),
		Unschedulable: optional(o, "unschedulable", d.boolean, false),
		ReservedFor:   optional(o, "reservedFor", d.text, ""),
		Labels:        optional(o, "labels", d.texts, nil),
		Rank:          optional(o, "rank", d.whole(math.MinInt64, math.MaxInt64), 0),
		Domains:       optional(o, "domains", each(d, d.name), nil),
	}
}

// A Selector is the labels that a node must have, each with exactly the value
// here. An empty one selects every node. An empty value is a value: a node
// without the label does not have it.
type Selector map[string]string

// Selects reports whether a node has all of these labels.
func (s Selector) Selects(n *Node) bool {
	for name, value := range s {
		if have, ok := n.Labels[name]; !ok || have != value {
			return false
		}
	}
	return true
}

// selector reads the labels that a node must have.
func (d *decoder) selector(v value) Selector { return d.texts(v) }

// nodeRef reads the name of a node.
func (d *decoder) nodeRef(v value) string {
	if _, ok := d.known.nodes[v.text]; d.want(v, text) && !ok {
		d.refer(v, d.known.doubt.nodes, "no node of this name")
	}
	return v.text
}

// nodeOrNone reads the name of a node, or the empty string.
func (d *decoder) nodeOrNone(v value) string {
	if v.kind == text && v.text == "" {
		return ""
	}
	return d.nodeRef(v)
}
