// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A core is what the profiles of one scheduler share.
type core struct {
	args   *Args
	log    klog.Logger
	lookup *lookup
	lister corelisters.PodLister  // of all pods; nil without a scheduler
	nodes  corelisters.NodeLister // likewise
	groups *groups                // of the scheduler's snapshot; likewise
	alarms alarms
	// current is what the queues are. Readers that hold no lock see one state of it.
	current  atomic.Pointer[setup]
	ready    func() bool // the queues were read
	changing atomic.Bool // next is set
	refused  sync.Map    // UID to waiting: pods that were refused, for a change of the queues to wake
	// activate has the scheduler try pods now. No scheduler: nothing.
	activate  func(map[string]*v1.Pod)
	inquiries inquiries
	evicting  sync.Map // UID to *eviction: pods whose victims are being told to stop
	// granted is for Filter, which runs for many nodes at once and takes no lock.
	granted *grants

	// rehearsing is set while the scheduler's snapshot is not what there is.
	rehearsing atomic.Bool

	mu        sync.Mutex // for all that follows
	cluster   *victims.Cluster
	mirror    mirror
	planner   jobs.Planner
	auditor   victims.Auditor
	decision  victims.Decision
	cycle     *cycle // of the decision that is being made
	obstacles obstacles
	hunger    hunger
	scarcity  scarcity
	news      news
	next      *change
	marked    map[string]time.Time // victims that were told to leave, by key, since when
	balked    map[string]balk      // victims that the API does not delete, by key

	jobPlanner  jobs.Planner
	jobAuditor  victims.Auditor
	jobDecision victims.Decision
	gang        *gang // that is being decided

	timing quota.Timing
	// schedules is set once the scheduler has tried a pod: it leads, if there are others.
	schedules atomic.Bool

	jointPlanner jobs.Planner // for workloads
	jointAuditor victims.Auditor
	workload     *workload     // that is being decided
	lone         alone         // the last one whose pods share no plan
	waiting      cache.Indexer // pods, byWorkload; nil without a scheduler

	movers movers

	nominations nominations // of others
}

// newCore makes a core that follows the informers of a scheduler.
func newCore(ctx context.Context, s *setup, h fwk.Handle) (*core, error) {
	l, err := newLookup(s.args, h.SharedInformerFactory())
	if err != nil {
		return nil, err
	}
	registerMetrics()
	c := bareCore(s, l, log(ctx))
	c.groups = groupsOf(h.SnapshotSharedLister())
	c.activate = func(pods map[string]*v1.Pod) { h.Activate(c.log, pods) }
	c.warn(s)
	if err := c.watchPods(h); err != nil {
		return nil, err
	}
	if err := c.watchNodes(h); err != nil {
		return nil, err
	}
	if err := c.watchNews(h); err != nil {
		return nil, err
	}
	if err := c.watchQueues(ctx, h); err != nil {
		return nil, err
	}
	go c.watchHunger(ctx)
	go c.watchGrants(ctx)
	pl := &Plugin{handle: h, core: c}
	fresh := informed(h.SharedInformerFactory())
	go every(ctx, sweepEvery, func(now time.Time) { pl.takeBackOverMax(fresh, now) })
	return c, c.serve(ctx)
}

// bareCore makes a core that knows no scheduler.
func bareCore(s *setup, l *lookup, log klog.Logger) *core {
	c := &core{args: s.args, log: log, lookup: l, granted: newGrants(), ready: func() bool { return true }, activate: func(map[string]*v1.Pod) {}}
	// The tree that a cluster is made with shows each later one, and readers without a lock
	// must not see it change. So that is a copy.
	c.cluster = victims.NewCluster(s.tree.Clone())
	if err := c.cluster.SetTree(s.tree); err != nil {
		panic(err) // a cluster without tasks takes every tree of its types
	}
	c.current.Store(s)
	c.observeMaxes(time.Now())
	rules := victims.Options{StrictPriority: s.args.StrictPriority, WithinQueue: s.ownLeaf, Steps: s.args.Budget}
	rules.Filter = func(q *victims.Question) bool { return c.cycle.lets(q) }
	rules.Predicate = func(q *victims.Question) bool { return c.cycle.fits(q) }
	c.planner = jobs.Planner{Cluster: c.cluster, Options: rules}
	c.auditor = victims.Auditor{Cluster: c.cluster, Options: rules}
	c.auditor.Moves = victims.MovesEntitled
	c.movers.left = map[string]mover{}
	rules.Filter = func(q *victims.Question) bool { return c.gang.mayRun(q) }
	rules.Exempt, rules.Predicate = c.exempt, nil
	c.jobPlanner = jobs.Planner{Cluster: c.cluster, Options: rules}
	c.jobAuditor = victims.Auditor{Cluster: c.cluster, Options: rules}
	rules.Filter, rules.Exempt = func(q *victims.Question) bool { return c.workload.mayRun(q) }, nil
	c.jointPlanner = jobs.Planner{Cluster: c.cluster, Options: rules}
	c.jointAuditor = victims.Auditor{Cluster: c.cluster, Options: rules}
	c.count(s.scarce)
	return c
}

// consult has the planner ask only what can matter for the pod of the cycle. If tasks
// differ in what the cluster knows alone, sums over nodes tell much of a decision.
func (c *core) consult() {
	p, a, y := &c.planner, &c.auditor, c.cycle
	p.Blockers, p.Exempt = nil, nil
	if y.mayBeBlocked() {
		p.Blockers = y.blockers
	}
	if c.lookup.known.Load().tolerant || len(c.balked) > 0 {
		p.Exempt = c.exempt
	}
	a.Blockers, a.Exempt = p.Blockers, p.Exempt
}

// queues returns the queues as they are now.
func (c *core) queues() *setup { return c.current.Load() }

// warn tells what is doubtful in the queues.
func (c *core) warn(s *setup) {
	for _, w := range s.tree.Warnings() {
		c.log.Info("Warning about the queues", "warning", w)
	}
}

// ask returns what a pod asks for.
func (c *core) ask(pod *v1.Pod) (victims.Ask, error) {
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return victims.Ask{}, err
	}
	return c.askOf(info), nil
}

func (c *core) askOf(info fwk.PodInfo) victims.Ask {
	pod := info.GetPod()
	_, class := c.lookup.classOf(pod)
	return victims.Ask{
		Key: key(pod), Name: name(pod), Application: application(pod),
		Queue: c.queueOf(pod), Size: c.sizeOf(nil, info), Priority: c.priorityOf(pod),
		PendingSince: pod.CreationTimestamp.Time, RequiredNode: requiredNode(pod),
		MayNotPreempt: c.mayNot(pod), OptedOut: optedOut(pod) || class.OptedOut, Job: job(pod),
	}
}

// sizeOf appends to dst what a pod uses.
func (c *core) sizeOf(dst resources.Vector, info fwk.PodInfo) resources.Vector {
	return appendAmounts(dst, c.queues().tree.Schema(), info.CalculateResource().Resource, 1)
}

// queueOf returns the leaf of a pod.
func (c *core) queueOf(pod *v1.Pod) queue.ID { return c.queues().leafOf(c.pathOf(pod)) }

// pathOf returns the path that names the queue of a pod, or "".
func (c *core) pathOf(pod *v1.Pod) (path string) {
	if c.args.QueueFrom == FromPod {
		path = pod.Labels[c.args.QueueLabel]
	}
	if path == "" {
		path = c.lookup.namespaceQueue(pod.Namespace)
	}
	return path
}
