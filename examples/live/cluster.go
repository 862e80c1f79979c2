// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/go-preempt/preempt/internal/judge/scenario"
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
	pods       []*pod
	namespaces map[string]*v1.Namespace
	budgets    []*policyv1.PodDisruptionBudget
	classes    []*schedulingv1.PriorityClass
	groups     map[string]*schedulingv1beta1.PodGroup
	composites map[string]*schedulingv1alpha3.CompositePodGroup
	jobs       map[string]*batchv1.Job
	from       map[any]*object            // where each was read, for messages; pods know it
	seen       map[string]map[string]bool // by group and kind: namespace/name
	shapes     *known[shape]              // of pods
	labels     *known[labelSet]           // of pods
}

// A kind says how objects are read and kept.
type kind struct {
	of   selection // what is read of it
	read func(c *cluster, o *object, text []byte) (any, error)
	keep func(*cluster, any)
}

func kindOf[T any](keep func(*cluster, *T)) kind {
	return kind{nil, readWhole[T], func(c *cluster, v any) { keep(c, v.(*T)) }}
}

// readWhole decodes an object.
func readWhole[T any](c *cluster, o *object, text []byte) (any, error) {
	v, err := decode[T](o, text)
	if err != nil {
		return nil, err
	}
	if field, err := badQuantity(v); err != nil {
		return nil, o.wrong(field, err)
	}
	return v, nil
}

// kinds are those that are read, by group and kind.
var kinds = map[string]kind{
	"/Node":      {ofNode, readWhole[v1.Node], func(c *cluster, v any) { c.nodes = append(c.nodes, v.(*v1.Node)) }},
	"/Pod":       {ofPod, (*cluster).readPod, func(c *cluster, v any) { c.pods = append(c.pods, v.(*pod)) }},
	"/Namespace": kindOf(func(c *cluster, n *v1.Namespace) { c.namespaces[n.Name] = n }),
	"policy/PodDisruptionBudget": kindOf(func(c *cluster, b *policyv1.PodDisruptionBudget) {
		c.budgets = append(c.budgets, b)
	}),
	"scheduling.k8s.io/PriorityClass": kindOf(func(c *cluster, p *schedulingv1.PriorityClass) { c.classes = append(c.classes, p) }),
	"scheduling.k8s.io/PodGroup": kindOf(func(c *cluster, g *schedulingv1beta1.PodGroup) {
		c.groups[name(g.Namespace, g.Name)] = g
	}),
	"scheduling.k8s.io/CompositePodGroup": kindOf(func(c *cluster, g *schedulingv1alpha3.CompositePodGroup) {
		c.composites[name(g.Namespace, g.Name)] = g
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

// ofNode is what is read of a node.
var ofNode = selection{
	"apiVersion": nil, "kind": nil, "metadata": {"name": nil, "labels": nil},
	"spec": {"taints": nil, "unschedulable": nil}, "status": {"allocatable": nil},
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
		composites: map[string]*schedulingv1alpha3.CompositePodGroup{},
		jobs:       map[string]*batchv1.Job{}, from: map[any]*object{}, seen: map[string]map[string]bool{},
		shapes: new(known[shape]), labels: new(known[labelSet]), places: map[string]scenario.Value{}}
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
	err = c.openEach(in, shown, func(o *object) {
		n++
		c.options.progress.step(n)
		if err := c.take(o); err != nil && len(*problems) < mostProblems {
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

// A batch is objects that are opened together.
type batch struct {
	objects []object
	bytes   int
	opened  chan struct{} // closed once they are
}

// A batch ends with these.
const (
	batchObjects = 500
	batchBytes   = 1 << 20
)

// openEach opens the objects of a text on all processors, and hands them to take in their order.
func (c *cluster) openEach(in io.Reader, shown string, take func(*object)) (err error) {
	batches := make(chan *batch, 2*runtime.GOMAXPROCS(0)) // which bounds what is in memory
	go func() {
		defer close(batches)
		b := new(batch)
		send := func() {
			full := b
			full.opened, b = make(chan struct{}), new(batch)
			batches <- full
			go func() {
				defer close(full.opened)
				for i := range full.objects {
					c.open(&full.objects[i])
				}
			}()
		}
		err = eachObject(in, shown, func(o object) {
			b.objects, b.bytes = append(b.objects, o), b.bytes+len(o.raw)
			if len(b.objects) == batchObjects || b.bytes > batchBytes {
				send()
			}
		})
		send()
	}()
	for b := range batches {
		<-b.opened
		for i := range b.objects {
			take(&b.objects[i])
		}
	}
	return err
}

// open reads what an object is, and decodes it if its kind is one that is decoded. It may run
// for several at the same time.
func (c *cluster) open(o *object) {
	text := o.raw
	if of := kinds[o.guess()].of; of != nil {
		if picked, ok := pick(o.raw, of); ok {
			text = picked
		}
	}
	top, ok := pick(text, ofHead)
	if !ok {
		top = text
	}
	if o.err = o.readHead(top); o.err != nil {
		return
	}
	if k, ok := kinds[o.id()]; ok && o.Metadata.Name != "" {
		o.value, o.err = k.read(c, o, text)
	}
}

// take keeps an object that is opened.
func (c *cluster) take(o *object) error {
	switch {
	case o.err != nil:
		return o.err
	case o.Kind == "":
		return o.wrong("kind", errors.New("missing"))
	}
	own, id := name(o.Metadata.Namespace, o.Metadata.Name), o.id()
	k, ok := kinds[id]
	queues := queueKinds[id]
	if !ok && queues == nil {
		c.notes.add(own, "left out: objects of the kind "+o.Kind+" of "+o.APIVersion+" are not read")
		return nil
	}
	if o.Metadata.Name == "" {
		return o.wrong("metadata.name", errors.New("missing"))
	}
	if c.seen[id] == nil {
		c.seen[id] = map[string]bool{}
	}
	if c.seen[id][own] {
		return o.wrong("", errors.New("duplicate"))
	}
	c.seen[id][own] = true
	if queues != nil {
		queues(c, o)
		return nil
	}
	for _, field := range unread(o.raw, o.value) {
		c.notes.add(o.Kind+" "+own, "left out: "+field+", which is not read")
	}
	if _, ok := o.value.(*pod); !ok {
		c.from[o.value] = &object{place: o.place, head: o.head}
	}
	k.keep(c, o.value)
	*o = object{}
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
