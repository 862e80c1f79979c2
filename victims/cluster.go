package victims

import (
	"errors"
	"fmt"
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
	ErrBusy      = errors.New("has tasks")           // to remove a budget that tasks or grants name
	ErrStale     = errors.New("cluster has changed") // a plan for another version of the cluster
	ErrClosed    = errors.New("node is closed")      // a grant on it
	ErrRoom      = errors.New("no room")             // StartIfRoom of a grant that has to wait
	ErrForeign   = errors.New("another cluster")     // a plan for another cluster
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
// cluster has: with another one they panic, and say so. An ID from outside is
// looked up by its name first. What is added by name or key is checked, and is
// an error.
//
// Who may do what at the same time: one goroutine may change a cluster while no
// other uses it. As long as nobody changes it, any number of goroutines may read
// it, and decide over it with a planner of their own each. [Planner.Batch]
// changes the cluster on the way. See [Cluster.Clone] for more.
//
// The zero Cluster can only be copied into; see [Cluster.CopyFrom].
type Cluster struct {
	tree  *queue.Tree // the cluster is its owner
	view  *queue.Tree // shows it
	types int

	nodeTable
	digest   digest
	settling settling
	taskTable
	taskColumns

	budgets     []budgetRow
	budgetIndex budgetIndex

	line     *line   // the cluster's identity
	version  Version // of the present state; equal versions are equal states
	versions uint64  // the largest number of a version given so far
	applied  []appliedChange
	grants   []grantRow // in the order in which they were given
	waits    []waitRow
	dryWaits []int32 // those of no grant
	granting int64   // how many grants were given so far

	marked  []TaskID // the victims of the applied plans, oldest first
	granted []TaskID // their grants, likewise
	redos   []redo
	single  [1]Grant // of a plan, while it is applied
}

// nodeTable is the nodes of a cluster, row by row.
type nodeTable struct {
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
	total                     []int64 // capacity of all nodes that are not closed, per type
	hidden                    []int64 // capacity of those that are
	unknown                   []int64 // unknown usage of all nodes, which no task accounts for
}

// taskTable is the tasks of a cluster and its grants, row by row.
type taskTable struct {
	tasks     []taskRow
	sizes     []int64 // a block of one amount per task and type
	freeTasks []TaskID
	keys      keyIndex
	leaves    [][]TaskID // the rows of each queue; see taskRow.inLeaf
	evictable []int32    // how many of them may be victims of some ask
	apps      interner
	jobs      interner
	members   [][]TaskID // the rows of each job, by its number
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
	// A node is closed if it is absent, for it has gone before its tasks or they
	// came first, or if it is blind: of some task on it no amount is known.
	absent, blind bool
	unknown       resources.Vector // nil or an amount per type; never written again
	tasks         []TaskID         // see taskRow.inNode
}

// NewCluster returns a cluster without nodes and tasks. It takes the tree over:
// from now on the tree shows the usage, and can be changed through the cluster
// only. See [queue.Tree.Own].
//
// It panics without a tree, for a tree that another cluster has, and for one with
// usage, which would belong to no task and never leave.
func NewCluster(tree *queue.Tree) *Cluster {
	if tree == nil || tree.Len() == 0 {
		panic("victims: NewCluster without a tree: see queue.New")
	}
	if used := tree.Usage(queue.Root); !resources.IsZero(used) {
		panic(fmt.Sprintf("victims: NewCluster with a tree that has usage %v already, of tasks that the cluster does not know", used))
	}
	own, err := tree.Own()
	if err != nil {
		panic("victims: NewCluster with the tree of another cluster: give it a Clone")
	}
	line, types := new(line), tree.Schema().Len()
	return &Cluster{
		line: line, version: Version{line, 1}, versions: 1,
		tree: own, view: tree,
		types: types,
		nodeTable: nodeTable{
			nodeIDs: make(map[string]NodeID),
			total:   make([]int64, types),
			hidden:  make([]int64, types),
			unknown: make([]int64, types),
		},
		taskTable: taskTable{
			keys:      newKeyIndex(),
			leaves:    make([][]TaskID, tree.Len()),
			evictable: make([]int32, tree.Len()),
		},
	}
}

// Grow makes room for so many more nodes and tasks, so that adding them moves
// nothing that is there. It changes nothing else, and panics if a number is
// negative.
func (c *Cluster) Grow(nodes, tasks int) {
	c.made()
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

// Tree returns the queues with their usage. It shows all changes that follow,
// and cannot be changed itself: [queue.ErrOwned] is what the attempt returns.
func (c *Cluster) Tree() *queue.Tree {
	c.made()
	return c.view
}

// Schema returns the resource types of the cluster.
func (c *Cluster) Schema() *resources.Schema {
	c.made()
	return c.tree.Schema()
}

// Version identifies the present state.
func (c *Cluster) Version() Version { return c.version }

// made panics for the zero Cluster.
func (c *Cluster) made() {
	if c.tree == nil {
		panic("victims: the zero Cluster has no queues: see NewCluster")
	}
}

// Capacity returns the capacity of all nodes together. It is a view, which must
// not be changed.
func (c *Cluster) Capacity() resources.Vector { return c.total }

// SetGuaranteed replaces the guarantee of a queue; see [queue.Tree.SetGuaranteed].
func (c *Cluster) SetGuaranteed(q queue.ID, l resources.Limit) error {
	c.made()
	if err := c.tree.SetGuaranteed(q, l); err != nil {
		return err
	}
	c.changed()
	return nil
}

// SetGuarantees sets the guarantees of all queues to the shares of what is scarce,
// as one change; see [queue.FairShares.SetGuarantees]. The shares come from another
// tree of the same queues, with the guarantees of the configuration.
func (c *Cluster) SetGuarantees(shares *queue.FairShares) error {
	c.made()
	if err := shares.SetGuarantees(c.tree); err != nil {
		return err
	}
	c.changed()
	return nil
}

// SetMax replaces the max of a queue; see [queue.Tree.SetMax].
func (c *Cluster) SetMax(q queue.ID, l resources.Limit) error {
	c.made()
	if err := c.tree.SetMax(q, l); err != nil {
		return err
	}
	c.changed()
	return nil
}

// changed gives the cluster a version of its own and forgets what could be undone.
func (c *Cluster) changed() {
	c.versions++
	c.version = Version{c.line, c.versions}
	c.final()
}

// final forgets what could be undone.
func (c *Cluster) final() {
	c.applied = c.applied[:0]
	c.redos = c.redos[:0]
	c.marked = c.marked[:0]
	c.granted = c.granted[:0]
}
