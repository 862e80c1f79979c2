package victims

import (
	"fmt"
	"iter"
	"slices"

	"github.com/go-preempt/preempt/resources"
)

// AddNode adds a node, last in node order, and returns its row. A node that was
// closed because it was not there opens, with the tasks that it has. A name that
// is empty or taken, a negative capacity, and a sum of capacities beyond int64
// are errors.
func (c *Cluster) AddNode(n *Node) (NodeID, error) {
	c.made()
	if n.Name == "" {
		return 0, fmt.Errorf("victims: node %q: %w", n.Name, ErrEmpty)
	}
	id, there := c.nodeIDs[n.Name]
	if there && !c.nodes[id].absent {
		return 0, fmt.Errorf("victims: node %q: %w", n.Name, ErrDuplicate)
	}
	if err := c.checkCapacity(n, nil); err != nil {
		return 0, err
	}
	if err := c.checkNodes(); err != nil {
		return 0, fmt.Errorf("victims: node %q: %w", n.Name, err)
	}
	if !there {
		id = c.addRow(n.Name)
	}
	c.nodeSeq++
	c.nodes[id].seq = c.nodeSeq
	c.nodes[id].absent = false
	if !c.nodes[id].blind {
		c.show(id)
	}
	c.setNode(id, n)
	c.changed()
	return id, nil
}

// addRow adds the row of a node that is not there, and has no capacity.
func (c *Cluster) addRow(name string) NodeID {
	id := NodeID(len(c.nodes))
	if last := len(c.freeNodes) - 1; last >= 0 {
		id, c.freeNodes = c.freeNodes[last], c.freeNodes[:last]
	} else {
		c.nodes = append(c.nodes, nodeRow{})
		c.open = append(c.open, false)
		for _, block := range []*[]int64{&c.capacity, &c.present, &c.coming} {
			*block = slices.Grow(*block, c.types)[:len(*block)+c.types]
			clear((*block)[len(*block)-c.types:])
		}
		c.digest.addNode(c.types)
		c.stale(id)
	}
	c.nodes[id] = nodeRow{name: name, live: true, absent: true, tasks: c.nodes[id].tasks[:0]}
	c.nodeIDs[name] = id
	return id
}

// UpdateNode replaces what the cluster knows of the node of that name, but for
// its tasks and its place in node order. A capacity below what is in use is no
// error: the node is over-committed then. Errors are a name that no node has,
// and those of [Cluster.AddNode] about capacity.
func (c *Cluster) UpdateNode(n *Node) error {
	id, err := c.nodeByName(n.Name)
	if err != nil {
		return err
	}
	if err := c.checkCapacity(n, c.row(c.capacity, id)); err != nil {
		return err
	}
	c.setNode(id, n)
	c.changed()
	return nil
}

// RemoveNode removes a node. If it has tasks or grants left, they stay, and the
// node is closed until the last of them has gone, or until it is added again; see
// [Cluster.Closed]. The cost is linear in the number of nodes. Without a node of
// that name, or if it is closed because it was removed, the error wraps
// [ErrUnknown].
func (c *Cluster) RemoveNode(name string) error {
	id, ok := c.nodeIDs[name]
	if !ok || c.nodes[id].absent && len(c.nodes[id].tasks) > 0 {
		return fmt.Errorf("victims: node %q: %w", name, ErrUnknown)
	}
	n := &c.nodes[id]
	c.setNode(id, &Node{})
	if !n.closed() {
		c.hide(id)
	}
	n.absent = true
	if len(n.tasks) == 0 { // what else there was has gone with it
		n.blind = false
		c.setUnknown(id, nil)
	}
	c.leaveNode(id)
	c.changed()
	return nil
}

func (c *Cluster) setNode(id NodeID, n *Node) {
	to := &c.nodes[id]
	to.unschedulable, to.reservedFor = n.Unschedulable, n.ReservedFor
	to.rank, to.tag = n.Rank, n.Tag
	to.domains = slices.Clone(n.Domains)
	c.open[id] = to.isOpen()
	sum := c.total
	if to.closed() {
		sum = c.hidden
	}
	row, present, coming := c.row(c.capacity, id), c.row(c.present, id), c.row(c.coming, id)
	for i := range row {
		more := n.Capacity.At(i) - row[i]
		sum[i] += more
		row[i] += more
		present[i] += more
		coming[i] += more
	}
}

func (c *Cluster) nodeByName(name string) (NodeID, error) {
	id, ok := c.nodeIDs[name]
	if !ok || c.nodes[id].absent {
		return 0, fmt.Errorf("victims: node %q: %w", name, ErrUnknown)
	}
	return id, nil
}

// LookupNode returns the row of the node with the given name, closed or not.
func (c *Cluster) LookupNode(name string) (NodeID, bool) {
	id, ok := c.nodeIDs[name]
	return id, ok
}

// nodeOf returns the row of a node. It panics if there is none.
func (c *Cluster) nodeOf(id NodeID) *nodeRow {
	if uint(id) >= uint(len(c.nodes)) || !c.nodes[id].live {
		panic(unknownRow{"node", int(id)})
	}
	return &c.nodes[id]
}

// Node returns a copy of a node as it was added or last updated. It allocates;
// see [Cluster.NodeView].
func (c *Cluster) Node(id NodeID) Node {
	n := c.NodeView(id)
	n.Capacity = slices.Clone(n.Capacity)
	n.Domains = slices.Clone(n.Domains)
	return n
}

// NodeView returns a node as [Cluster.Node] does, without allocating. Its
// Capacity and Domains are memory of the cluster: they must not be changed, and
// they say something else after the next change.
func (c *Cluster) NodeView(id NodeID) Node {
	n := c.nodeOf(id)
	return Node{
		Name: n.name, Capacity: c.row(c.capacity, id), Unschedulable: n.unschedulable, ReservedFor: n.reservedFor,
		Rank: n.rank, Domains: n.domains, Tag: n.tag,
	}
}

// NodeName returns the name of a node.
func (c *Cluster) NodeName(id NodeID) string { return c.nodeOf(id).name }

// NodeTag returns what the caller has put into the Tag of a node.
func (c *Cluster) NodeTag(id NodeID) uint64 { return c.nodeOf(id).tag }

// rankOf returns the own cost of choosing a node.
func (c *Cluster) rankOf(id NodeID) int64 { return c.nodes[id].rank }

// Nodes yields the nodes that are not closed in node order, the order of adding.
func (c *Cluster) Nodes() iter.Seq[NodeID] { return slices.Values(c.order) }

// NodeLen returns the number of nodes that are not closed.
func (c *Cluster) NodeLen() int { return len(c.order) }

// Free sets dst to the present free space of a node: its capacity without what
// runs, leaves or is granted there. It is negative if a node is
// over-committed. It returns dst, which is allocated if it is too short.
func (c *Cluster) Free(dst resources.Vector, id NodeID) resources.Vector {
	c.nodeOf(id)
	return resources.Copy(dst, c.row(c.present, id))
}

// ComingFree sets dst to the free space of a node once what is leaving has
// gone, and returns it as [Cluster.Free] does.
func (c *Cluster) ComingFree(dst resources.Vector, id NodeID) resources.Vector {
	c.nodeOf(id)
	return resources.Copy(dst, c.row(c.coming, id))
}

// row returns the amounts of a node in a block.
func (c *Cluster) row(block []int64, id NodeID) resources.Vector {
	i := int(id) * c.types
	return block[i : i+c.types : i+c.types]
}

// place returns the place of a node in node order.
func (c *Cluster) place(n NodeID) int { return int(c.nodes[n].seq) }

// comesBefore reports whether node n is to be preferred to m if all else is
// equal: by rank, then by node order.
func (c *Cluster) comesBefore(n, m NodeID) bool {
	if a, b := c.rankOf(n), c.rankOf(m); a != b {
		return a < b
	}
	return c.place(n) < c.place(m)
}
