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

// placings returns for each ask and each node, in this order, the question whether the
// ask may run there without all running tasks of the node.
func placings(c *victims.Cluster, asks []victims.Ask, now time.Time) (all []victims.Question) {
	for i := range asks {
		for n := range c.Nodes() {
			q := *lent.To(new(victims.Options)).Question(c, &asks[i], now)
			q.Node, q.AfterVictims = n, true
			for id := range c.TasksOn(n) {
				if c.Task(id).State == victims.Running {
					q.Victims = append(q.Victims, id)
				}
			}
			all = append(all, q)
		}
	}
	return all
}

// testPredicate: the order of victims does not matter, and a predicate refuses every part of
// what it refuses. It is asked about all parts of up to six victims; of more about all, all
// but one, each one and none. The cost is O(n³) per question.
func testPredicate(predicate func(p *victims.Question) bool, placings []victims.Question) error {
	for i := range placings {
		x := inquiry{predicate: predicate, q: &placings[i]}
		if err := x.test(); err != nil {
			return fmt.Errorf("preempttest: predicate: %w", err)
		}
	}
	return nil
}

// An inquiry is one question, about several parts of its victims.
type inquiry struct {
	predicate func(*victims.Question) bool
	q         *victims.Question
	parts     [][]victims.TaskID
	accepted  []bool
	given     []*victims.Question // to the predicate so far
}

func (x *inquiry) test() error {
	x.parts = partsOf(x.q.Victims)
	x.accepted = make([]bool, len(x.parts))
	for i, part := range x.parts {
		yes, err := x.ask(part)
		if err != nil {
			return err
		}
		x.accepted[i] = yes
	}
	if err := x.again(errUnsteady); err != nil {
		return err
	}
	for _, p := range x.given { // the planner would use this memory again
		for i := range p.Victims {
			p.Victims[i] = -1
		}
		p.Node = 0
	}
	if err := x.again(errKeeps); err != nil {
		return err
	}
	return x.monotone()
}

// again asks about all parts from the last to the first, each in both orders.
// Another answer breaks the contract.
func (x *inquiry) again(contract error) error {
	for i, part := range slices.Backward(x.parts) {
		turned := slices.Clone(part)
		slices.Reverse(turned)
		for _, ids := range [][]victims.TaskID{part, turned} {
			yes, err := x.ask(ids)
			if err != nil {
				return err
			}
			if yes != x.accepted[i] {
				return fmt.Errorf("%w: %s: %t, and then %t", contract, x.name(ids), x.accepted[i], yes)
			}
		}
	}
	return nil
}

// ask asks about some victims, with copies of all that could be written to.
func (x *inquiry) ask(ids []victims.TaskID) (bool, error) {
	ask := cloneAsk(x.q.Ask)
	given := *lent.To(new(victims.Options)).Question(x.q.Cluster, &ask, x.q.Now)
	given.Node, given.Victims, given.AfterVictims = x.q.Node, slices.Clone(ids), x.q.AfterVictims
	before := given
	yes := x.predicate(&given)
	before.Victims = ids
	if given.Ask != &ask || !reflect.DeepEqual(ask, *x.q.Ask) || !samePlacing(&given, &before) {
		return false, fmt.Errorf("%w: %s", errWrites, x.name(ids))
	}
	x.given = append(x.given, &given)
	return yes, nil
}

// monotone compares every two parts of which one contains the other.
func (x *inquiry) monotone() error {
	for i, whole := range x.parts {
		for j, part := range x.parts {
			if !x.accepted[i] && x.accepted[j] && contains(whole, part) {
				return fmt.Errorf("%w: %s is refused, and not victims %v", errRefusal, x.name(whole), part)
			}
		}
	}
	return nil
}

func samePlacing(a, b *victims.Question) bool {
	return a.Node == b.Node && a.AfterVictims == b.AfterVictims && slices.Equal(a.Victims, b.Victims)
}

func (x *inquiry) name(ids []victims.TaskID) string {
	return fmt.Sprintf("ask %q on node %d with victims %v", x.q.Ask.Key, x.q.Node, ids)
}

// partsOf returns parts of a set; see testPredicate.
func partsOf(all []victims.TaskID) (parts [][]victims.TaskID) {
	const few = 6
	if len(all) <= few {
		for mask := range 1 << len(all) {
			var part []victims.TaskID
			for i, id := range all {
				if mask>>i&1 == 1 {
					part = append(part, id)
				}
			}
			parts = append(parts, part)
		}
		return parts
	}
	parts = [][]victims.TaskID{nil, all}
	for i := range all {
		parts = append(parts, all[i:i+1], slices.Concat(all[:i], all[i+1:]))
	}
	return parts
}

// contains reports whether part is a part of whole, both in the same order.
func contains(whole, part []victims.TaskID) bool {
	for _, id := range whole {
		if len(part) > 0 && part[0] == id {
			part = part[1:]
		}
	}
	return len(part) == 0
}
