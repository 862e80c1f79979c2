package queue

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/resources"
)

// A Template is what a queue has in store for the leaves that [Config.Add] makes
// below it at run time: what such a leaf does not set itself, it takes from the
// nearest template above. YuniKorn calls it a child template.
//
// Guaranteed and Max fill up type by type, Properties name by name. Queues that
// are part of the configuration take nothing from it, nor do queues with
// children: a guarantee or a priority offset would count there and once more in
// every leaf.
type Template struct {
	Guaranteed resources.Limit
	Max        resources.Limit
	Properties map[string]string
}

// ErrNoQueue is what [Config.Add] reports for a path that leads nowhere.
var ErrNoQueue = errors.New("no such queue")

// Add makes queues at run time, as for the first task of a user. It puts a copy
// of q, and of the queues below it, last among the children of the queue with the
// given path. c is the root, and the path begins with its name. Afterwards make a
// new tree of c with [New], and take the usage over with a [Move].
//
// The new queues are dynamic. Leaves among them take what they do not set from the
// nearest template above, which may be that of another new queue. They get copies:
// a change of the template leaves them alone.
//
// A path that leads nowhere, and a name that a sibling has, are errors, each a
// [*Problem], and then nothing changes. All else is checked by New. The cost is
// linear in the queues along the path, their siblings, and q.
func (c *Config) Add(path string, q Config) error {
	parent, template := c.find(path)
	if parent == nil {
		return &Problem{Queue: path, Err: ErrNoQueue}
	}
	if slices.ContainsFunc(parent.Children, func(sibling Config) bool { return sibling.Name == q.Name }) {
		return &Problem{Queue: path, Err: fmt.Errorf("%w: more than one child named %q", ErrName, q.Name)}
	}
	parent.Children = append(slices.Clip(parent.Children), madeAtRunTime(q, template))
	return nil
}

// find returns the queue of a path and the nearest template at it or above, each
// nil if there is none.
func (c *Config) find(path string) (q *Config, template *Template) {
	name, rest, more := strings.Cut(path, ".")
	if name != c.Name {
		return nil, nil
	}
	q, template = c, c.Template
	for more {
		name, rest, more = strings.Cut(rest, ".")
		i := slices.IndexFunc(q.Children, func(child Config) bool { return child.Name == name })
		if i < 0 {
			return nil, nil
		}
		if q = &q.Children[i]; q.Template != nil {
			template = q.Template
		}
	}
	return q, template
}

// madeAtRunTime returns a copy of a queue and of those below it, as they are below
// the given template, which may be nil.
func madeAtRunTime(q Config, template *Template) Config {
	q.Dynamic = true
	q.Guaranteed = copyOfLimit(q.Guaranteed)
	q.Max = copyOfLimit(q.Max)
	q.Properties = maps.Clone(q.Properties)
	if q.Template != nil {
		template = q.Template
	}
	if len(q.Children) == 0 && template != nil {
		q.Guaranteed = resources.Merge(resources.Limit{}, q.Guaranteed, template.Guaranteed)
		q.Max = resources.Merge(resources.Limit{}, q.Max, template.Max)
		if properties := maps.Clone(template.Properties); properties != nil {
			maps.Copy(properties, q.Properties)
			q.Properties = properties
		}
	}
	q.Children = slices.Clone(q.Children)
	for i, child := range q.Children {
		q.Children[i] = madeAtRunTime(child, template)
	}
	return q
}

func copyOfLimit(l resources.Limit) resources.Limit {
	return resources.Limit{Value: slices.Clone(l.Value), Defined: l.Defined}
}

// checkTemplate reports what is wrong with the template of q, the current queue,
// by itself: New does not know which queues will be made of it.
func (b *builder) checkTemplate(q ID, c *Template) {
	for _, err := range badBounds(b.tree.schema, promise{"", c.Guaranteed, c.Max}) {
		b.problem(fmt.Errorf("template: %w", err))
	}
	// The policies above do not matter, for all that is asked is what can be read.
	new(policies).parse(c.Properties, &policies{}, func(err error) { b.warn(q, fmt.Errorf("template: %w", err)) })
}
