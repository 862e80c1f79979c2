// SPDX-License-Identifier: Apache-2.0

package preempttest

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/victims"
)

// testFilter asks about each ask on each node: a filter answers the same when asked again.
func testFilter(filter func(q *victims.Question) bool, c *victims.Cluster, asks []victims.Ask, now time.Time) error {
	ask := func(a *victims.Ask, n victims.NodeID) bool { return filter(about(c, a, n, now)) }
	x := survey[bool]{cluster: c, ask: ask, equal: func(a, b bool) bool { return a == b }}
	if err := x.test(asks); err != nil {
		return fmt.Errorf("preempttest: filter: %w", err)
	}
	return nil
}

// testBlockers asks about each ask on each node: the function appends, names tasks or grants
// of the node only, answers the same when asked again, and keeps no memory.
func testBlockers(blockers func(dst []victims.TaskID, q *victims.Question) []victims.TaskID,
	c *victims.Cluster, asks []victims.Ask, now time.Time) error {
	var broken error
	ask := func(a *victims.Ask, n victims.NodeID) []victims.TaskID {
		named, err := appended(blockers, about(c, a, n, now))
		if err == nil {
			err = onNode(c, n, named)
		}
		if broken == nil && err != nil {
			broken = fmt.Errorf("%w: %s", err, nameOf(c, a, n))
		}
		slices.Sort(named)
		return slices.Compact(named)
	}
	x := survey[[]victims.TaskID]{cluster: c, ask: ask, equal: slices.Equal[[]victims.TaskID]}
	err := x.test(asks)
	if broken != nil {
		err = broken
	}
	if err != nil {
		return fmt.Errorf("preempttest: blockers: %w", err)
	}
	return nil
}

// appended has a function append to three IDs, and returns a copy of what came
// after them. It spoils the memory after that, as a planner does that uses it
// again.
func appended(blockers func([]victims.TaskID, *victims.Question) []victims.TaskID,
	q *victims.Question) ([]victims.TaskID, error) {
	before := []victims.TaskID{3, 1, 2}
	dst := append(make([]victims.TaskID, 0, 64), before...)
	all := blockers(dst, q)
	if len(all) < len(before) || !slices.Equal(all[:len(before)], before) {
		return nil, errAppend
	}
	named := slices.Clone(all[len(before):])
	for i := range all {
		all[i] = -1
	}
	return named, nil
}

// about returns the question about an ask on a node.
func about(c *victims.Cluster, a *victims.Ask, n victims.NodeID, now time.Time) *victims.Question {
	q := lent.To(new(victims.Options)).Question(c, a, now)
	q.Node = n
	return q
}

// onNode tests that IDs are those of tasks and grants on a node.
func onNode(c *victims.Cluster, n victims.NodeID, ids []victims.TaskID) error {
	there := slices.Collect(c.TasksOn(n))
	for _, id := range ids {
		if !slices.Contains(there, id) {
			return fmt.Errorf("%w: %d", errElsewhere, id)
		}
	}
	return nil
}

// A survey asks a function about each ask on each node, twice.
type survey[T any] struct {
	cluster *victims.Cluster
	ask     func(*victims.Ask, victims.NodeID) T
	equal   func(a, b T) bool
	given   []*victims.Ask // so far
}

func (x *survey[T]) test(asks []victims.Ask) error {
	nodes := slices.Collect(x.cluster.Nodes())
	first := make([]T, 0, len(asks)*len(nodes))
	for i := range asks {
		for _, n := range nodes {
			said, err := x.one(&asks[i], n)
			if err != nil {
				return err
			}
			first = append(first, said)
		}
	}
	for _, broken := range []error{errUnsteady, errKeeps} {
		for i, want := range slices.Backward(first) {
			a, n := &asks[i/len(nodes)], nodes[i%len(nodes)]
			said, err := x.one(a, n)
			if err != nil {
				return err
			}
			if !x.equal(said, want) {
				return fmt.Errorf("%w: %s: %v, and then %v", broken, nameOf(x.cluster, a, n), want, said)
			}
		}
		for _, a := range x.given { // the caller would use this memory again
			*a = victims.Ask{Key: "another", Application: "another", Priority: -1}
		}
	}
	return nil
}

// one asks with a copy of the ask.
func (x *survey[T]) one(a *victims.Ask, n victims.NodeID) (said T, err error) {
	ask, version := cloneAsk(a), x.cluster.Version()
	said = x.ask(&ask, n)
	if !reflect.DeepEqual(ask, *a) || x.cluster.Version() != version {
		return said, fmt.Errorf("%w: %s", errWrites, nameOf(x.cluster, a, n))
	}
	x.given = append(x.given, &ask)
	return said, nil
}

func nameOf(c *victims.Cluster, a *victims.Ask, n victims.NodeID) string {
	return fmt.Sprintf("ask %q on node %q", a.Key, c.Node(n).Name)
}
