package victims

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

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
	ErrBusy      = errors.New("has tasks")           // to remove a node with tasks or grants, a budget that they name
	ErrStale     = errors.New("cluster has changed") // a plan for another version of the cluster
)

// A Cluster indexes queues, nodes and tasks for decisions. It is kept current
// by small changes, each of which costs O(depth·types) plus a hash lookup; no
// decision rebuilds anything.
//
// A change that fails returns an error and changes nothing. All amounts are
// range-checked where they enter, so that no sum inside can overflow and undo
// is exact. Times are zero or in the years 1678 to 2261.
//
// Methods that take a TaskID, a NodeID or a [queue.ID] are for those that the
// cluster has: with another one they panic, or tell nothing of use. An ID from
// outside is looked up by its name first. What is added by name or key is
// checked, and is an error.
//
// A Cluster serves one goroutine at a time; see [Cluster.Clone].
type Cluster struct {
	tree  *queue.Tree
	types int

	nodes     []nodeRow
	open      []bool // by node: it is schedulable and not reserved
	freeNodes []NodeID
	order     []NodeID // live nodes in the order of adding
	nodeSeq   uint64
	nodeIDs   map[string]NodeID
	// Blocks of one amount per node and type: capacity, what is free of it
	// beside all that runs, leaves or is granted, and what will be free once
	// that which is leaving has gone.
	capacity, present, coming []int64
	total                     []int64 // capacity of all nodes, per type
	digest                    digest

	tasks     []taskRow
	sizes     []int64 // a block of one amount per task and type
	freeTasks []TaskID
	keys      keyIndex
	leaves    [][]TaskID // the rows of each queue; see taskRow.inLeaf
	evictable []int32    // how many of them may be victims of some ask
	apps      interner
	jobs      interner
	members   [][]TaskID // the rows of each job, by its number
	taskColumns

	budgets     []budgetRow
	budgetIndex budgetIndex

	version  uint64 // of the present state; equal versions are equal states
	versions uint64 // the largest version given so far
	applied  []appliedChange
	marked   []TaskID // the victims of the applied plans, oldest first
	granted  []TaskID // their grants, likewise
	single   [1]Grant // of a plan, while it is applied
}

// nodeRow is what a cluster knows of a node besides amounts.
type nodeRow struct {
	name          string
	reservedFor   string
	seq           uint64 // grows with the order of adding
	domains       []string
	rank          int64
	tag           uint64
	unschedulable bool
	live          bool
	tasks         []TaskID // see taskRow.inNode
}

// NewCluster returns a cluster without nodes and tasks. It takes over the
// tree, which must have no usage yet, for that would belong to no task and never
// leave. It keeps the usage from then on: callers may read it, and change bounds
// through [Cluster.SetGuaranteed] and [Cluster.SetMax].
func NewCluster(tree *queue.Tree) *Cluster {
	return &Cluster{
		version: 1, versions: 1, // 0 is that of no plan
		tree:    tree,
		types:   tree.Schema().Len(),
		nodeIDs: make(map[string]NodeID),
		keys:    newKeyIndex(),
		leaves:  make([][]TaskID, tree.Len()), evictable: make([]int32, tree.Len()),
		total: make([]int64, tree.Schema().Len()),
	}
}

// Grow makes room for so many more nodes and tasks, so that adding them moves
// nothing that is there. It changes nothing else, and panics where a number is
// negative.
func (c *Cluster) Grow(nodes, tasks int) {
	c.nodes = slices.Grow(c.nodes, nodes)
	c.open = slices.Grow(c.open, nodes)
	c.order = slices.Grow(c.order, nodes)
	for _, block := range []*[]int64{&c.capacity, &c.present, &c.coming} {
		*block = slices.Grow(*block, nodes*c.types)
	}
	if len(c.nodeIDs) == 0 {
		c.nodeIDs = make(map[string]NodeID, nodes)
	}
	c.digest.grow(nodes, c.types)
	c.tasks = slices.Grow(c.tasks, tasks)
	c.sizes = slices.Grow(c.sizes, tasks*c.types)
	c.keys.grow(tasks)
}

// Tree returns the queues with their usage. Only the cluster may change them.
func (c *Cluster) Tree() *queue.Tree { return c.tree }

// Schema returns the resource types of the cluster.
func (c *Cluster) Schema() *resources.Schema { return c.tree.Schema() }

// Version identifies the present state: whatever changes the cluster changes
// the version, no two states share one, and undoing brings the old one back.
func (c *Cluster) Version() uint64 { return c.version }

// Capacity returns the capacity of all nodes together, as a view.
func (c *Cluster) Capacity() resources.Vector { return c.total }

// SetGuaranteed replaces the guarantee of a queue; see [queue.Tree.SetGuaranteed].
func (c *Cluster) SetGuaranteed(q queue.ID, l resources.Limit) error {
	if err := c.tree.SetGuaranteed(q, l); err != nil {
		return err
	}
	c.changed()
	return nil
}

// SetMax replaces the max of a queue; see [queue.Tree.SetMax].
func (c *Cluster) SetMax(q queue.ID, l resources.Limit) error {
	if err := c.tree.SetMax(q, l); err != nil {
		return err
	}
	c.changed()
	return nil
}

// changed gives the cluster a version of its own and forgets what could be undone.
func (c *Cluster) changed() {
	c.versions++
	c.version = c.versions
	c.applied = c.applied[:0]
	c.marked = c.marked[:0]
	c.granted = c.granted[:0]
}

// Clone returns an independent copy, tree included, for another goroutine or a
// chain of what-ifs. It equals the original in every observable, version and
// row numbers included, but has nothing to undo. The cost is a copy of
// everything.
//
// From the first change of either on, their versions have nothing to do with
// each other, though the numbers may meet: a plan is for the one that it was
// made for.
func (c *Cluster) Clone() *Cluster {
	d := *c
	d.tree = c.tree.Clone()
	d.nodes = slices.Clone(c.nodes)
	d.open = slices.Clone(c.open)
	for i := range d.nodes {
		d.nodes[i].tasks = slices.Clone(c.nodes[i].tasks)
	}
	d.freeNodes = slices.Clone(c.freeNodes)
	d.order = slices.Clone(c.order)
	d.nodeIDs = maps.Clone(c.nodeIDs)
	d.capacity = slices.Clone(c.capacity)
	d.present = slices.Clone(c.present)
	d.coming = slices.Clone(c.coming)
	d.total = slices.Clone(c.total)
	d.digest = c.digest.empty()
	d.tasks = slices.Clone(c.tasks)
	d.sizes = slices.Clone(c.sizes)
	d.freeTasks = slices.Clone(c.freeTasks)
	d.keys = c.keys.clone()
	d.leaves = make([][]TaskID, len(c.leaves))
	for q := range c.leaves {
		d.leaves[q] = slices.Clone(c.leaves[q])
	}
	d.evictable = slices.Clone(c.evictable)
	d.apps = c.apps.clone()
	d.jobs = c.jobs.clone()
	d.members = slices.Clone(c.members)
	for job := range d.members {
		d.members[job] = slices.Clone(c.members[job])
	}
	d.taskColumns = c.taskColumns.clone()
	d.budgets = slices.Clone(c.budgets)
	d.budgetIndex = c.budgetIndex.clone()
	d.applied, d.marked, d.granted = nil, nil, nil
	return &d
}

// AddNode adds a node, last in node order, and returns its row. A name that is
// empty or taken, a negative capacity, and a sum of capacities beyond int64
// are errors.
func (c *Cluster) AddNode(n *Node) (NodeID, error) {
	if n.Name == "" {
		return 0, fmt.Errorf("victims: node %q: %w", n.Name, ErrEmpty)
	}
	if _, ok := c.nodeIDs[n.Name]; ok {
		return 0, fmt.Errorf("victims: node %q: %w", n.Name, ErrDuplicate)
	}
	if err := c.checkCapacity(n, nil); err != nil {
		return 0, err
	}
	if len(c.nodes) == math.MaxInt32 {
		return 0, fmt.Errorf("victims: node %q: more than %d nodes: %w", n.Name, math.MaxInt32, ErrRange)
	}
	id := NodeID(len(c.nodes))
	if last := len(c.freeNodes) - 1; last >= 0 {
		id, c.freeNodes = c.freeNodes[last], c.freeNodes[:last]
	} else {
		c.nodes = append(c.nodes, nodeRow{})
		c.open = append(c.open, false)
		zeros := make([]int64, c.types)
		c.capacity = append(c.capacity, zeros...)
		c.present = append(c.present, zeros...)
		c.coming = append(c.coming, zeros...)
		c.digest.addNode(c.types)
	}
	c.nodeSeq++
	c.nodes[id] = nodeRow{name: n.Name, seq: c.nodeSeq, live: true, tasks: c.nodes[id].tasks[:0]}
	c.nodeIDs[n.Name] = id
	c.order = append(c.order, id)
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

// RemoveNode removes a node that has neither tasks nor grants. The cost is
// linear in the number of nodes.
func (c *Cluster) RemoveNode(name string) error {
	id, err := c.nodeByName(name)
	if err != nil {
		return err
	}
	if n := len(c.nodes[id].tasks); n > 0 {
		return fmt.Errorf("victims: node %q: %w: %d", name, ErrBusy, n)
	}
	c.setNode(id, &Node{})
	c.nodes[id] = nodeRow{tasks: c.nodes[id].tasks}
	delete(c.nodeIDs, name)
	c.order = slices.Delete(c.order, slices.Index(c.order, id), slices.Index(c.order, id)+1)
	c.freeNodes = append(c.freeNodes, id)
	c.changed()
	return nil
}

func (c *Cluster) setNode(id NodeID, n *Node) {
	c.nodes[id].unschedulable = n.Unschedulable
	c.nodes[id].reservedFor = n.ReservedFor
	c.nodes[id].rank, c.nodes[id].tag = n.Rank, n.Tag
	c.nodes[id].domains = slices.Clone(n.Domains)
	c.open[id] = !n.Unschedulable && n.ReservedFor == ""
	row, present, coming := c.row(c.capacity, id), c.row(c.present, id), c.row(c.coming, id)
	for i := range row {
		more := n.Capacity.At(i) - row[i]
		c.total[i] += more
		row[i] += more
		present[i] += more
		coming[i] += more
	}
}

func (c *Cluster) nodeByName(name string) (NodeID, error) {
	id, ok := c.nodeIDs[name]
	if !ok {
		return 0, fmt.Errorf("victims: node %q: %w", name, ErrUnknown)
	}
	return id, nil
}

// LookupNode returns the row of the node with the given name.
func (c *Cluster) LookupNode(name string) (NodeID, bool) {
	id, ok := c.nodeIDs[name]
	return id, ok
}

// Node returns a node as it was added or last updated. Its Capacity is a view.
func (c *Cluster) Node(id NodeID) Node {
	n := &c.nodes[id]
	return Node{
		Name: n.name, Capacity: c.row(c.capacity, id), Unschedulable: n.unschedulable, ReservedFor: n.reservedFor,
		Rank: n.rank, Domains: slices.Clone(n.domains), Tag: n.tag,
	}
}

// Nodes yields the nodes in node order, the order of adding.
func (c *Cluster) Nodes() iter.Seq[NodeID] { return slices.Values(c.order) }

// NodeLen returns the number of nodes.
func (c *Cluster) NodeLen() int { return len(c.order) }

// Free sets dst to the present free space of a node: its capacity without what
// runs, leaves or is granted there. It is negative where a node is
// over-committed. It returns dst, which is allocated where it is too short.
func (c *Cluster) Free(dst resources.Vector, id NodeID) resources.Vector {
	return resources.Copy(dst, c.row(c.present, id))
}

// ComingFree sets dst to the free space of a node once what is leaving has
// gone, and returns it as [Cluster.Free] does.
func (c *Cluster) ComingFree(dst resources.Vector, id NodeID) resources.Vector {
	return resources.Copy(dst, c.row(c.coming, id))
}

// row returns the amounts of a node in a block.
func (c *Cluster) row(block []int64, id NodeID) resources.Vector {
	i := int(id) * c.types
	return block[i : i+c.types : i+c.types]
}
