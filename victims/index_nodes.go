// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"fmt"
	"hash/maphash"
	"iter"
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// nodeTable is the nodes of a cluster, row by row, with the list of the tasks of
// each.
//
// Invariants: present is capacity less what all rows of the node have, and less
// its unknown usage. Coming is present and what the leaving rows have. Order has
// the nodes that are not closed, by seq. Total is their capacity, and hidden that
// of the closed ones: a check of the range needs both. Row 0 is that of no node, which
// is never live and never free.
type nodeTable struct {
	types     int
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

// noNode is the zero NodeID, which is no node.
const noNode NodeID = 0

func (x *nodeTable) init(types int) {
	*x = nodeTable{
		types: types, nodeIDs: make(map[string]NodeID),
		nodes: make([]nodeRow, 1), open: make([]bool, 1), // noNode
		total: make([]int64, types), hidden: make([]int64, types), unknown: make([]int64, types),
	}
	for _, block := range x.blocks() {
		*block = make([]int64, types)
	}
}

// blocks are the amounts per node and type.
func (x *nodeTable) blocks() [3]*[]int64 { return [...]*[]int64{&x.capacity, &x.present, &x.coming} }

// addRow adds the row of a node that is not there, and has no capacity. It
// reports whether the table has grown, or the row was that of a node that is
// gone.
func (x *nodeTable) addRow(name string) (id NodeID, grown bool) {
	id, again := pop(&x.freeNodes) // whose list of tasks keeps its memory
	if !again {
		id = NodeID(len(x.nodes))
		x.nodes = append(x.nodes, nodeRow{})
		x.open = append(x.open, false)
		for _, block := range x.blocks() {
			*block = rows.More(*block, x.types)
		}
	}
	x.nodes[id] = nodeRow{name: name, live: true, absent: true, tasks: x.nodes[id].tasks[:0]}
	x.nodeIDs[name] = id
	return id, !again
}

// setNode gives a row what a node says, and counts its capacity.
func (x *nodeTable) setNode(id NodeID, n *Node) {
	to := &x.nodes[id]
	to.unschedulable, to.reservedFor = n.Unschedulable, n.ReservedFor
	to.rank, to.tag = n.Penalty, n.Tag
	// What the caller gave is theirs to change.
	to.domains = slices.Clone(n.Domains)
	x.open[id] = to.isOpen()
	sum := x.total
	if to.closed() {
		sum = x.hidden
	}
	row, present, coming := x.row(x.capacity, id), x.row(x.present, id), x.row(x.coming, id)
	for i := range row {
		// By the difference, so that what runs on the node need not be known
		// here. It may be negative, and free space with it: a node may be
		// over-committed.
		more := n.Capacity.At(i) - row[i]
		sum[i] += more
		row[i] += more
		present[i] += more
		coming[i] += more
	}
}

// fewTasks is how many tasks a node has room for at once.
//
// Most nodes run a few dozen at most, and a cluster that is filled grows
// thousands of lists: the first four steps of doubling are saved for each.
const fewTasks = 16

// enlist puts a task last in the list of a node, and returns its place there.
func (x *nodeTable) enlist(n NodeID, id TaskID) int32 {
	row := &x.nodes[n]
	if row.tasks == nil {
		row.tasks = make([]TaskID, 0, fewTasks)
	}
	row.tasks = append(row.tasks, id)
	return int32(len(row.tasks) - 1)
}

// delist takes the task at a place out of the list of a node, and returns the
// one that has the place now.
func (x *nodeTable) delist(n NodeID, at int32) (moved TaskID) {
	x.nodes[n].tasks, moved = swapOut(x.nodes[n].tasks, at)
	return moved
}

// occupy takes amounts off what is free on a node, now and later, or gives them
// back.
func (x *nodeTable) occupy(n NodeID, size resources.Vector, sign int64) {
	x.occupyOf(x.present, n, size, sign)
	x.occupyOf(x.coming, n, size, sign)
}

// occupyOf does so in one of these blocks.
func (x *nodeTable) occupyOf(block []int64, n NodeID, size resources.Vector, sign int64) {
	free := x.row(block, n)
	for i, v := range size {
		free[i] -= sign * v
	}
}

func (x *nodeTable) nodeByName(name string) (NodeID, error) {
	id, ok := x.nodeIDs[name]
	if !ok || x.nodes[id].absent {
		return 0, fmt.Errorf("victims: node %q: %w", name, ErrUnknown)
	}
	return id, nil
}

// LookupNode returns the ID of the node with a name, closed or not.
func (x *nodeTable) LookupNode(name string) (NodeID, bool) {
	id, ok := x.nodeIDs[name]
	return id, ok
}

// nodeOf returns the row of a node. It panics if there is none.
func (x *nodeTable) nodeOf(id NodeID) *nodeRow {
	if uint(id) >= uint(len(x.nodes)) || !x.nodes[id].live {
		panic(unknownRow{"node", int(id)})
	}
	return &x.nodes[id]
}

// Node returns a copy of a node. It allocates; see [Cluster.NodeView].
func (x *nodeTable) Node(id NodeID) Node {
	// A view would say something else after the next change.
	n := x.NodeView(id)
	n.Capacity = slices.Clone(n.Capacity)
	n.Domains = slices.Clone(n.Domains)
	return n
}

// NodeView is [Cluster.Node] without allocating; Capacity and Domains are views.
func (x *nodeTable) NodeView(id NodeID) Node {
	n := x.nodeOf(id)
	return Node{
		Name: n.name, Capacity: x.row(x.capacity, id), Unschedulable: n.unschedulable, ReservedFor: n.reservedFor,
		Penalty: n.rank, Domains: n.domains, Tag: n.tag,
	}
}

// NodeName returns the name of a node.
func (x *nodeTable) NodeName(id NodeID) string { return x.nodeOf(id).name }

// rankOf returns the own cost of choosing a node.
func (x *nodeTable) rankOf(id NodeID) int64 { return x.nodes[id].rank }

// Nodes yields the nodes that are not closed, in the order of adding.
func (x *nodeTable) Nodes() iter.Seq[NodeID] { return slices.Values(x.order) }

// NodeLen returns the number of nodes that are not closed.
func (x *nodeTable) NodeLen() int { return len(x.order) }

// hasClosed reports whether any node is closed.
func (x *nodeTable) hasClosed() bool { return 1+len(x.order)+len(x.freeNodes) < len(x.nodes) }

// Free sets dst to what is free on a node now, and returns it: capacity without what runs, leaves or is granted
// there. It may be negative.
func (x *nodeTable) Free(dst resources.Vector, id NodeID) resources.Vector {
	x.nodeOf(id)
	return append(dst[:0], x.row(x.present, id)...)
}

// ComingFree is [Cluster.Free] once what is leaving has gone.
func (x *nodeTable) ComingFree(dst resources.Vector, id NodeID) resources.Vector {
	x.nodeOf(id)
	return append(dst[:0], x.row(x.coming, id)...)
}

// Capacity returns the capacity of all nodes together, as a view.
func (x *nodeTable) Capacity() resources.Vector { return x.total }

// TasksOn yields the tasks and grants of a node, in no stable order.
func (x *nodeTable) TasksOn(id NodeID) iter.Seq[TaskID] { return slices.Values(x.nodeOf(id).tasks) }

// row returns the amounts of a node in a block.
func (x *nodeTable) row(block []int64, id NodeID) resources.Vector {
	return rows.At(block, int(id), x.types)
}

// place returns the place of a node in node order.
func (x *nodeTable) place(n NodeID) int { return int(x.nodes[n].seq) }

// comesBefore reports whether node n is to be preferred to m if all else is
// equal: by rank, then by node order.
func (x *nodeTable) comesBefore(n, m NodeID) bool {
	// The caller's rank of a node is the last level of the cost, and node order
	// only makes it total. See DESIGN.md, Cost.
	if a, b := x.rankOf(n), x.rankOf(m); a != b {
		return a < b
	}
	return x.place(n) < x.place(m)
}

// copyFrom makes x a copy of y in its own memory.
func (x *nodeTable) copyFrom(y *nodeTable) {
	x.types = y.types
	x.nodes = resized(x.nodes, len(y.nodes))
	for i := range x.nodes {
		tasks := reuse(x.nodes[i].tasks, y.nodes[i].tasks)
		x.nodes[i] = y.nodes[i]
		x.nodes[i].tasks = tasks
	}
	x.open = reuse(x.open, y.open)
	x.freeNodes = reuse(x.freeNodes, y.freeNodes)
	x.order, x.nodeSeq = reuse(x.order, y.order), y.nodeSeq
	x.nodeIDs = reuseMap(x.nodeIDs, y.nodeIDs)
	x.capacity, x.total = reuse(x.capacity, y.capacity), reuse(x.total, y.total)
	x.hidden, x.unknown = reuse(x.hidden, y.hidden), reuse(x.unknown, y.unknown)
	x.present, x.coming = reuse(x.present, y.present), reuse(x.coming, y.coming)
}

// A column is a field of rows that most clusters leave zero: it has no memory
// until some row is given a value. The zero column is empty.
type column[T comparable] []T

// at returns the value of a row, zero for those that were given none.
func (c column[T]) at(row int) (v T) {
	if row < len(c) {
		v = c[row]
	}
	return v
}

// set gives a row a value. Room is the number of rows that the table has room
// for: a column that grows makes as much.
func (c *column[T]) set(row, room int, v T) {
	if row >= len(*c) {
		var zero T
		if v == zero {
			return
		}
		if row >= cap(*c) {
			*c = slices.Grow(*c, max(room, row+1)-len(*c))
		}
		n := len(*c)
		*c = (*c)[:row+1]
		clear((*c)[n:]) // growing may bring old values back into view
	}
	(*c)[row] = v
}

// reserve makes room for so many rows, for a column that is about to be used.
func (c *column[T]) reserve(room int) {
	if room > cap(*c) {
		*c = slices.Grow(*c, room-len(*c))
	}
}

// A keyIndex finds the row of a task by its key. It is a hash table with linear
// probing that holds no keys of its own, for they are in the rows: 8 bytes a
// slot; a map from strings has some 24 and a copy of each key's header.
//
// The order of its slots differs from process to process and reaches nothing:
// it is only ever asked for one key.
type keyIndex struct {
	seed  maphash.Seed
	slots []keySlot // a power of two of them, or none
	used  int
}

// A keySlot is empty if row is 0.
type keySlot struct {
	hash uint32
	row  int32 // a TaskID plus 1
}

func newKeyIndex() keyIndex { return keyIndex{seed: maphash.MakeSeed()} }

func (x *keyIndex) hash(key string) uint32 { return uint32(maphash.String(x.seed, key)) }

// find returns the row with a key of the given hash.
func (x *keyIndex) find(rows []taskRow, hash uint32, key string) (TaskID, bool) {
	// The zero table has no slots, and masks of slots want at least one.
	if len(x.slots) == 0 {
		return 0, false
	}
	for i := x.home(hash); ; i = x.after(i) {
		s := x.slots[i]
		if s.row == 0 {
			return 0, false
		}
		// The hash first: it is here, and the key in a row elsewhere.
		if s.hash == hash && rows[s.row-1].key == key {
			return TaskID(s.row - 1), true
		}
	}
}

// add adds a row whose key is not there yet. The cost is constant, but for
// growing.
func (x *keyIndex) add(hash uint32, id TaskID) {
	x.grow(1)
	x.put(keySlot{hash, int32(id) + 1})
	x.used++
}

// remove removes a row that is there. What follows it moves up, so that no
// slot stands for something that was.
func (x *keyIndex) remove(hash uint32, id TaskID) {
	i := x.home(hash)
	// By row and not by key, for the row is in the slot.
	for x.slots[i].row != int32(id)+1 {
		i = x.after(i)
	}
	mask := len(x.slots) - 1
	for j := x.after(i); x.slots[j].row != 0; j = x.after(j) {
		// It can move to i unless its home lies between the two.
		if (j-x.home(x.slots[j].hash))&mask >= (j-i)&mask {
			x.slots[i], i = x.slots[j], j
		}
	}
	x.slots[i] = keySlot{}
	x.used--
}

// grow makes room for n more rows. Three quarters of the slots are filled at most.
func (x *keyIndex) grow(n int) {
	// Linear probing is short as long as a quarter of the slots is empty: then
	// a search that finds nothing looks at some eight of them.
	n += x.used
	if n <= len(x.slots)/4*3 {
		return
	}
	old := x.slots
	// Slots have their hashes, so that no key is read when the table grows.
	x.slots = make([]keySlot, max(8, 1<<bits.Len(uint(n+n/3))))
	for _, s := range old {
		if s.row != 0 {
			x.put(s)
		}
	}
}

// put puts a slot where the first one is empty from its home on.
func (x *keyIndex) put(s keySlot) {
	i := x.home(s.hash)
	for x.slots[i].row != 0 {
		i = x.after(i)
	}
	x.slots[i] = s
}

func (x *keyIndex) home(hash uint32) int { return int(hash) & (len(x.slots) - 1) }

func (x *keyIndex) after(i int) int { return (i + 1) & (len(x.slots) - 1) }

func (x *keyIndex) copyFrom(y *keyIndex) {
	x.seed, x.used, x.slots = y.seed, y.used, reuse(x.slots, y.slots)
}

// An interner gives small numbers to strings and takes them back once no one
// uses them, so that a long-lived cluster does not remember every application.
// The number of the empty string is 0, always. The zero interner is empty.
type interner struct {
	ids   map[string]int32
	names []string
	uses  []int32
	free  []int32
}

// acquire returns the number of s and counts a use of it.
func (in *interner) acquire(s string) int32 {
	if s == "" {
		return 0
	}
	// Mostly it is known: a job has many tasks.
	id, ok := in.ids[s]
	if !ok {
		if in.ids == nil {
			in.ids = make(map[string]int32)
		}
		// A copy of an empty interner in the memory of another has a map, and no names.
		if len(in.names) == 0 {
			in.names, in.uses = append(in.names, ""), append(in.uses, 0)
		}
		// Numbers are used again, since lists by number would grow for ever in
		// a cluster whose jobs come and go.
		var again bool
		if id, again = pop(&in.free); !again {
			id = int32(len(in.names))
			in.names, in.uses = append(in.names, ""), append(in.uses, 0)
		}
		in.names[id], in.ids[s] = s, id
	}
	in.uses[id]++
	return id
}

// release takes a use of id back.
func (in *interner) release(id int32) {
	if id == 0 {
		return
	}
	in.uses[id]--
	// The last one to use the name has gone, and its memory goes too.
	if in.uses[id] == 0 {
		delete(in.ids, in.names[id])
		in.names[id] = ""
		in.free = append(in.free, id)
	}
}

// name returns the string of a number that is in use.
func (in *interner) name(id int32) string {
	if id == 0 {
		return ""
	}
	return in.names[id]
}

// lookup returns the number of s if it is in use, and none for the empty string.
//
// It counts no use: who only asks must not keep a name alive.
func (in *interner) lookup(s string) (int32, bool) {
	id, ok := in.ids[s]
	return id, ok
}

// copyFrom makes in a copy of from, in the memory of in.
func (in *interner) copyFrom(from *interner) {
	in.ids = reuseMap(in.ids, from.ids)
	in.names, in.uses, in.free = reuse(in.names, from.names), reuse(in.uses, from.uses), reuse(in.free, from.free)
}
