package scenario

import "github.com/go-preempt/preempt/resources"

// A Node is a node.
type Node struct {
	At            *Path
	Name          string
	Capacity      resources.Vector
	Unschedulable bool
	ReservedFor   string // the key of an ask; empty: nobody
}

// node reads a node.
func (d *decoder) node(v value) Node {
	o := d.object(v, "name", "capacity", "unschedulable", "reservedFor")
	return Node{
		At:            v.at,
		Name:          required(o, "name", d.unique(d.known.nodes)),
		Capacity:      required(o, "capacity", d.vector),
		Unschedulable: optional(o, "unschedulable", d.boolean, false),
		ReservedFor:   optional(o, "reservedFor", d.text, ""),
	}
}

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
