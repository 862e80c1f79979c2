// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/go-preempt/preempt/internal/scenario"
)

// A cluster is what was read.
type cluster struct {
	options *options
	notes   notes
	systems []system
	root    queueText
	tree    string                    // where the tree of examples/kubernetes is, if that is what was read
	places  map[string]scenario.Value // of queues, by their dotted names
	kueue   kueue
	volcano volcano
	slurm   slurm

	nodes      []*v1.Node
	pods       []*v1.Pod
	namespaces map[string]*v1.Namespace
	budgets    []*policyv1.PodDisruptionBudget
	classes    []*schedulingv1.PriorityClass
	groups     map[string]*schedulingv1beta1.PodGroup
	jobs       map[string]*batchv1.Job
	from       map[any]*object // where each was read, for messages
	seen       map[string]bool
	moulds     map[string]*mould // by controller
}

// A kind says how objects are read and kept.
type kind struct {
	make func() any
	keep func(*cluster, any)
}

func kindOf[T any](keep func(*cluster, *T)) kind {
	return kind{func() any { return new(T) }, func(c *cluster, v any) { keep(c, v.(*T)) }}
}

// kinds are those that are read, by group and kind.
var kinds = map[string]kind{
	"/Node": kindOf(func(c *cluster, n *v1.Node) { c.nodes = append(c.nodes, n) }),
	"/Pod": kindOf(func(c *cluster, p *v1.Pod) {
		withDefaults(&p.Spec)
		c.slim(p)
		c.pods = append(c.pods, p)
	}),
	"/Namespace": kindOf(func(c *cluster, n *v1.Namespace) { c.namespaces[n.Name] = n }),
	"policy/PodDisruptionBudget": kindOf(func(c *cluster, b *policyv1.PodDisruptionBudget) {
		c.budgets = append(c.budgets, b)
	}),
	"scheduling.k8s.io/PriorityClass": kindOf(func(c *cluster, p *schedulingv1.PriorityClass) { c.classes = append(c.classes, p) }),
	"scheduling.k8s.io/PodGroup": kindOf(func(c *cluster, g *schedulingv1beta1.PodGroup) {
		c.groups[name(g.Namespace, g.Name)] = g
	}),
	"batch/Job":              kindOf(func(c *cluster, j *batchv1.Job) { c.jobs[name(j.Namespace, j.Name)] = j }),
	kueueGroup + "/Workload": kindOf(func(c *cluster, w *workload) { c.kueue.workloads = append(c.kueue.workloads, w) }),
	kueueGroup + "/WorkloadPriorityClass": kindOf(func(c *cluster, p *workloadPriorityClass) {
		c.kueue.classes[p.Metadata.Name] = p.Value
	}),
	volcanoGroup + "/PodGroup": kindOf(func(c *cluster, g *volcanoPodGroup) {
		c.volcano.groups[name(g.Metadata.Namespace, g.Metadata.Name)] = g
	}),
}

// queueKinds are those of queues of other systems, which are read field by field.
var queueKinds = map[string]func(*cluster, *object){
	kueueGroup + "/ClusterQueue": func(c *cluster, o *object) { c.kueue.clusterQueue(o) },
	kueueGroup + "/Cohort":       func(c *cluster, o *object) { c.kueue.cohort(o) },
	kueueGroup + "/LocalQueue":   func(c *cluster, o *object) { c.kueue.localQueue(o) },
	volcanoGroup + "/Queue":      func(c *cluster, o *object) { c.volcano.queue(o) },
}

// newCluster returns a cluster of which nothing was read.
func newCluster(o *options) *cluster {
	c := &cluster{options: o, namespaces: map[string]*v1.Namespace{}, groups: map[string]*schedulingv1beta1.PodGroup{},
		jobs: map[string]*batchv1.Job{}, from: map[any]*object{}, seen: map[string]bool{}, moulds: map[string]*mould{}, places: map[string]scenario.Value{}}
	c.kueue, c.volcano, c.slurm = newKueue(c), newVolcano(c), newSlurm(c)
	return c
}

// collect reads all files.
func collect(o *options, stdin io.Reader) (*cluster, error) {
	c := newCluster(o)
	var problems []error
	read := map[string]bool{}
	for _, file := range slices.Concat(o.queues, o.files) {
		if read[file] {
			problems = append(problems, fmt.Errorf("%s: named twice", file))
			continue
		}
		read[file] = true
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	for _, file := range o.files {
		if err := c.readFile(file, stdin, &problems); err != nil {
			problems = append(problems, err)
		}
	}
	problems = append(problems, c.readQueues(stdin)...)
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return c, c.finishQueues()
}

// readFile takes all objects of a file. What is wrong with one of them goes to problems.
func (c *cluster) readFile(file string, stdin io.Reader, problems *[]error) error {
	in, done, shown, err := openText(file, stdin)
	defer done()
	if err != nil {
		return err
	}
	n := 0
	err = eachObject(in, shown, func(o object) {
		n++
		c.options.progress.step(n)
		if err := c.take(&o); err != nil && len(*problems) < mostProblems {
			*problems = append(*problems, err)
		}
	})
	if err == nil && n+len(c.options.queues) == 0 { // queues by themselves are a document, too
		err = fmt.Errorf("%s: no objects", shown)
	}
	return err
}

// mostProblems bounds how many objects are told that are wrong.
const mostProblems = 100

// take keeps an object.
func (c *cluster) take(o *object) error {
	if o.Kind == "" {
		return o.wrong("kind", errors.New("missing"))
	}
	group, _, ok := strings.Cut(o.APIVersion, "/")
	if !ok {
		group = ""
	}
	k, ok := kinds[group+"/"+o.Kind]
	queues := queueKinds[group+"/"+o.Kind]
	if !ok && queues == nil {
		c.notes.add(name(o.Metadata.Namespace, o.Metadata.Name), "left out: objects of the kind "+o.Kind+" of "+o.APIVersion+" are not read")
		return nil
	}
	if o.Metadata.Name == "" {
		return o.wrong("metadata.name", errors.New("missing"))
	}
	id := group + "/" + o.Kind + "/" + name(o.Metadata.Namespace, o.Metadata.Name)
	if c.seen[id] {
		return o.wrong("", errors.New("duplicate"))
	}
	c.seen[id] = true
	if queues != nil {
		queues(c, o)
		return nil
	}
	v, err := decode(o, k.make)
	if err != nil {
		return err
	}
	if field, err := badQuantity(v); err != nil {
		return o.wrong(field, err)
	}
	for _, field := range unread(o.raw, v) {
		c.notes.add(o.Kind+" "+name(o.Metadata.Namespace, o.Metadata.Name), "left out: "+field+", which is not read")
	}
	o.raw = nil // it is large, and read
	c.from[v] = o
	k.keep(c, v)
	return nil
}

// badQuantity returns the first field of a node, a pod or a workload whose quantity is
// negative or huge, and what is wrong with it.
func badQuantity(v any) (field string, err error) {
	var q quantities
	switch v := v.(type) {
	case *v1.Node:
		q.list("status.allocatable", v.Status.Allocatable)
	case *v1.Pod:
		q.spec("spec", &v.Spec)
		q.statuses("status.initContainerStatuses", v.Status.InitContainerStatuses)
		q.statuses("status.containerStatuses", v.Status.ContainerStatuses)
		q.list("status.allocatedResources", v.Status.AllocatedResources)
		q.pair("status.resources", v.Status.Resources)
	case *workload:
		for i := range v.Spec.PodSets {
			q.spec(fmt.Sprintf("spec.podSets[%d].template.spec", i), &v.Spec.PodSets[i].Template.Spec)
		}
		if a := v.Status.Admission; a != nil {
			for i := range a.PodSetAssignments {
				q.list(fmt.Sprintf("status.admission.podSetAssignments[%d].resourceUsage", i), a.PodSetAssignments[i].ResourceUsage)
			}
		}
	}
	return q.field, q.err
}

// quantities looks for a bad one, and keeps the first.
type quantities struct {
	field string
	err   error
}

// mostUnits is the most that a quantity may be, in base units: sums over a cluster have to
// be numbers, too.
const mostUnits = 1 << 56

func (b *quantities) list(path string, list v1.ResourceList) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		q := list[name]
		most := resource.NewQuantity(mostUnits, resource.DecimalSI)
		if name == v1.ResourceCPU {
			most = resource.NewMilliQuantity(mostUnits, resource.DecimalSI)
		}
		switch {
		case b.err != nil:
		case q.Sign() < 0:
			b.field, b.err = join(path, string(name)), errors.New("quantity negative")
		case q.Cmp(*most) > 0:
			b.field, b.err = join(path, string(name)), fmt.Errorf("quantity too large: more than %s", most)
		}
	}
}

// pair looks at what is requested and at the limits.
func (b *quantities) pair(path string, r *v1.ResourceRequirements) {
	if r != nil {
		b.list(path+".requests", r.Requests)
		b.list(path+".limits", r.Limits)
	}
}

func (b *quantities) spec(path string, spec *v1.PodSpec) {
	b.list(path+".overhead", spec.Overhead)
	b.pair(path+".resources", spec.Resources)
	b.containers(path+".initContainers", spec.InitContainers)
	b.containers(path+".containers", spec.Containers)
}

func (b *quantities) containers(path string, all []v1.Container) {
	for i := range all {
		b.pair(fmt.Sprintf("%s[%d].resources", path, i), &all[i].Resources)
	}
}

func (b *quantities) statuses(path string, all []v1.ContainerStatus) {
	for i := range all {
		b.list(fmt.Sprintf("%s[%d].allocatedResources", path, i), all[i].AllocatedResources)
		b.pair(fmt.Sprintf("%s[%d].resources", path, i), all[i].Resources)
	}
}
