package victims

import "fmt"

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
		id = c.newNode(n.Name)
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

// A NotTaken is a task that [Cluster.SyncNode] could not take.
type NotTaken struct {
	Index int // in the list of tasks
	Key   string
	Err   error // as AddTask would return it
}

// Synced is what came of a [Cluster.SyncNode].
type Synced struct {
	NotTaken []NotTaken // in the order of the list
	// Started has the keys of the tasks that held grants until then, in the
	// order of the list: what kept their places for them need not any longer.
	Started []string
}

// SyncNode makes the tasks of a node be exactly these, whatever their Node and
// NodeName say. Use it after a restart, or if events may have been missed. Each
// task is put as by [Cluster.SetTask]: marks stay, a task that was on another
// node has moved, one whose key holds a grant starts. Tasks of the node that are
// not listed have gone. Other grants on it stay. A node that is not there is a
// closed one, as for a task that names it.
//
// It returns which grants started. It does not stop at a task that the cluster cannot
// take, but returns all of them with their reasons. What they use is unknown usage of the node until the
// next sync, so that nothing is planned into it. If the size of one is no amount,
// or too large to be added up, the node is closed until the next sync.
//
// The only error is an empty name of the node (or more nodes than 2147483647), and
// changes nothing. The cost is that of changing each task once.
func (c *Cluster) SyncNode(node string, tasks []Task) (Synced, error) {
	c.made()
	if node == "" {
		return Synced{}, fmt.Errorf("victims: sync of node %q: %w", node, ErrEmpty)
	}
	id, ok := c.nodeIDs[node]
	if !ok {
		if err := c.checkNodes(); err != nil {
			return Synced{}, fmt.Errorf("victims: sync of node %q: %w", node, err)
		}
		id = c.newNode(node)
	}
	c.setUnknown(id, nil)
	c.keepOnly(id, tasks)
	var dst Synced
	done := 0
	for i := range tasks {
		t := tasks[i]
		t.Node, t.NodeName = id, ""
		_, granted := c.LookupGrant(t.Key)
		if err := c.syncTask(&t, done); err != nil {
			dst.NotTaken = append(dst.NotTaken, NotTaken{Index: i, Key: t.Key, Err: err})
			continue
		}
		if done++; granted {
			dst.Started = append(dst.Started, t.Key)
		}
	}
	c.distrust(id, tasks, dst.NotTaken)
	c.leaveNode(id)
	c.changed()
	return dst, nil
}
