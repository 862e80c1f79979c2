// SPDX-License-Identifier: Apache-2.0

package preemptqueues

import (
	"fmt"
	"math"
	"strings"

	"github.com/go-preempt/preempt/resources"
)

// deal gives the queues below n their bounds, within those of n, and goes on below them.
func (a *Assembly) deal(n *node) {
	for _, child := range n.children {
		if c := child.claim; c != nil {
			child.max = within(c.max, n.max)
		}
	}
	for i := range a.Schema.Len() {
		a.dealType(n, i)
	}
	for _, child := range n.children {
		a.deal(child)
	}
}

// within returns a limit with no bound above that of another one.
func within(l, most resources.Limit) resources.Limit {
	w := resources.Tighten(resources.Limit{}, l, most)
	w.Defined &= l.Defined
	return w
}

// dealType gives the children of n, which come in the order of their rights, what they are
// guaranteed of a type: what is in force first.
func (a *Assembly) dealType(n *node, i int) {
	rest, bounded := n.guaranteed.Bound(i)
	own := bounded // n guarantees some itself
	if !bounded {
		rest, bounded = n.max.Bound(i)
	}
	if !bounded {
		rest = math.MaxInt64
	}
	for _, child := range n.children {
		if child.claim == nil {
			g, _ := child.guaranteed.Bound(i)
			rest -= g // never below 0: the arguments are strict
		}
	}
	got := make([]int64, len(n.children))
	for _, inForce := range []bool{true, false} {
		for j, child := range n.children {
			want, ok := child.wants(i)
			if !ok || !own && child.claim.object.Namespace != a.Namespace {
				continue // a delegated queue divides what its parent has
			}
			if inForce {
				want = min(want, a.inForce(child, i))
			}
			more := min(want-got[j], rest)
			got[j] += more
			if bounded {
				rest -= more
			}
		}
	}
	for j, child := range n.children {
		if want, ok := child.wants(i); ok && (got[j] > 0 || want == 0) {
			child.guaranteed = bounding(child.guaranteed, i, got[j], a.Schema.Len())
		}
	}
}

// bounding returns a limit with one more bound.
func bounding(l resources.Limit, i int, bound int64, types int) resources.Limit {
	if l.Value == nil {
		l.Value = make(resources.Vector, types)
	}
	l.Value[i] = bound
	l.Defined |= 1 << i
	return l
}

// wants returns what a child that is an object would have guaranteed of a type.
func (n *node) wants(i int) (int64, bool) {
	if n.claim == nil {
		return 0, false
	}
	return n.claim.guaranteed.Bound(i)
}

// inForce returns what a child is guaranteed of a type so far.
func (a *Assembly) inForce(n *node, i int) int64 {
	if !n.claim.isAt(n.path) {
		return 0
	}
	name := a.Schema.Name(i)
	amount, err := resources.ParseQuantity(name, n.claim.object.Status.Guaranteed[name])
	if err != nil {
		return 0 // nothing, or what a hand has written
	}
	return max(0, amount)
}

// verdict says what became of a claim.
func (a *Assembly) verdict(c *claim) Verdict {
	v := Verdict{Object: c.object, Reason: ReasonAsSpecified}
	if c.problem != nil {
		v.Reason, v.Message = ReasonRefused, c.problem.Error()
	}
	if c.at == nil {
		v.Message += ". The object is no queue"
		return v
	}
	v.Queue, v.Spec, v.Guaranteed, v.Max = c.at.path, c.spec, c.at.guaranteed, c.at.max
	if c.problem != nil {
		v.Message += ". The queue stays as it was"
		return v
	}
	var cut []string
	for i := range a.Schema.Len() {
		name := a.Schema.Name(i)
		if want, ok := c.guaranteed.Bound(i); ok {
			if got, _ := v.Guaranteed.Bound(i); got < want {
				cut = append(cut, fmt.Sprintf("guaranteed %s: %s of %s", name, resources.FormatQuantity(name, got), resources.FormatQuantity(name, want)))
			}
		}
		if want, ok := c.max.Bound(i); ok {
			if got, _ := v.Max.Bound(i); got < want {
				cut = append(cut, fmt.Sprintf("max %s: %s of %s", name, resources.FormatQuantity(name, got), resources.FormatQuantity(name, want)))
			}
		}
	}
	if len(cut) > 0 {
		v.Reason, v.Message = ReasonExceedsParent, "The parent has no more: "+strings.Join(cut, ", ")
	}
	return v
}
