// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/jobs/koordinator"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// tb is what the harness needs of a *testing.T or a *rapid.T.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

// harness asks a planner about a case.
type harness struct {
	tb
	c       *world.JobCase
	cluster *victims.Cluster
	planner jobs.Planner
	quotas  map[string]*koordinator.ElasticQuota // behind its Admit
	job     victims.Ask
	d       victims.Decision // used again, and so never clean
}

func newHarness(t tb, c *world.JobCase) *harness {
	h := &harness{tb: t, c: c}
	h.rebuild()
	return h
}

// rebuild makes the cluster of the case anew, for the same planner.
func (h *harness) rebuild() {
	cluster, err := world.Build(&h.c.World)
	if err != nil {
		h.Fatalf("%v\n%v", err, h.c)
	}
	h.cluster, h.planner.Cluster = cluster, cluster
	h.quotas, h.planner.Admit = quotasOf(h, cluster), h.admit
	world.SetMinimums(cluster, h.c.Minimums)
	h.planner.Exempt = func(e *victims.Question) (time.Time, bool) {
		at := world.Options{Now: e.Now, Exempt: h.c.Options.Exempt}
		return at.Exempts(e.Cluster.Key(e.Task))
	}
	h.job = jobOf(h, cluster, &h.c.Job)
	h.planner.Filter = h.lets
	h.planner.ByPriority = false
	if h.c.ByPriority {
		h.planner.ByPriority = true
	}
	h.c.Options.Set(&h.planner.Options)
	h.planner.RetryInterval, h.planner.Levels = h.c.Options.Interval, h.c.Options.Levels
	h.planner.Scarce = h.c.Options.Counting(cluster)
	h.planner.WithinQueue = world.OwnLeaves[h.c.Options.OwnLeaf]
}

// lets is the filter of the case: the node has the labels that members of the
// class select. The class of a member is the first with its selector.
func (h *harness) lets(q *victims.Question) bool {
	for i := range h.c.World.Nodes {
		if n := &h.c.World.Nodes[i]; n.Name == h.cluster.NodeName(q.Node) {
			return n.Has(h.c.Job.Members[q.Member.Class].Selector)
		}
	}
	h.Fatalf("no node %d\n%v", q.Node, h.c)
	return false
}

// accepts is the predicate of the case.
func (h *harness) accepts(p *victims.Question) bool {
	var before []string
	for _, at := range p.Places {
		before = append(before, h.cluster.Node(at.Node).Name)
	}
	return !h.c.Refuses(p.Member.Key, h.cluster.Node(p.Node).Name, before)
}

// admit is the function of the case's quotas.
func (h *harness) admit(dst resources.Vector, a *victims.Admission) (resources.Vector, bool) {
	return h.quotas[a.Queue].Admit(dst, a)
}

func quotasOf(h *harness, cluster *victims.Cluster) map[string]*koordinator.ElasticQuota {
	quotas := make(map[string]*koordinator.ElasticQuota)
	for path, q := range h.c.Quotas {
		quotas[path] = &koordinator.ElasticQuota{
			Min: world.LimitOf(cluster, q.Min), Max: world.LimitOf(cluster, q.Max), Waiting: world.VectorOf(cluster, q.Waiting),
		}
	}
	scenario.AddWaiting(cluster.Tree(), quotas)
	return quotas
}

func jobOf(h *harness, cluster *victims.Cluster, j *world.Job) victims.Ask {
	leaf, ok := cluster.Tree().Lookup(j.Queue)
	if !ok {
		h.Fatalf("no queue %q", j.Queue)
	}
	job := victims.Ask{
		Key: j.Name, Application: j.Application, Queue: leaf, Priority: j.Priority,
		NonPreemptible: j.NonPreemptible, MinMembers: j.MinMembers, MayNotPreempt: j.MayNot, DomainDepth: j.Domain,
		PendingSince: j.PendingSince, LastAttempt: j.LastAttempt,
	}
	for _, m := range j.Members {
		class := slices.IndexFunc(j.Members, func(o world.Member) bool { return maps.Equal(o.Selector, m.Selector) })
		job.Members = append(job.Members, victims.Member{
			Key: m.Key, Size: world.VectorOf(cluster, m.Size), Originator: m.Originator, OptedOut: m.OptedOut, Class: class,
		})
	}
	return job
}

// reshuffle empties the cluster and fills it again, so that nodes and tasks get
// rows in an order of their own. The node order stays.
func (h *harness) reshuffle(t *rapid.T) {
	must := func(err error) {
		if err != nil {
			h.Fatalf("%v\n%v", err, h.c)
		}
	}
	w := &h.c.World
	for _, v := range shuffled(t, w.Tasks) {
		must(h.cluster.RemoveTask(v.Key))
	}
	for _, g := range shuffled(t, w.Grants) {
		must(h.cluster.Drop(g.Ask.Key))
	}
	for _, n := range shuffled(t, w.Nodes) {
		must(law.ErrOf(h.cluster.RemoveNode(n.Name)))
	}
	must(world.AddNodes(h.cluster, w.Nodes))
	for _, v := range shuffled(t, w.Tasks) {
		must(world.AddTask(h.cluster, &v))
	}
	must(world.AddGrants(h.cluster, shuffled(t, w.Grants)))
}

func shuffled[T any](t *rapid.T, list []T) []T { return rapid.Permutation(list).Draw(t, "order") }

// places returns the nodes of the members of the minimum, and the placements of
// those beyond it.
func (h *harness) places() (places []string, further []oracle.Placement) {
	for _, p := range h.d.Plan.Places {
		node := h.cluster.Node(p.Node).Name
		if p.Extra {
			further = append(further, oracle.Placement{Member: h.job.Members[p.Member].Key, Node: node, Further: true})
		} else {
			places = append(places, node)
		}
	}
	return places, further
}

func minimum(placements []oracle.Placement) (places []string) {
	for _, p := range placements {
		if !p.Further {
			places = append(places, p.Node)
		}
	}
	return places
}

func (h *harness) stops() (keys []string) {
	for _, v := range h.d.Plan.Victims {
		keys = append(keys, v.Key)
	}
	return keys
}

// said is the decision in a few words.
func (h *harness) said() string {
	if h.d.Outcome == victims.Refused {
		return fmt.Sprintf("refused (%v)", h.d.Refusal.Reason)
	}
	places, further := h.places()
	return fmt.Sprintf("%v of %v for %v and %v", h.d.Outcome, h.stops(), places, further)
}

// replay applies the plan to the cluster, lets its victims go and its members
// start, and compares the books with those of a world in which that happened.
// The cluster is left as it was.
func (h *harness) replay(name string) {
	p := &h.d.Plan
	if len(p.Places) == 0 {
		return
	}
	c := h.cluster.Clone()
	if err := c.Apply(&h.d); err != nil {
		h.Fatalf("%s: %s: %v\n%v", name, h.said(), err, h.c)
	}
	for _, v := range p.Victims {
		if err := c.RemoveTask(v.Key); err != nil {
			h.Fatalf("%s: %s: %v\n%v", name, h.said(), err, h.c)
		}
	}
	w := h.c.World
	w.Tasks = slices.DeleteFunc(slices.Clone(w.Tasks), func(t world.Task) bool { return slices.Contains(h.stops(), t.Key) })
	w.Grants = slices.Clone(w.Grants)
	for _, at := range p.Places {
		ask := h.c.Job.Ask(&h.c.Job.Members[at.Member])
		w.Grants = append(w.Grants, world.Grant{Ask: ask, Node: h.cluster.Node(at.Node).Name})
	}
	used, free := w.Usage(true), w.Free(true)
	for q := range queue.ID(c.Tree().Len()) {
		path := c.Tree().Path(q)
		got := world.AmountsOf(c, c.Tree().Effective(nil, q))
		if diff := cmp.Diff(used[path], got, ignoreZeros); diff != "" {
			h.Fatalf("%s: %s: usage of %s (-want +got)\n%s\n%v", name, h.said(), path, diff, h.c)
		}
	}
	for n := range c.Nodes() {
		name := c.Node(n).Name
		got := world.AmountsOf(c, c.ComingFree(nil, n))
		if diff := cmp.Diff(free[name], got, ignoreZeros); diff != "" {
			h.Fatalf("%s: %s: free on %s (-want +got)\n%s\n%v", name, h.said(), name, diff, h.c)
		}
	}
}

var ignoreZeros = cmp.Options{
	cmpopts.IgnoreMapEntries(func(_ string, v int64) bool { return v == 0 }),
	cmpopts.EquateEmpty(),
}
