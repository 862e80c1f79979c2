// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/queue"
)

// propertyDelay is the property of a queue for which a pod must wait before it preempts.
const propertyDelay = "preemption.delay"

// queuesKey is the key of a ConfigMap under which a tree of queues is.
const queuesKey = "queues.yaml"

// A system is whose queues were read.
type system struct {
	name        string
	root        queueText
	leaf        func(*pod) string // the leaf that a pod names, by its path below the root; empty: none
	application func(*pod) string // that a pod names; nil or empty: its controller
	alone       bool              // it stops only pods that are in its queues
	contested   bool              // its quotas decide in types that are contested
	fair        bool              // guarantees are fair shares
}

// A treeText is a tree of queues as the plugin of examples/kubernetes has it.
type treeText struct {
	Name       string            `json:"name"`
	Guaranteed map[string]amount `json:"guaranteed"`
	Max        map[string]amount `json:"max"`
	Properties map[string]string `json:"properties"`
	Queues     []treeText        `json:"queues"`
}

// An amount is a quantity. A number needs no quotes.
type amount string

func (a *amount) UnmarshalJSON(raw []byte) error {
	var n json.Number
	if json.Unmarshal(raw, &n) == nil && n != "" {
		*a = amount(n)
		return nil
	}
	return json.Unmarshal(raw, (*string)(a))
}

// system notes whose queues were read.
func (c *cluster) system(s system) { c.systems = append(c.systems, s) }

// readQueues reads the files of queues. Those of Kueue and Volcano may stand among the
// other objects as well.
func (c *cluster) readQueues(stdin io.Reader) (problems []error) {
	for _, file := range c.options.queues {
		in, shown, err := readText(file, stdin)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		problems = append(problems, c.takeQueueText(shown, in)...)
	}
	return problems
}

// takeQueueText takes the text of a file of queues.
func (c *cluster) takeQueueText(shown string, text []byte) (problems []error) {
	if isSlurm(text) {
		return []error{c.slurm.read(shown, string(text))}
	}
	objects, err := readObjects(text, shown)
	if err == nil && len(objects) == 0 {
		err = fmt.Errorf("%s: no objects", shown)
	}
	problems = append(problems, err)
	for i := range objects {
		problems = append(problems, c.takeQueues(&objects[i]))
	}
	return problems
}

// takeQueues takes an object of a file of queues.
func (c *cluster) takeQueues(o *object) error {
	switch {
	case o.Kind == "ConfigMap":
		return c.configMap(o)
	case o.id() == kueueConfigGroup+"/Configuration":
		c.kueue.configuration(o)
		return nil
	case o.Kind != "":
		c.open(o)
		return c.take(o)
	case isYuniKorn(o):
		return c.readYuniKorn(o)
	}
	root, err := readTree(o)
	c.tree = o.place
	c.system(system{name: "examples/kubernetes", root: root, leaf: c.labelled})
	return err
}

// isYuniKorn reports whether an object is YuniKorn's configuration.
func isYuniKorn(o *object) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(o.raw, &fields) != nil {
		return false
	}
	for name := range fields {
		if strings.EqualFold(name, "partitions") {
			return true
		}
	}
	return false
}

// configMap takes the queues that a ConfigMap holds.
func (c *cluster) configMap(o *object) error {
	v, err := decode[v1.ConfigMap](o, o.raw)
	if err != nil {
		return err
	}
	data := v.Data
	read := queuesKey
	for _, other := range []string{kueueConfigKey, volcanoConfigKey} {
		if data[read] == "" && data[other] != "" {
			read = other
		}
	}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if key != read {
			c.notes.add(name(o.Metadata.Namespace, o.Metadata.Name)+" data["+key+"]", "left out: only "+read+" is read")
		}
	}
	if data[read] == "" {
		return o.wrong("data["+read+"]", errors.New("missing"))
	}
	texts, err := split([]byte(data[read]))
	if err == nil && len(texts) != 1 {
		err = fmt.Errorf("%d documents, want one", len(texts))
	}
	if err != nil {
		return o.wrong("data["+read+"]", err)
	}
	inner := object{place: o.place + ": data[" + read + "]", raw: texts[0]}
	switch read {
	case queuesKey: // whose name is that of the root
		return c.takeQueues(&inner)
	case volcanoConfigKey:
		c.volcano.configuration(&inner)
		return nil
	}
	if err := inner.readHead(inner.raw); err != nil {
		return err
	}
	if inner.id() != kueueConfigGroup+"/Configuration" {
		return inner.wrong("kind", errors.New("want a Configuration of "+kueueConfigGroup))
	}
	c.kueue.configuration(&inner)
	return nil
}

// finishQueues makes the tree of what was read, or one queue of all if there is none.
// Nobody in Kubernetes expects a delay: that of the root is 0 unless it says otherwise.
func (c *cluster) finishQueues() error {
	c.kueue.finish(c)
	c.volcano.finish(c)
	c.slurm.finish(c)
	if err := errors.Join(c.kueue.err, c.volcano.err, c.slurm.err); err != nil {
		return err
	}
	c.root = queueText{Name: rootName}
	switch len(c.systems) {
	case 0:
		c.systems = []system{{leaf: c.labelled}}
	case 1:
		c.root = c.systems[0].root
	default:
		var names []string
		for _, s := range c.systems {
			names = append(names, s.name)
		}
		return fmt.Errorf("%d trees of queues, want one: of %s", len(names), plain.Names(names))
	}
	if c.root.Properties == nil {
		c.root.Properties = map[string]string{}
	}
	if _, ok := c.root.Properties[propertyDelay]; !ok {
		c.root.Properties[propertyDelay] = "0s"
	}
	if c.options.leaf != "" && !c.isLeaf(c.options.leaf) {
		return fmt.Errorf("-default-queue %q: no leaf of this path", c.options.leaf)
	}
	return nil
}

// readTree reads the tree of examples/kubernetes.
func readTree(o *object) (queueText, error) {
	v, err := decode[strictTree](o, o.raw)
	if err != nil {
		return queueText{}, err
	}
	root := v.text()
	if root.Name == "" {
		root.Name = rootName
	}
	return root, nil
}

// A strictTree takes no fields that it does not know.
type strictTree struct{ treeText }

func (t *strictTree) UnmarshalJSON(raw []byte) error {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.DisallowUnknownFields()
	return dec.Decode(&t.treeText)
}

// text returns a tree as a document has it.
func (t *treeText) text() queueText {
	q := queueText{Name: t.Name, Properties: t.Properties}
	if len(t.Guaranteed)+len(t.Max) > 0 {
		q.Resources = &bounds{t.Guaranteed, t.Max}
	}
	for i := range t.Queues {
		q.Queues = append(q.Queues, t.Queues[i].text())
	}
	return q
}

// isLeaf reports whether a path below the root is that of a leaf.
func (c *cluster) isLeaf(path string) bool {
	q := &c.root
	if path != "" {
		for step := range strings.SplitSeq(path, ".") {
			if q = q.child(step); q == nil {
				return false
			}
		}
	}
	return len(q.Queues) == 0
}

// others is the leaf of pods that name none, if no leaf is theirs.
const others = "without-queue"

// labelled returns the leaf that the label of a pod names, or else of its namespace.
func (c *cluster) labelled(p *pod) string {
	path := p.labels.Get(c.options.label)
	if ns := c.namespaces[p.namespace]; path == "" && ns != nil {
		path = ns.Labels[c.options.label]
	}
	return path
}

// queueOf returns the leaf of a pod.
func (c *cluster) queueOf(p *pod) string {
	if len(c.root.Queues) == 0 {
		return c.root.Name // there is one queue, whatever labels say
	}
	path := c.systems[0].leaf(p)
	if path != "" && !c.isLeaf(path) {
		c.notes.add(p.key, "there is no leaf "+path+": its queue is the default one")
		path = ""
	}
	if path == "" {
		path = c.options.leaf
	}
	if path != "" {
		return c.root.Name + "." + path
	}
	if c.root.child(others) == nil {
		q := queueText{Name: others}
		if c.systems[0].alone {
			q.Properties = map[string]string{propertyPolicy: "disabled"}
		}
		c.notes.add(p.key, "names no queue, and so do all in root."+others+", which was put in; -default-queue names another")
		c.root.Queues = append(c.root.Queues, q)
	}
	return c.root.Name + "." + others
}

// applicationOf returns what a pod belongs to.
func (c *cluster) applicationOf(p *pod) string {
	if named := c.systems[0].application; named != nil {
		return cmp.Or(named(p), p.application())
	}
	return p.application()
}

// check reads the document as examples/plan will, and builds its queues. What the
// library objects to, or warns of, gets the place that it came from.
func (c *cluster) check(text []byte) (*scenario.Document, *queue.Tree, error) {
	doc, err := scenario.Parse("the document", text)
	if err != nil {
		problems := parts(err)
		for i := range problems {
			problems[i] = c.treeError(problems[i])
		}
		return nil, nil, errors.Join(problems...)
	}
	tree, err := queue.NewLenient(doc.Schema, doc.Root.Config())
	if err != nil {
		problems := parts(err)
		for i, err := range problems {
			problems[i] = c.queueError(err)
		}
		return nil, nil, errors.Join(problems...)
	}
	for _, warning := range tree.Warnings() {
		c.notes.say(c.queueError(warning).Error())
	}
	return doc, tree, nil
}

// parts returns errors that are joined, each by itself.
func parts(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return slices.Clone(joined.Unwrap())
	}
	return []error{err}
}

// treeError returns a problem with the document at its place in the tree of
// examples/kubernetes, if it came from there.
func (c *cluster) treeError(err error) error {
	e, ok := errors.AsType[*scenario.Error](err)
	if !ok || c.tree == "" {
		return err
	}
	path, ok := strings.CutPrefix(e.Path.String(), "queues.")
	if !ok {
		return err
	}
	return fmt.Errorf("%s: %s: %s: %w", c.tree, strings.Replace(path, ".resources.", ".", 1), e.Value, e.Err)
}

// queueError returns a problem with a queue at its place in the file that it came from.
func (c *cluster) queueError(err error) error {
	text, ok := strings.CutPrefix(err.Error(), "queue: ")
	path, what, more := strings.Cut(text, ": ")
	if !ok || !more || !errors.Is(err, queue.ErrConfig) {
		return err
	}
	v, ok := c.places[path]
	if !ok { // of a tree whose reader keeps no places
		return err
	}
	e := v.Wrong(errors.New(what))
	e.Value = fmt.Sprintf("%q", path)
	return e
}
