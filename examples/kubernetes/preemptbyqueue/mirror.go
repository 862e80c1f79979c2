package preemptbyqueue

import (
	"errors"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A mirror knows which state of each node the cluster has. The cluster follows the
// scheduler's snapshot, in which assumed pods run already.
type mirror struct {
	byName map[string]*mirrored
	order  []*mirrored // as the nodes were in the last snapshot
	round  uint64
	// started is set if a pod with a grant turned up in the snapshot.
	started bool
	beat    int // the node of the last patrol

	tasks   []victims.Task // memory for the tasks of a node
	sizes   resources.Vector
	budgets []string
}

// mirrored is a node as the cluster has it.
type mirrored struct {
	name       string
	generation int64
	round      uint64    // of the last snapshot with it
	overdue    time.Time // when the first of its pods will have been leaving for too long; zero: never
}

// sync brings the cluster to a snapshot. It costs a comparison per node, and the
// tasks of the nodes that changed.
func (c *core) sync(nodes []fwk.NodeInfo) {
	now := time.Now()
	c.feel(now)
	defer func() { syncSeconds.Observe(time.Since(now).Seconds()) }()
	c.setQueues()
	all := c.lookup.stale.Swap(false)
	if all {
		for _, err := range c.lookup.read() {
			c.log.Info("Problem with what tasks are made of", "problem", err)
		}
	}
	c.setBudgets()
	m := &c.mirror
	m.round++
	for i, info := range nodes {
		n := m.at(i, info.Node().Name)
		n.round = m.round
		late := !n.overdue.IsZero() && !now.Before(n.overdue)
		if all || late || n.generation != info.GetGeneration() {
			c.syncNode(n, info, now)
		}
	}
	c.forget(len(nodes))
	c.patrol(nodes, now)
	if all {
		c.removeBudgets()
	}
	if m.started { // Filter need not keep their places any longer
		m.started = false
		c.publish()
	}
}

// at returns the node of a name, which probably is where it was the last time.
func (m *mirror) at(i int, name string) *mirrored {
	if i < len(m.order) && m.order[i].name == name {
		return m.order[i]
	}
	n, ok := m.byName[name]
	if !ok {
		if m.byName == nil {
			m.byName = map[string]*mirrored{}
		}
		n = &mirrored{name: name, generation: -1}
		m.byName[name] = n
	}
	if i < len(m.order) {
		m.order[i] = n
	} else {
		m.order = append(m.order, n)
	}
	return n
}

// syncNode brings a node and its tasks to the snapshot.
func (c *core) syncNode(n *mirrored, info fwk.NodeInfo, now time.Time) {
	n.generation, n.overdue = info.GetGeneration(), time.Time{}
	allocatable := info.GetAllocatable()
	node := victims.Node{Name: n.name, Capacity: appendAmounts(nil, c.queues().tree.Schema(), allocatable, int64(allocatable.GetAllowedPodNumber()))}
	err := c.cluster.UpdateNode(&node)
	if errors.Is(err, victims.ErrUnknown) {
		_, err = c.cluster.AddNode(&node)
	}
	if err != nil {
		c.log.Error(err, "Node not mirrored", "node", n.name)
		return
	}
	tasks := c.tasksOf(n, info, now)
	synced, err := c.cluster.SyncNode(n.name, tasks)
	if err != nil {
		c.log.Error(err, "Node not mirrored", "node", n.name)
	}
	for _, k := range synced.Started {
		c.ended(k, started)
		c.mirror.started = true
	}
	for _, t := range synced.NotTaken {
		notTaken.Inc()
		c.log.Error(t.Err, "Pod not mirrored: what it uses is closed to plans", "pod", t.Key)
	}
	for i := range tasks {
		if tasks[i].State == victims.Running && tasks[i].RequiredNode {
			c.unmark(tasks[i].Key)
		}
	}
}

// unmark takes the mark of a task that was told to leave back. It stays.
func (c *core) unmark(key string) {
	if id, ok := c.cluster.Lookup(key); ok && c.cluster.State(id) != victims.Running {
		if err := c.cluster.SetState(key, victims.Running); err != nil {
			c.log.Error(err, "Mark not taken back", "pod", key)
		}
	}
}

// tasksOf returns the pods of a node as tasks, in memory that the next call uses.
func (c *core) tasksOf(n *mirrored, info fwk.NodeInfo, now time.Time) []victims.Task {
	m, types := &c.mirror, c.queues().tree.Schema().Len()
	pods := info.GetPods()
	m.tasks, m.sizes, m.budgets = m.tasks[:0], m.sizes[:0], m.budgets[:0]
	for _, pi := range pods {
		pod := pi.GetPod()
		m.sizes = c.sizeOf(m.sizes, pi)
		from := len(m.budgets)
		m.budgets = c.lookup.budgetsOf(m.budgets, pod)
		tag, class := c.lookup.classOf(pod)
		t := victims.Task{
			Key: key(pod), Name: name(pod), Tag: tag, Application: application(pod),
			Queue: c.queueOf(pod), Priority: priority(pod), Created: pod.CreationTimestamp.Time, Scheduled: scheduled(pod),
			OptedOut: optedOut(pod) || class.OptedOut, RequiredNode: ofDaemonSet(pod), Job: job(pod),
			Budgets: m.budgets[from:len(m.budgets):len(m.budgets)],
		}
		c.leaving(&t, n, pod, now)
		m.tasks = append(m.tasks, t)
	}
	for i := range m.tasks { // sizes has its final place only now
		m.tasks[i].Size = m.sizes[i*types : (i+1)*types : (i+1)*types]
	}
	return m.tasks
}

// leaving notes whether a pod leaves. If it was to be gone long ago, something keeps
// it, such as a finalizer: it counts as running then, and as nobody's victim.
func (c *core) leaving(t *victims.Task, n *mirrored, pod *v1.Pod, now time.Time) {
	if pod.DeletionTimestamp == nil {
		return
	}
	// The timestamp of deletion is when the pod's grace period ends.
	overdue := pod.DeletionTimestamp.Add(c.args.GrantDeadline.Duration)
	if !now.Before(overdue) {
		t.RequiredNode = true
		return
	}
	t.State = victims.Releasing
	if n.overdue.IsZero() || overdue.Before(n.overdue) {
		n.overdue = overdue
	}
}

// forget removes the nodes that the snapshot does not have, and their tasks.
func (c *core) forget(nodes int) {
	m := &c.mirror
	m.order = m.order[:nodes]
	if len(m.byName) == nodes {
		return
	}
	for name, n := range m.byName { // in any order: each removal is by itself
		if n.round == m.round {
			continue
		}
		delete(m.byName, name)
		if _, err := c.cluster.SyncNode(name, nil); err != nil {
			c.log.Error(err, "Node not forgotten", "node", name)
		}
		c.dropOn(name)
		if err := c.cluster.RemoveNode(name); err != nil {
			c.log.Error(err, "Node not forgotten", "node", name)
		}
	}
}

// dropOn takes the grants on a node back.
func (c *core) dropOn(node string) {
	id, ok := c.cluster.LookupNode(node)
	if !ok {
		return
	}
	var keys []string
	for t := range c.cluster.TasksOn(id) {
		if c.cluster.State(t) == victims.Granted {
			keys = append(keys, c.cluster.Key(t))
		}
	}
	for _, k := range keys {
		c.drop(k, dropped)
	}
}
