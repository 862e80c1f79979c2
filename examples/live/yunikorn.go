// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	v1 "k8s.io/api/core/v1"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/resources"
)

// YuniKorn's names of the queue and the application of a pod, in labels or annotations, and of the
// type that Kubernetes calls cpu.
const (
	labelYuniKorn         = "yunikorn.apache.org/queue"
	labelYuniKornShort    = "queue"
	labelYuniKornApp      = "yunikorn.apache.org/app-id"
	labelYuniKornAppShort = "applicationId"
	labelSpark            = "spark-app-selector"
	vcore                 = "vcore"
)

// Annotations of a pod that is to start with others.
const (
	annotationTaskGroup  = "yunikorn.apache.org/task-group-name"
	annotationTaskGroups = "yunikorn.apache.org/task-groups"
)

// yunikorn reads YuniKorn's configuration.
type yunikorn struct {
	*reader
	wanted string // the name of the partition; empty: the only one, or the default one
	types  map[string]bool
	queues map[string]scenario.Value // by their dotted names
	root   queueText
}

// readYuniKorn reads queues.yaml.
func (c *cluster) readYuniKorn(o *object) error {
	y := &yunikorn{reader: &reader{notes: &c.notes}, wanted: c.options.partition, types: map[string]bool{}, queues: c.places}
	if v := y.value(o); y.err == nil {
		y.scheduler(v)
	}
	c.system(system{name: "YuniKorn", root: y.root, leaf: c.yunikornLeaf, application: yunikornApplication})
	return y.err
}

// yunikornLeaf returns the leaf that a pod names. Case does not matter, and root.default
// is the leaf of pods that name none.
func (c *cluster) yunikornLeaf(p *pod) string {
	path := cmp.Or(p.labels.Get(labelYuniKorn), p.labels.Get(labelYuniKornShort), p.annotations[labelYuniKorn], p.annotations[labelYuniKornShort])
	if path != "" {
		return c.spelled(path)
	}
	if c.isLeaf(defaultPartition) {
		return defaultPartition
	}
	return ""
}

// yunikornApplication returns the application that a pod says it is of, or "".
func yunikornApplication(p *pod) string {
	return cmp.Or(p.labels.Get(labelYuniKornApp), p.annotations[labelYuniKornApp], p.labels.Get(labelYuniKornAppShort), p.labels.Get(labelSpark))
}

// spelled returns a path below the root in the letters of the tree, if it has the path.
func (c *cluster) spelled(path string) string {
	steps := strings.Split(path, ".")
	if strings.EqualFold(steps[0], rootName) {
		steps = steps[1:]
	}
	q := &c.root
	for i, step := range steps {
		at := slices.IndexFunc(q.Queues, func(below queueText) bool { return strings.EqualFold(below.Name, step) })
		if at < 0 {
			break
		}
		q = &q.Queues[at]
		steps[i] = q.Name
	}
	return strings.Join(steps, ".")
}

// What YuniKorn calls the root of a partition, and a partition without a name.
const (
	rootName         = "root"
	defaultPartition = "default"
)

// Why parts of a partition have no place in a document.
var partitionReasons = map[string]string{
	"limits":            "there are no limits for users and groups",
	"nodesortpolicy":    "the cost of a plan decides between nodes",
	"placementrules":    "tasks name their queues",
	"statedumpfilepath": "it does not concern preemption",
	"usergroupresolver": "there are no users and groups",
}

// scheduler reads the configuration of the scheduler, and migrates one of its
// partitions.
func (y *yunikorn) scheduler(v scenario.Value) {
	o := y.fields(v, true)
	list := o.take("partitions")
	if list.Absent() {
		y.fail(v, "%w: partitions", scenario.ErrMissing)
	}
	items, err := list.Items()
	y.failed(err)
	o.rest(map[string]string{"checksum": "it is that of another text"})

	var names []string
	var parts []*fields
	seen := make(map[string]bool)
	for _, item := range items {
		o := y.fields(item, true)
		name, err := o.take("name").Text()
		y.failed(err)
		if name == "" {
			name = defaultPartition
		}
		if seen[strings.ToLower(name)] {
			y.fail(item, "%w: a partition named %q is there already", scenario.ErrDuplicate, name)
		}
		seen[strings.ToLower(name)] = true
		names, parts = append(names, name), append(parts, o)
	}
	if y.err != nil {
		return
	}
	chosen, err := choose(names, y.wanted)
	if err != nil {
		y.fail(list, "%w", err)
		return
	}
	for i, o := range parts {
		if i == chosen {
			y.partition(o)
		} else {
			y.leaveOut(o.v, "another partition was taken, "+plain.Name(names[chosen]))
		}
	}
}

// choose returns the partition of a name or, if that is empty, the only one
// or the default one.
func choose(names []string, partition string) (int, error) {
	if partition == "" && len(names) == 1 {
		return 0, nil
	}
	want := partition
	if want == "" {
		want = defaultPartition
	}
	for i, name := range names {
		if strings.EqualFold(name, want) {
			return i, nil
		}
	}
	switch {
	case len(names) == 0:
		return 0, fmt.Errorf("%w: no partition", scenario.ErrValue)
	case partition == "":
		return 0, fmt.Errorf("%w: several partitions, choose with -partition: %s", scenario.ErrValue, plain.Names(names))
	}
	return 0, fmt.Errorf("%w: no partition %s, but %s", scenario.ErrValue, plain.Name(partition), plain.Names(names))
}

// partition migrates the queues of a partition.
func (y *yunikorn) partition(o *fields) {
	p := y.fields(o.take("preemption"), true)
	enabled := p.take("enabled")
	if !y.isTrue(enabled) && !enabled.Absent() {
		y.leaveOut(enabled, "a document has no such switch, and preemption is on")
	}
	enforces := y.isTrue(p.take("quotapreemptionenabled"))
	p.rest(nil)

	list := o.take("queues")
	queues, err := list.Items()
	y.failed(err)
	if list.Absent() {
		y.fail(o.v, "%w: queues", scenario.ErrMissing)
	}
	o.rest(partitionReasons)
	y.root = treeReader{y, enforces}.root(list, queues)
}

// Why parts of a queue have no place in a document.
var queueReasons = map[string]string{
	"adminacl":        "who may administer does not matter to preemption",
	"limits":          "there are no limits for users and groups",
	"maxapplications": "applications are not counted",
	"submitacl":       "who may submit does not matter to preemption",
}

// properties are those that concern preemption.
var properties = []string{
	"preemption.policy", "preemption.delay",
	"priority.policy", "priority.offset", "quota.preemption.delay", "preemption.quota.delay",
	"preemption.min-runtime", "preemption.own-leaf", "fair.weight", // YuniKorn has none of these and lets them stand
}

// quotaDelays are the names of the delay of quotas, in the documents of YuniKorn and
// in version 1.8 of it.
var quotaDelays = []string{"quota.preemption.delay", "preemption.quota.delay"}

// A treeReader migrates queues.
type treeReader struct {
	*yunikorn
	enforces bool // the partition enforces lowered quotas
}

// root migrates the tree. It has a root of its own, or gets one.
func (t treeReader) root(list scenario.Value, items []scenario.Value) queueText {
	if len(items) == 1 {
		o := t.fields(items[0], true)
		if name := o.text("name"); strings.EqualFold(name, rootName) {
			return t.queue(o, rootName, rootName, 1)
		}
	}
	t.remark(list, "a queue %s was put in above, as YuniKorn does", rootName)
	return queueText{Name: rootName, Queues: t.below(rootName, items, 2)}
}

// maxDepth is the number of levels that package queue takes.
const maxDepth = 64

// below migrates the children of the queue of a path, which are at a level.
func (t treeReader) below(path string, items []scenario.Value, level int) (all []queueText) {
	if len(items) > 0 && level > maxDepth {
		t.fail(items[0], "too deep: more than %d levels", maxDepth)
		return nil
	}
	seen := make(map[string]bool, len(items))
	for _, item := range items {
		o := t.fields(item, true)
		name := o.text("name")
		switch folded := strings.ToLower(name); {
		case strings.Contains(name, "."):
			t.fail(item, "%w: a queue's own name has no dot: %q", scenario.ErrValue, name)
		case seen[folded]:
			// YuniKorn takes no notice of case.
			t.fail(item, "%w: a queue named %q is there already", scenario.ErrDuplicate, name)
		default:
			seen[folded] = true
		}
		all = append(all, t.queue(o, name, path+"."+name, level))
	}
	return all
}

// queue migrates the queue of a path, and those below it.
func (t treeReader) queue(o *fields, name, path string, level int) queueText {
	t.queues[path] = o.v
	q := queueText{
		Name:       name,
		Properties: t.properties(o.take("properties")),
	}
	q.Resources = t.bounds(o.take("resources"), path, &q.Properties)
	q.Template = t.template(o.take("childtemplate"))
	children := o.items("queues")
	parent := o.take("parent")
	switch inner := t.isTrue(parent); {
	case inner && len(children) == 0 && level > 1:
		t.remark(parent, "a leaf here, for no queues are below it")
	case !inner && len(children) > 0 && !parent.Absent():
		t.remark(parent, "a parent all the same, for queues are below it")
	}
	o.rest(queueReasons)
	q.Queues = t.below(path, children, level+1)
	return q
}

// template migrates what queues get that are made below a queue at run time. Our
// leaves take it as YuniKorn's do.
func (t treeReader) template(v scenario.Value) *templateText {
	if v.Blank() {
		return nil
	}
	o := t.fields(v, true)
	var q templateText
	q.Properties = t.properties(o.take("properties"))
	q.Resources = t.bounds(o.take("resources"), "", &q.Properties)
	o.rest(queueReasons)
	if q.Resources == nil && q.Properties == nil {
		return nil
	}
	return &q
}

// bounds migrates what a queue is guaranteed and what it may use. YuniKorn has
// the delay of quotas beside these, and we have it among the properties.
func (t treeReader) bounds(v scenario.Value, path string, into *map[string]string) *bounds {
	o := t.fields(v, true)
	b := bounds{Guaranteed: t.limit(o.take("guaranteed")), Max: t.limit(o.take("max"))}
	t.quotaDelay(o.take("quota.preemption.delay"), into)
	o.rest(nil)
	if b.Guaranteed == nil && b.Max == nil {
		return nil
	}
	if path == rootName {
		t.remark(v, "kept, though YuniKorn takes no bounds of its root")
	}
	return &b
}

// quotaDelay migrates the delay that stands among the bounds of a queue. A
// property of the same name wins.
func (t treeReader) quotaDelay(v scenario.Value, into *map[string]string) {
	if v.Absent() {
		return
	}
	text, err := v.Scalar()
	t.failed(err)
	for _, name := range quotaDelays {
		if _, ok := (*into)[name]; ok {
			t.leaveOut(v, "the property "+name+" wins")
			return
		}
	}
	if *into == nil {
		*into = make(map[string]string)
	}
	t.delayed(v)
	(*into)["quota.preemption.delay"] = text
}

// delayed remarks on a delay in a partition that enforces no quotas.
func (t treeReader) delayed(v scenario.Value) {
	if !t.enforces {
		t.remark(v, "kept, though quotapreemptionenabled is not true in the partition")
	}
}

// limit migrates quantities by type. If all are zero, YuniKorn ignores them.
func (t treeReader) limit(v scenario.Value) map[string]amount {
	fields, err := v.Fields()
	t.failed(err)
	l := make(map[string]amount, len(fields))
	zero := true
	for _, f := range fields {
		text, n := t.quantity(f)
		own := kubernetesType(f.Name())
		if _, ok := l[own]; ok {
			t.fail(f, "%w: vcore and cpu are the same type", scenario.ErrDuplicate)
		}
		l[own] = amount(text)
		zero = zero && n == 0
	}
	switch {
	case len(fields) == 0:
		return nil
	case zero:
		t.leaveOut(v, "YuniKorn ignores bounds that are all 0")
		return nil
	}
	for _, f := range fields {
		t.types[kubernetesType(f.Name())] = true
		if len(t.types) > resources.MaxTypes {
			t.fail(f, "%w: one more than %d resource types", scenario.ErrValue, resources.MaxTypes)
		}
	}
	return l
}

// kubernetesType returns what Kubernetes calls a type of YuniKorn, for pods have cpu.
func kubernetesType(name string) string {
	if name == vcore {
		return string(v1.ResourceCPU)
	}
	return name
}

// quantity reads the amount that a type is given. YuniKorn takes no notice of
// blanks, and converters make numbers of what has no suffix.
func (t treeReader) quantity(v scenario.Value) (text string, amount int64) {
	text, err := v.Scalar()
	t.failed(err)
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
	amount, err = resources.ParseQuantity(v.Name(), text)
	if err != nil {
		t.fail(v, "%w: quantity %w", scenario.ErrValue, errors.Unwrap(err)) // type and text are named by the place and the value
	}
	if v.Name() == "" {
		t.fail(v, "%w: a resource type needs a name", scenario.ErrValue)
	}
	return text, amount
}

// properties migrates the properties that concern preemption. What is wrong
// with their values the library tells.
func (t treeReader) properties(v scenario.Value) map[string]string {
	fields, err := v.Fields()
	t.failed(err)
	kept := make(map[string]string)
	for _, f := range fields {
		text, err := f.Scalar()
		t.failed(err)
		if !slices.Contains(properties, f.Name()) {
			t.leaveOut(f, unknownProperty(f.Name()))
			continue
		}
		if slices.Contains(quotaDelays, f.Name()) {
			t.delayed(f)
		}
		kept[f.Name()] = text
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}
