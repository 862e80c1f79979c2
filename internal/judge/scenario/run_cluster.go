// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/toleration"
	"github.com/go-preempt/preempt/victims"
)

// build makes the cluster of the document, and the planner for it.
func (r *runner) build() error {
	doc := r.doc
	if !holds(r.now) {
		return doc.Fail((*Path)(nil).Field("now"), strconv.Quote(r.now.Format(time.RFC3339Nano)), errInstant)
	}
	classes := r.addClasses()
	tree, err := doc.tree()
	if err = errors.Join(classes, err); err != nil {
		return err
	}
	if doc.Options.FairShares {
		r.queues = tree.Clone()
	}
	r.cluster = victims.NewCluster(tree)
	r.nodes = make(map[victims.NodeID]*Node)
	r.ports = make(map[string][]string)
	r.ends = make(map[string]time.Time)
	if err := r.setQuotas(); err != nil {
		return err
	}
	for i := range doc.Nodes {
		if err := r.addNode(&doc.Nodes[i]); err != nil {
			return err
		}
	}
	for i := range doc.Budgets {
		b := &doc.Budgets[i]
		if err := r.cluster.SetBudget(b.Name, victims.Budget{Left: b.Left, Hard: b.Hard}); err != nil {
			return doc.Fail(b.At, strconv.Quote(b.Name), err)
		}
	}
	for i := range doc.JobMinimums {
		m := &doc.JobMinimums[i]
		if err := r.cluster.SetMinMembers(m.Job, m.Members); err != nil {
			return doc.Fail(m.At, strconv.Itoa(m.Members), err)
		}
	}
	r.listed = doc.placedMembers()
	for t := range doc.eachTask() {
		if _, ok := r.listed[t.Key]; ok {
			r.listed[t.Key] = true
		}
		if err := r.addTask(&t); err != nil {
			return err
		}
	}
	for i := range doc.Grants {
		if err := r.addGrant(&doc.Grants[i]); err != nil {
			return err
		}
	}
	r.setPlanner(&r.planner)
	return nil
}

// placedMembers returns the keys of the members that requests say run already.
func (doc *Document) placedMembers() map[string]bool {
	keys := make(map[string]bool)
	for i := range doc.Requests {
		if j := doc.Requests[i].Job; j != nil {
			for m := range j.Members {
				if j.Members[m].Node != "" {
					keys[j.Members[m].Key] = false
				}
			}
		}
	}
	return keys
}

// tree makes the queues. Its errors are all that is wrong with them, joined.
func (doc *Document) tree() (*queue.Tree, error) {
	newTree := queue.NewLenient
	if doc.Strict {
		newTree = queue.New
	}
	tree, err := newTree(doc.Schema, doc.Root.Config())
	if err == nil {
		return tree, nil
	}
	problems := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		problems = joined.Unwrap()
	}
	for i, err := range problems {
		problems[i] = doc.queueError(err)
	}
	return nil, errors.Join(problems...)
}

// queueError gives a problem of package queue its place.
func (doc *Document) queueError(err error) error {
	var p *lent.Problem
	if !errors.As(err, &p) {
		return doc.Fail(doc.Root.At, strconv.Quote(doc.Root.Name), err)
	}
	at := doc.Root.find(p.Queue).At
	switch {
	case errors.Is(err, lent.ErrAboveMax):
		at = at.Field("resources").Field("guaranteed")
	case errors.Is(err, lent.ErrProperty):
		at = at.Field("properties")
	case errors.Is(err, lent.ErrOverCommitted):
		at = at.Field("resources")
	}
	return doc.Fail(at, strconv.Quote(p.Queue), p.Err)
}

// find returns the queue of a path that begins with q, or the last of it that
// is there.
func (q *Queue) find(path string) *Queue {
	_, rest, _ := strings.Cut(path, ".")
	name, _, _ := strings.Cut(rest, ".")
	for i := range q.Children {
		if q.Children[i].Name == name {
			return q.Children[i].find(rest)
		}
	}
	return q
}

// addNode adds a node.
func (r *runner) addNode(n *Node) error {
	id, err := r.cluster.AddNode(&victims.Node{
		Name: n.Name, Capacity: n.Capacity, Unschedulable: n.Unschedulable, ReservedFor: n.ReservedFor,
		Penalty: n.Rank, Domains: n.Domains,
	})
	if err != nil {
		return r.doc.Fail(n.At.Field("capacity"), r.quantities(n.Capacity), err)
	}
	r.nodes[id] = n
	return nil
}

// clusterStates are what the words of a document are in a cluster.
var clusterStates = map[State]victims.State{
	StateRunning:    victims.Running,
	StateReleasing:  victims.Releasing,
	StatePreempting: victims.Marked,
}

// addTask adds a task, whose ages count back from now. It takes the place of
// a grant of its key.
func (r *runner) addTask(t *Task) error {
	class := r.class(t.Class)
	task := victims.Task{
		Queue: r.queue(t.Queue), Node: r.node(t.Node), Size: t.Resources, State: clusterStates[t.State], Created: r.now.Add(-t.Age),
		OptedOut: optedOut(t, &class), RequiredNode: t.RequiredNode != "", NonPreemptible: r.nonPreemptible(t.Preemptible),
	}
	copyTask(&task, t)
	if t.CheckpointAge != nil {
		task.Checkpoint = r.now.Add(-*t.CheckpointAge)
		if err := r.instant(t.At, "checkpointAge", *t.CheckpointAge, task.Checkpoint); err != nil {
			return err
		}
	}
	if id, held := r.cluster.LookupGrant(t.Key); held && t.Job == "" {
		// A member of a job that starts need not say so again.
		grant := r.cluster.Task(id)
		task.Job = grant.Job
		if t.Preemptible == nil {
			task.NonPreemptible = grant.NonPreemptible
		}
	}
	if err := r.instant(t.At, "age", t.Age, task.Created); err != nil {
		return err
	}
	if !t.NeverScheduled {
		task.Scheduled = r.now.Add(-t.ScheduledAge)
		if err := r.instant(t.At, "scheduledAge", t.ScheduledAge, task.Scheduled); err != nil {
			return err
		}
	}
	r.movers.mark(&task, t)
	if _, err := r.cluster.AddTask(&task); err != nil {
		return r.taskError(t.At, t.Key, t.Resources, err)
	}
	r.keep(t.Key, class.Policy, t.Ports)
	if t.Ends != nil {
		end := r.now.Add(*t.Ends)
		if err := r.instant(t.At, "ends", *t.Ends, end); err != nil {
			return err
		}
		r.ends[t.Key] = end
	}
	return nil
}

// keep notes the policy and the ports of a task. Most have none, and a document
// may have a million of them.
func (r *runner) keep(key string, p toleration.Policy, ports []string) {
	delete(r.policies, key)
	delete(r.ports, key)
	delete(r.ends, key)
	if p != (toleration.Policy{}) {
		r.policies[key] = p
	}
	if len(ports) > 0 {
		r.ports[key] = ports
	}
}

// addGrant gives an ask its node, as if that had been decided before.
func (r *runner) addGrant(g *Grant) error {
	ask, err := r.askOf(&g.Ask, g.Key)
	if err != nil {
		return err
	}
	if _, err := r.cluster.GrantPlace(&ask, r.node(g.Node), time.Time{}); err != nil {
		return r.taskError(g.At, g.Key, g.Resources, err)
	}
	r.ports[g.Key] = g.Ports
	return nil
}

// queue and node return the rows of names; Parse has seen to it that they are
// there.
func (r *runner) queue(path string) queue.ID {
	q, _ := r.cluster.Tree().Lookup(path)
	return q
}

func (r *runner) node(name string) victims.NodeID {
	n, _ := r.cluster.LookupNode(name)
	return n
}

// taskError gives what package victims says of the task, or the ask, at the
// given place a place of its own.
func (r *runner) taskError(at *Path, key string, size resources.Vector, err error) error {
	switch {
	case errors.Is(err, victims.ErrDuplicate):
		at = at.Field("key")
	case errors.Is(err, invalid.Range):
		return r.doc.Fail(at.Field("resources"), r.quantities(size), err)
	}
	return r.doc.Fail(at, strconv.Quote(key), err)
}

// quantities writes amounts for a message.
func (r *runner) quantities(v resources.Vector) string { return r.doc.Schema.Format(v) }

// instant complains about a time that a cluster cannot hold, which a field of
// what is at a place leads to.
func (r *runner) instant(at *Path, field string, age time.Duration, t time.Time) error {
	if holds(t) {
		return nil
	}
	return r.doc.Fail(at.Field(field), strconv.Quote(age.String()), errInstant)
}

// errInstant is what is wrong with a time that a cluster cannot hold.
var errInstant = fmt.Errorf("%w: instants lie in the years %d to %d", ErrValue, firstYear, lastYear)

// Whole years, well inside what nanoseconds in 64 bits can tell.
const firstYear, lastYear = 1678, 2261

func holds(t time.Time) bool {
	y := t.UTC().Year()
	return firstYear <= y && y <= lastYear
}

// addClasses reads what the annotations of the priority classes mean: of every
// class, used or not, and whether or not toleration is on.
func (r *runner) addClasses() error {
	var problems []error
	r.classes, r.policies = make(map[string]toleration.Class), make(map[string]toleration.Policy)
	for i := range r.doc.Classes {
		c := &r.doc.Classes[i]
		class, err := c.parse(c.Annotations)
		if err != nil {
			problems = append(problems, r.classError(c, err))
			continue
		}
		r.classes[c.Name] = class
	}
	for _, name := range slices.Sorted(maps.Keys(r.classes)) {
		class := r.classes[name]
		// Who is below the minimum of a policy, and above its tasks?
		if p := class.Policy; r.doc.Options.StrictPriority && p.Seconds != 0 && int64(p.MinimumPreemptablePriority) == int64(class.Priority)+1 {
			r.warnings = append(r.warnings, fmt.Errorf("toleration: class %q: the policy protects nobody: no preemptor of a task of priority %d is below the minimum %d",
				name, class.Priority, p.MinimumPreemptablePriority))
		}
		r.warnings = append(r.warnings, class.Warnings...)
	}
	return errors.Join(problems...)
}

// parse reads what a class means, with the given annotations.
func (c *Class) parse(annotations map[string]string) (toleration.Class, error) {
	return toleration.Parse(toleration.PriorityClass{
		Name: c.Name, Value: c.Value, PreemptionPolicy: c.PreemptionPolicy, Annotations: annotations,
	})
}

// classError gives what is wrong with a class, or with one of its annotations, its place.
func (r *runner) classError(c *Class, err error) error {
	if _, own := c.parse(nil); own != nil {
		return r.doc.Fail(c.At, strconv.Quote(c.Name), err)
	}
	keys := slices.Sorted(maps.Keys(c.Annotations))
	i := slices.IndexFunc(keys, func(key string) bool { // the message has its name
		_, alone := c.parse(map[string]string{key: c.Annotations[key]})
		return alone != nil && alone.Error() == err.Error()
	})
	return r.doc.Fail(c.AnnotationAt(keys[i]), strconv.Quote(c.Annotations[keys[i]]), errors.Unwrap(err))
}

// class returns the class of a name; Parse has seen to it that it is there.
func (r *runner) class(name string) toleration.Class { return r.classes[name] }

// exempt is the exemption function of everything that plans, where toleration
// is on: the policy of the victim's class against the preemptor's priority.
func (r *runner) exempt(e *victims.Question) (until time.Time, exempt bool) {
	return r.policies[e.Cluster.Key(e.Task)].Until(e.Cluster.Scheduled(e.Task), e.Ask.Priority)
}

// optedOut reports whether a task asks to be spared: by itself, or by its class
// where the document does not say.
func optedOut(t *Task, class *toleration.Class) bool {
	if t.AllowPreemption != nil {
		return !*t.AllowPreemption
	}
	return class.OptedOut
}

// A Live is the cluster of a document, and a planner for it. To decide an ask
// about it changes nothing, so that one may be decided again and again.
type Live struct{ r *runner }

// Live builds the cluster that the document describes. Its requests are left
// alone. The errors are those of Run.
func (doc *Document) Live() (*Live, error) {
	r := &runner{doc: doc, now: doc.Now}
	if err := r.build(); err != nil {
		return nil, err
	}
	return &Live{r}, nil
}

// LiveAfter is Live with the cluster as the requests of the document leave it.
func (doc *Document) LiveAfter() (*Live, error) {
	l, err := doc.Live()
	if err != nil {
		return nil, err
	}
	for i := range doc.Requests {
		if err := l.r.request(i, &doc.Requests[i]); err != nil {
			return nil, err
		}
	}
	l.r.steps = nil
	return l, nil
}

// Now returns the clock of the document.
func (l *Live) Now() time.Time { return l.r.now }

// Cluster returns the cluster. It must not be changed.
func (l *Live) Cluster() *victims.Cluster { return l.r.cluster }

// Aim returns the planner with the options of the document, set for an ask, and
// the ask as it takes it. Both are valid until the next call.
func (l *Live) Aim(a *Ask) (*jobs.Planner, *victims.Ask, error) {
	ask, err := l.r.askOf(a, a.Key)
	if err != nil {
		return nil, nil, err
	}
	if err := l.r.share(a.At, &ask); err != nil {
		return nil, nil, err
	}
	l.r.aim(&l.r.planner, a)
	l.r.planner.Moves = ""
	return &l.r.planner, &ask, nil
}
