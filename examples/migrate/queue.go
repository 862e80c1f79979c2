// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/go-preempt/preempt/internal/scenario"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// Why parts of a queue have no place in a document.
var queueReasons = map[string]string{
	"adminacl":        "who may administer does not matter to preemption",
	"limits":          "there are no limits for users and groups",
	"maxapplications": "applications are not counted",
	"submitacl":       "who may submit does not matter to preemption",
}

// properties are those that concern preemption.
var properties = []string{
	queue.PropertyPreemptionPolicy, queue.PropertyPreemptionDelay,
	queue.PropertyPriorityPolicy, queue.PropertyPriorityOffset, queue.PropertyQuotaPreemptionDelay,
	queue.PropertyFairWeight, // YuniKorn has none and lets it stand
}

// A treeReader migrates queues.
type treeReader struct {
	*migration
	enforces bool // the partition enforces lowered quotas
}

// root migrates the tree. It has a root of its own, or gets one.
func (t treeReader) root(list scenario.Value, items []scenario.Value) queueText {
	if len(items) == 1 {
		o := t.object(items[0], true)
		if name := o.text("name"); strings.EqualFold(name, rootName) {
			return t.queue(o, rootName, rootName, 1)
		}
	}
	t.remark(list, "a queue %s was put in above, as YuniKorn does", rootName)
	return queueText{Name: rootName, Queues: t.below(rootName, items, 2)}
}

// below migrates the children of the queue of a path, which are at a level.
func (t treeReader) below(path string, items []scenario.Value, level int) (all []queueText) {
	if len(items) > 0 && level > queue.MaxDepth {
		t.fail(items[0], "%w: more than %d levels", queue.ErrDepth, queue.MaxDepth)
		return nil
	}
	seen := make(map[string]bool, len(items))
	for _, item := range items {
		o := t.object(item, true)
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
func (t treeReader) queue(o *object, name, path string, level int) queueText {
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
	o := t.object(v, true)
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
	o := t.object(v, true)
	b := bounds{Guaranteed: t.limit(o.take("guaranteed")), Max: t.limit(o.take("max"))}
	t.quotaDelay(o.take(queue.PropertyQuotaPreemptionDelay), into)
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
	if _, ok := (*into)[queue.PropertyQuotaPreemptionDelay]; ok {
		t.leaveOut(v, "the property of this name wins")
		return
	}
	if *into == nil {
		*into = make(map[string]string)
	}
	t.delayed(v)
	(*into)[queue.PropertyQuotaPreemptionDelay] = text
}

// delayed remarks on a delay in a partition that enforces no quotas.
func (t treeReader) delayed(v scenario.Value) {
	if !t.enforces {
		t.remark(v, "kept, though quotapreemptionenabled is not true in the partition")
	}
}

// limit migrates quantities by type. If all are zero, YuniKorn ignores them.
func (t treeReader) limit(v scenario.Value) map[string]string {
	fields, err := v.Fields()
	t.failed(err)
	l := make(map[string]string, len(fields))
	zero := true
	for _, f := range fields {
		text, n := t.quantity(f)
		l[f.Name()] = text
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
		t.types[f.Name()] = true
		if len(t.types) > resources.MaxTypes {
			t.fail(f, "%w: one more than %d resource types", scenario.ErrValue, resources.MaxTypes)
		}
	}
	return l
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
		if q, ok := errors.AsType[*resources.QuantityError](err); ok {
			err = q.Err // type and text are named by the place and the value
		}
		t.fail(v, "%w: quantity %w", scenario.ErrValue, err)
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
		if f.Name() == queue.PropertyQuotaPreemptionDelay {
			t.delayed(f)
		}
		kept[f.Name()] = text
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}
