// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A setup is what arguments mean.
type setup struct {
	args    *Args
	root    queue.Config // of the tree
	tree    *queue.Tree
	def     queue.ID // the leaf of pods that name none
	ownLeaf queue.WithinQueue
	scarce  *resources.Mask // that the arguments list; nil: they have a word
	maxes   bool            // some queue has a max
	plain   bool            // there is one queue, in which a pod may take from lower priorities
}

// check works out what arguments mean. The error tells every mistake at once.
func (a *Args) check() (*setup, error) {
	mistakes := a.checkScalars()
	schema, err := resources.NewSchema(a.Resources...)
	if err != nil {
		return nil, a.wrong(append(mistakes, fmt.Errorf("resources: %w", err)))
	}
	root, wrong := a.Root.config(schema, a.Root.Name)
	withoutDelay(&root)
	return a.setup(schema, root, append(mistakes, wrong...))
}

// setup works out what arguments mean with some queues. The error tells the mistakes that
// were found before as well.
func (a *Args) setup(schema *resources.Schema, root queue.Config, mistakes []error) (*setup, error) {
	s := &setup{args: a, root: root, ownLeaf: cmp.Or(queue.WithinQueue(a.OwnLeaf), queue.Never)}
	var err error
	if s.scarce, err = a.Scarce.mask(schema); err != nil {
		mistakes = append(mistakes, err)
	}
	if s.tree, err = queue.New(schema, root); err != nil {
		return nil, a.wrong(append(mistakes, err))
	}
	if s.def, err = s.leaf(a.DefaultQueue); err != nil {
		mistakes = append(mistakes, fmt.Errorf("defaultQueue: %w", err))
	}
	if err := a.wrong(mistakes); err != nil {
		return nil, err
	}
	s.plain = s.isPlain()
	for q := range queue.ID(s.tree.Len()) {
		s.maxes = s.maxes || s.tree.Max(q).Defined != 0
	}
	return s, nil
}

// isPlain reports whether there is one queue, in which a pod may take from lower priorities:
// what the queue says counts before the argument.
func (s *setup) isPlain() bool {
	if within := s.tree.Policies(queue.Root).WithinQueue; within != "" {
		return s.tree.IsLeaf(queue.Root) && within != queue.Never
	}
	return s.tree.IsLeaf(queue.Root) && s.ownLeaf != queue.Never
}

// checkScalars returns what is wrong with single values.
func (a *Args) checkScalars() (mistakes []error) {
	one := func(name, value string, of ...string) {
		if !slices.Contains(of, value) {
			mistakes = append(mistakes, fmt.Errorf("%s: %q is none of %q", name, value, of))
		}
	}
	one("queueFrom", a.QueueFrom, FromPod, FromNamespace)
	one("disruptionBudgets", a.DisruptionBudgets, BudgetsSoft, BudgetsHard, BudgetsIgnore)
	if a.OwnLeaf == "any" {
		mistakes = append(mistakes, errors.New("ownLeaf: any is gone, for it let pods replace each other for ever: use met"))
	} else {
		one("ownLeaf", a.OwnLeaf, string(queue.Never), string(queue.Met), string(queue.Branch))
	}
	if ns, name, ok := strings.Cut(a.QueuesConfigMap, "/"); a.QueuesConfigMap != "" && (!ok || ns == "" || name == "") {
		mistakes = append(mistakes, fmt.Errorf("queuesConfigMap: %q is no namespace/name", a.QueuesConfigMap))
	}
	if a.QueuesNamespace != "" && a.QueuesConfigMap != "" {
		mistakes = append(mistakes, errors.New("queuesNamespace and queuesConfigMap: queues are objects or in a file, not both"))
	}
	if a.QueuesNamespace != "" && a.DefaultQueue == "" {
		mistakes = append(mistakes, errors.New("queuesNamespace: name a defaultQueue, which root has: the root is no leaf if there are objects"))
	}
	if a.QueueLabel == "" {
		mistakes = append(mistakes, errors.New("queueLabel: empty"))
	}
	if a.GrantDeadline.Duration <= 0 {
		mistakes = append(mistakes, fmt.Errorf("grantDeadline: %v is not above zero", a.GrantDeadline.Duration))
	}
	if a.NodePatience.Duration < 0 {
		mistakes = append(mistakes, fmt.Errorf("nodePatience: %v is below zero", a.NodePatience.Duration))
	}
	if a.Budget < 0 {
		mistakes = append(mistakes, fmt.Errorf("budget: %d is below zero", a.Budget))
	}
	return mistakes
}

// wrong joins mistakes, if there are any.
func (a *Args) wrong(mistakes []error) error {
	if err := errors.Join(mistakes...); err != nil {
		return fmt.Errorf("%s: arguments: %w", Name, err)
	}
	return nil
}

// config returns a queue and those below it as the library wants them, and what is
// wrong with their amounts.
func (q *Queue) config(schema *resources.Schema, path string) (queue.Config, []error) {
	var mistakes []error
	limit := func(what string, amounts map[string]Amount) resources.Limit {
		bounds := make(map[string]string, len(amounts))
		for name, a := range amounts {
			bounds[name] = string(a)
		}
		l, err := schema.Limit(bounds)
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("queue %s: %s: %w", path, what, err))
		}
		return l
	}
	c := queue.Config{
		Name: q.Name, Properties: maps.Clone(q.Properties),
		Guaranteed: limit("guaranteed", q.Guaranteed), Max: limit("max", q.Max),
	}
	for i := range q.Queues {
		child, wrong := q.Queues[i].config(schema, path+"."+q.Queues[i].Name)
		c.Children = append(c.Children, child)
		mistakes = append(mistakes, wrong...)
	}
	return c, mistakes
}

// withoutDelay sets the preemption delay of the root to 0, if it sets none: nobody
// in Kubernetes expects one.
func withoutDelay(root *queue.Config) {
	if _, ok := root.Properties["preemption.delay"]; ok {
		return
	}
	root.Policies.PreemptionDelay = new(time.Duration)
}

// leaf returns the leaf of a path below the root.
func (s *setup) leaf(path string) (queue.ID, error) {
	full := s.tree.Path(queue.Root)
	if path != "" {
		full += "." + path
	}
	id, ok := s.tree.Lookup(full)
	if !ok {
		return 0, fmt.Errorf("there is no queue %q", full)
	}
	if !s.tree.IsLeaf(id) {
		return 0, fmt.Errorf("queue %q is no leaf", full)
	}
	return id, nil
}

// leafOf returns the leaf that a path names, or else the one for pods that name none.
func (s *setup) leafOf(path string) queue.ID {
	if path != "" {
		if id, err := s.leaf(path); err == nil {
			return id
		}
	}
	return s.def
}
