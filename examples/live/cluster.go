// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
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
	"/Node":      kindOf(func(c *cluster, n *v1.Node) { c.nodes = append(c.nodes, n) }),
	"/Pod":       kindOf(func(c *cluster, p *v1.Pod) { c.pods = append(c.pods, p) }),
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
		jobs: map[string]*batchv1.Job{}, from: map[any]*object{}, seen: map[string]bool{}, places: map[string]scenario.Value{}}
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
		in, shown, err := readText(file, stdin)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		objects, err := readObjects(in, shown)
		if err == nil && len(objects)+len(o.queues) == 0 { // queues by themselves are a document, too
			err = fmt.Errorf("%s: no objects", shown)
		}
		if err != nil {
			problems = append(problems, err)
		}
		for i := range objects {
			if err := c.take(&objects[i]); err != nil {
				problems = append(problems, err)
			}
		}
	}
	problems = append(problems, c.readQueues(stdin)...)
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return c, c.finishQueues()
}

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
	if field := negative(v); field != "" {
		return o.wrong(field, errors.New("quantity negative"))
	}
	c.from[v] = o
	k.keep(c, v)
	return nil
}

// negative returns the first field of a node, a pod or a workload whose quantity is
// negative, or "".
func negative(v any) string {
	switch v := v.(type) {
	case *v1.Node:
		return negativeIn("status.allocatable", v.Status.Allocatable)
	case *v1.Pod:
		return negativeOf("spec", &v.Spec)
	case *workload:
		for i := range v.Spec.PodSets {
			if field := negativeOf(fmt.Sprintf("spec.podSets[%d].template.spec", i), &v.Spec.PodSets[i].Template.Spec); field != "" {
				return field
			}
		}
	}
	return ""
}

// negativeOf is negative for what a pod requests.
func negativeOf(path string, spec *v1.PodSpec) string {
	field := negativeIn(path+".overhead", spec.Overhead)
	if spec.Resources != nil {
		field = cmp.Or(field, negativeIn(path+".resources.requests", spec.Resources.Requests))
	}
	for _, of := range []struct {
		name       string
		containers []v1.Container
	}{{"initContainers", spec.InitContainers}, {"containers", spec.Containers}} {
		for i := range of.containers {
			field = cmp.Or(field, negativeIn(fmt.Sprintf("%s.%s[%d].resources.requests", path, of.name, i), of.containers[i].Resources.Requests))
		}
	}
	return field
}

func negativeIn(path string, list v1.ResourceList) string {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if q := list[name]; q.Sign() < 0 {
			return join(path, string(name))
		}
	}
	return ""
}
