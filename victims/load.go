// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/internal/saved"
	"github.com/go-preempt/preempt/internal/trees"
)

// Load reads what [Cluster.Save] has written since version 0.1.0. The cluster answers as the saved one, IDs
// included; plans made before do not apply. From a [bufio.Reader] it reads no more than its part. Errors have
// line and value.
func Load(r io.Reader) (*Cluster, error) {
	x := &loader{Reader: saved.NewReader(r)}
	err := x.load()
	if err == nil && x.version < 3 && x.Follows("rounds") {
		err = x.loadRounds()
	}
	if err != nil {
		return nil, fmt.Errorf("victims: load: %w", err)
	}
	return x.c, nil
}

// A loader makes a cluster of the lines of a text.
type loader struct {
	*saved.Reader
	c       *Cluster
	version int // of the text
	head    clusterLine
	nodes   saved.Rows[NodeID]
	tasks   saved.Rows[TaskID]
}

// A lineKind is a word of lines, and what takes one. The words come in the order of this list: each needs those
// before it.
type lineKind struct {
	word string
	load func(*loader) error
}

var lineKinds = []lineKind{
	{"budget", taking((*loader).loadBudget)}, {"node", taking((*loader).loadNode)}, {"task", taking((*loader).loadTask)},
	{"minimum", taking((*loader).loadMinimum)}, {"spread", taking((*loader).loadSpread)}, {"order", taking((*loader).loadOrder)},
	{"wait", taking((*loader).loadWait)}, {"ask", taking((*loader).loadAsk)}, {"grant", taking((*loader).loadGrant)},
	{"", (*loader).finish},
}

// taking has a method take the value of a line.
func taking[L any](load func(*loader, *L) error) func(*loader) error {
	return func(x *loader) error {
		l := new(L)
		if err := x.Decode(l); err != nil {
			return err
		}
		return load(x, l)
	}
}

func (x *loader) load() error {
	start, err := x.Begin("cluster")
	if err != nil {
		return err
	}
	x.version = x.Version
	if err = x.loadHead(start); err != nil {
		return err
	}
	for stage := 0; ; {
		word, err := x.Next(start)
		if err != nil {
			return err
		}
		next := slices.IndexFunc(lineKinds, func(k lineKind) bool { return k.word == word })
		if next < stage {
			return x.Unknown(word)
		}
		stage = next
		if err := lineKinds[stage].load(x); err != nil || word == "" {
			return err
		}
	}
}

// loadHead reads the counters and the queues.
func (x *loader) loadHead(start int) error {
	word, err := x.Next(start)
	if err != nil {
		return err
	}
	if word != "cluster" {
		return x.Unknown(word)
	}
	h := &x.head
	if err := x.Decode(h); err != nil {
		return err
	}
	// Half of each range is left for what is to come.
	if h.Version < 1 || h.Versions < 1 || h.Grants < 0 || !h.Foreign && h.Version > h.Versions ||
		max(h.Version, h.Versions, h.Nodes, uint64(h.Grants)) > math.MaxInt64/2 {
		return x.Errorf("version %d of %d, %d nodes, %d grants: %w", h.Version, h.Versions, h.Nodes, h.Grants, invalid.Range)
	}
	tree, err := trees.Load(x.Reader)
	if err != nil {
		return err
	}
	x.c = NewCluster(tree)
	x.c.version.number, x.c.versions = h.Version, h.Versions
	if h.Foreign {
		// The numbers of its own have not come that far yet, and will: its state
		// is of a line that nobody else has either.
		x.c.version.line = new(line)
	}
	x.c.nodeSeq, x.c.granting = h.Nodes, h.Grants
	if x.version == 1 { // rows of nodes began with 0
		for i := range h.FreeNodes {
			h.FreeNodes[i]++
		}
	}
	x.nodes.Free, x.tasks.Free = h.FreeNodes, h.FreeTasks
	return x.nodes.Take(noNode) // which no line has
}

func (x *loader) loadBudget(l *budgetLine) error {
	if _, twice := x.c.findBudget(l.Name); twice || l.Name == "" {
		return x.Errorf("budget %q: %w", l.Name, ErrDuplicate)
	}
	// Plans have taken some off leastLeft, but not as many as that is away from the
	// end of the range.
	if l.Left < leastLeft-math.MaxInt64/4 {
		return x.Errorf("budget %q: left %d: %w", l.Name, l.Left, invalid.Range)
	}
	b := &x.c.budgets[x.c.addBudget(l.Name)]
	b.left, b.hard, b.unset = l.Left, l.Hard, l.Unset
	return nil
}

func (x *loader) loadNode(l *nodeLine) error {
	c := x.c
	if x.version == 1 {
		l.Row++
	}
	if err := x.nodes.Take(l.Row); err != nil {
		return x.Errorf("node %q: %w: %w", l.Name, err, invalid.Range)
	}
	if _, twice := c.nodeIDs[l.Name]; twice || l.Name == "" {
		return x.Errorf("node %q: %w", l.Name, ErrDuplicate)
	}
	n := Node(l.savedNode)
	err := c.checkCapacity(&n, nil)
	if err == nil {
		err = c.checkSize(l.Unknown)
	}
	if err != nil {
		return x.Errorf("node %q: %w", l.Name, err)
	}
	if l.Order > c.nodeSeq || l.Unknown != nil && len(l.Unknown) != c.types || c.overflows(nil, l.Unknown) {
		return x.Errorf("node %q: order %d of %d, unknown usage %v: %w", l.Name, l.Order, c.nodeSeq, l.Unknown, invalid.Range)
	}
	for len(c.nodes) < int(l.Row) {
		c.deadNode()
	}
	id := c.newNode(l.Name)
	row := &c.nodes[id]
	row.seq, row.absent, row.blind = l.Order, l.Absent, l.Blind
	if !row.closed() {
		c.order = append(c.order, id) // sorted in the end
	}
	c.setNode(id, &n)
	c.setUnknown(id, l.Unknown)
	return nil
}

// deadNode adds a row as one that is free.
func (x *index) deadNode() {
	id := x.newNode("")
	delete(x.nodeIDs, "")
	x.nodes[id] = nodeRow{}
}

func (x *loader) loadTask(l *taskLine) error {
	if err := x.tasks.Take(l.Row); err != nil {
		return x.Errorf("task %q: %w: %w", l.Key, err, invalid.Range)
	}
	c := x.c
	t, isLeaf, isNode := Task(l.savedTask), false, false
	t.Queue, isLeaf = c.tree.Lookup(l.Leaf)
	t.Node, isNode = c.nodeIDs[l.NodeName]
	t.NodeName, t.State = "", Running // checked as a task: a node may have been closed after a grant on it was given
	state := State(l.Is)
	switch _, twice := c.keys.find(c.tasks, c.keys.hash(l.Key), l.Key); {
	case twice:
		return x.Errorf("task %q: %w", l.Key, ErrDuplicate)
	case !isLeaf:
		return x.Errorf("task %q: queue %q: %w", l.Key, l.Leaf, ErrUnknown)
	case !isNode:
		return x.Errorf("task %q: node %q: %w", l.Key, l.NodeName, ErrUnknown)
	case state == Granted && !(l.Scheduled.IsZero() && l.Checkpoint.IsZero()):
		return x.Errorf("task %q: state %v, and it was scheduled or saved: %w", l.Key, state, ErrState)
	}
	if _, _, err := stamp(l.Told, 0); err != nil || !l.Told.IsZero() && state != Marked {
		return x.Errorf("task %q: state %v, told at %v: %w", l.Key, state, l.Told, ErrState)
	}
	for _, name := range l.Budgets { // also one that nobody set has a line
		if _, known := c.findBudget(name); !known {
			return x.Errorf("task %q: budget %q: %w", l.Key, name, ErrUnknown)
		}
	}
	r, err := c.parse(&t, nil)
	if err != nil {
		return x.Errorf("%w", err)
	}
	r.state = state
	for len(c.tasks) < int(l.Row) {
		c.newRow()
	}
	id := c.newRow()
	r.inNode = c.enlist(t.Node, id)
	c.setRow(id, &t, &r)
	c.told.set(int(id), cap(c.tasks), toldAt(l.Told))
	c.count(id, +1)
	return nil
}

func (x *loader) loadMinimum(l *minimumLine) error {
	c := x.c
	job, has := c.jobs.lookup(l.Job)
	switch {
	case l.Job == "":
		return x.Errorf("minimum of job %q: %w", l.Job, invalid.Empty)
	case c.minimumOf(job) > 0:
		return x.Errorf("minimum of job %q: %w", l.Job, ErrDuplicate)
	case l.Members <= 0:
		return x.Errorf("minimum of job %q: %d: %w", l.Job, l.Members, invalid.Range)
	case l.Placed && !has:
		return x.Errorf("minimum of job %q: it has no tasks: %w", l.Job, ErrUnknown)
	case l.Placed:
		c.noteMinimum(job, jobMinimum{members: l.Members})
	default:
		c.setMinimum(l.Job, l.Members)
	}
	return nil
}

func (x *loader) loadSpread(l *spreadLine) error {
	app, ok := x.c.apps.lookup(l.Application)
	if !ok {
		return x.Errorf("spread application %q: %w", l.Application, ErrUnknown)
	}
	x.c.homes[app] = noLeaf
	return nil
}

func (x *loader) loadOrder(l *orderLine) error {
	c := x.c
	node, isNode := c.nodeIDs[l.Node]
	leaf, isQueue := c.tree.Lookup(l.Queue)
	job, isJob := c.jobs.lookup(l.Job)
	var list []TaskID
	var place func(r *taskRow, id TaskID, at int32)
	switch {
	case l.Queue == "" && l.Job == "" && isNode:
		list, place = c.nodes[node].tasks, func(r *taskRow, _ TaskID, at int32) { r.inNode = at }
	case l.Node == "" && l.Job == "" && isQueue:
		list, place = c.leaves[leaf], func(r *taskRow, _ TaskID, at int32) { r.inLeaf = at }
	case l.Node == "" && l.Queue == "" && isJob:
		list, place = c.membersOf(job), func(_ *taskRow, id TaskID, at int32) { c.inJob.set(int(id), cap(c.tasks), at) }
	default:
		return x.Errorf("order of node %q, queue %q, job %q: %w", l.Node, l.Queue, l.Job, ErrUnknown)
	}
	// They have come in the order of rows.
	if !slices.Equal(slices.Sorted(slices.Values(l.Tasks)), list) {
		return x.Errorf("order of node %q, queue %q, job %q: its tasks are %v, not %v: %w", l.Node, l.Queue, l.Job, clip(list), clip(l.Tasks), ErrUnknown)
	}
	for at, id := range l.Tasks {
		list[at] = id
		place(&c.tasks[id], id, int32(at))
	}
	return nil
}

// clip returns the first of some rows, for a message.
func clip(list []TaskID) []TaskID { return list[:min(len(list), 10)] }

func (x *loader) loadWait(l *waitLine) error {
	c := x.c
	wait := c.newWait()
	c.waitOf.reserve(cap(c.tasks))
	for i, id := range slices.Concat(l.Victims, l.Must) {
		if !c.isRow(id) || c.tasks[id].state == Granted || c.waitOf.at(int(id)) != 0 {
			return x.Errorf("wait: row %d is no task, or is waited for already: %w", id, ErrState)
		}
		c.waitFor(wait, waitVictim{id, i >= len(l.Victims)}, i)
	}
	return nil
}

func (x *loader) loadAsk(l *askLine) error {
	c := x.c
	if _, twice := c.askIDs[l.Key]; twice || l.Key == "" {
		return x.Errorf("ask %q: %w", l.Key, ErrDuplicate)
	}
	since, dated, err := stamp(l.Since, flagScheduled)
	if err != nil {
		return x.Errorf("ask %q: %w", l.Key, err)
	}
	if l.Needs < 0 {
		return x.Errorf("ask %q: it needs %d members: %w", l.Key, l.Needs, invalid.Range)
	}
	a := &c.asks[c.newAsk(l.Key)]
	a.since, a.dated, a.needs = since, dated != 0, l.Needs
	return nil
}

func (x *loader) loadGrant(l *grantLine) error {
	c := x.c
	if !c.isRow(l.Task) || c.tasks[l.Task].state != Granted || c.tasks[l.Task].scheduled != 0 {
		return x.Errorf("grant: row %d is no grant, or has come already: %w", l.Task, ErrState)
	}
	last := int64(0)
	if n := len(c.grants); n > 0 {
		last = c.grants[n-1].number
	}
	if l.Number <= last || l.Number > c.granting {
		return x.Errorf("grant of %q: number %d after %d of %d: %w", c.tasks[l.Task].key, l.Number, last, c.granting, invalid.Range)
	}
	if x.version < 3 {
		if err := x.loadOwnAsk(l); err != nil {
			return err
		}
	}
	if l.Ask <= 0 || int(l.Ask) >= len(c.asks) {
		return x.Errorf("grant of %q: ask %d: %w", c.tasks[l.Task].key, l.Ask, ErrUnknown)
	}
	if l.Wait != 0 && (l.Wait < 0 || int(l.Wait) >= len(c.waits)) {
		return x.Errorf("grant of %q: wait %d: %w", c.tasks[l.Task].key, l.Wait, ErrUnknown)
	}
	c.tasks[l.Task].scheduled = l.Number
	c.grants = append(c.grants, grantRow{mover: l.Mover, number: l.Number, task: l.Task, ask: l.Ask})
	c.asks[l.Ask].grants = append(c.asks[l.Ask].grants, l.Number)
	if l.Wait != 0 {
		c.waitWith(&c.grants[len(c.grants)-1], l.Wait)
	}
	return nil
}

// finish checks what can be checked in the end only, and takes over the free rows.
func (x *loader) finish() error {
	c := x.c
	nodes, err := x.nodes.Close()
	if err != nil {
		return x.Errorf("nodes: %w: %w", err, invalid.Range)
	}
	tasks, err := x.tasks.Close()
	if err != nil {
		return x.Errorf("tasks: %w: %w", err, invalid.Range)
	}
	for len(c.nodes) < nodes {
		c.deadNode()
	}
	for len(c.tasks) < tasks {
		c.newRow()
	}
	c.freeNodes, c.freeTasks = x.nodes.Free, x.tasks.Free
	for i := range c.budgets {
		if b := &c.budgets[i]; b.unset && (b.uses == 0 || b.hard) {
			return x.Errorf("budget %q: nobody set it, and %d tasks name it: %w", b.name, b.uses, ErrUnknown)
		}
	}
	for i := range c.waits {
		if i > 0 && c.waits[i].grants == 0 {
			return x.Errorf("wait %d: no grant waits: %w", i, ErrUnknown)
		}
	}
	for i := range c.asks {
		if i > 0 && len(c.asks[i].grants) == 0 {
			return x.Errorf("ask %q: it holds no grant: %w", c.asks[i].key, ErrUnknown)
		}
	}
	for i := range c.tasks {
		if r := &c.tasks[i]; r.state == Granted && r.scheduled == 0 {
			return x.Errorf("grant of %q: no line says when it was given: %w", r.key, ErrUnknown)
		}
	}
	slices.SortFunc(c.order, func(n, m NodeID) int { return cmp.Compare(c.nodes[n].seq, c.nodes[m].seq) })
	for i, n := range c.order[min(1, len(c.order)):] {
		if c.nodes[n].seq == c.nodes[c.order[i]].seq {
			return x.Errorf("node %q: order %d, which another one has: %w", c.nodes[n].name, c.nodes[n].seq, ErrDuplicate)
		}
	}
	return nil
}

// Texts of versions 1 and 2 know grants without asks. What a job or an ask waits for is in
// rounds, which follow the cluster.

// roundLine is a round that was under way, or what completed ones had left behind.
type roundLine struct {
	Job      string            `json:"job"`
	Began    time.Time         `json:"began,omitzero"`
	Deadline time.Time         `json:"deadline,omitzero"` // is for the caller to keep now
	Victims  []string          `json:"victims,omitempty"` // that were waited for
	Gone     []string          `json:"gone,omitempty"`
	Quota    []string          `json:"quota,omitempty"`  // those of them that make room under an allowance
	Grants   []string          `json:"grants,omitempty"` // in the order of the change
	Places   map[string]string `json:"places,omitempty"` // grants of victims that move
}

// loadOwnAsk makes a grant one of an ask that has its key.
func (x *loader) loadOwnAsk(l *grantLine) error {
	c, key := x.c, x.c.tasks[l.Task].key
	since, dated, err := stamp(l.Since, flagScheduled)
	if err != nil {
		return x.Errorf("grant of %q: %w", key, err)
	}
	l.Ask = c.newAsk(key)
	c.asks[l.Ask].since, c.asks[l.Ask].dated = since, dated != 0
	return nil
}

// loadRounds reads the rounds that follow a cluster.
func (x *loader) loadRounds() error {
	start, err := x.Begin("rounds")
	if err != nil {
		return err
	}
	seen := make(map[string]bool)
	for {
		word, err := x.Next(start)
		if err != nil || word == "" {
			return err
		}
		if word != "round" && word != "held" {
			return x.Unknown(word)
		}
		var l roundLine
		if err := x.Decode(&l); err != nil {
			return err
		}
		switch {
		case l.Job == "":
			return x.Errorf("%s of %q: %w", word, l.Job, invalid.Empty)
		case seen[word+" "+l.Job]:
			return x.Errorf("%s of %q: %w", word, l.Job, ErrDuplicate)
		}
		seen[word+" "+l.Job] = true
		if err := x.takeRound(&l); err != nil {
			return x.Errorf("%s of %q: %w", word, l.Job, err)
		}
	}
}

// takeRound makes the grants of a round those of its job, with the victims that it waits for.
// Victims that went and grants that started stand in rounds, too.
func (x *loader) takeRound(l *roundLine) error {
	since, dated, err := stamp(l.Began, flagScheduled)
	if err != nil {
		return err
	}
	c, wait := x.c, int32(0)
	if id, ok := c.LookupGrant(l.Job); ok && !slices.Contains(l.Grants, l.Job) && c.Job(id) != l.Job {
		return fmt.Errorf("the ask %q holds a grant: %w", l.Job, ErrDuplicate)
	}
	for _, key := range l.Grants {
		id, ok := c.LookupGrant(key)
		if !ok {
			continue
		}
		c.regroup(id, l.Job)
		g := c.grantOf(id)
		wait = max(wait, g.wait)
		if a := &c.asks[g.ask]; dated != 0 && !a.dated { // jobs' plans had no time of their own
			a.since, a.dated = since, true
		}
	}
	for _, mover := range slices.Sorted(maps.Keys(l.Places)) {
		id, ok := c.LookupGrant(l.Places[mover])
		if !ok {
			continue
		}
		if g := c.grantOf(id); g.mover == "" {
			g.mover = mover
			c.leaveWait(g)
		}
	}
	return x.waitOn(l, wait)
}

// waitOn has the grants of a round wait for its victims that have not gone.
func (x *loader) waitOn(l *roundLine, wait int32) error {
	c := x.c
	for _, key := range l.Victims {
		id, there := c.Lookup(key)
		if !there {
			continue
		}
		w, place := c.placeOf(id)
		if w == 0 { // it was let run, and was no victim of the cluster's any more
			if wait == 0 {
				wait = c.waitOfAll(l.Grants)
			}
			if w, place = wait, 0; w == 0 {
				continue // nobody waits
			}
			c.waitOf.reserve(cap(c.tasks))
			c.waitFor(w, waitVictim{task: id}, 0)
		}
		if v := &c.waits[w].victims[place]; slices.Contains(l.Quota, key) {
			v.must = true
		}
	}
	for _, key := range l.Quota {
		if !slices.Contains(l.Victims, key) && !slices.Contains(l.Gone, key) {
			return fmt.Errorf("victim %q: %w", key, ErrUnknown)
		}
	}
	return nil
}

// waitOfAll returns a new row of waits for some grants, 0 if there are none.
func (x *index) waitOfAll(grants []string) (w int32) {
	for _, key := range grants {
		id, ok := x.LookupGrant(key)
		if !ok {
			continue
		}
		if w == 0 {
			w = x.newWait()
		}
		x.waitWith(x.grantOf(id), w)
	}
	return w
}

// regroup makes a grant one of an ask of another key.
func (x *index) regroup(id TaskID, key string) {
	g := x.grantOf(id)
	if x.asks[g.ask].key == key {
		return
	}
	number, since, dated := g.number, x.asks[g.ask].since, x.asks[g.ask].dated
	x.leaveAsk(g.ask, number)
	ask, ok := x.askIDs[key]
	if !ok {
		ask = x.newAsk(key)
		x.asks[ask].since, x.asks[ask].dated = since, dated
	}
	g.ask = ask
	a := &x.asks[ask]
	at, _ := slices.BinarySearch(a.grants, number)
	a.grants = slices.Insert(a.grants, at, number)
}
