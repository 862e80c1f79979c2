// SPDX-License-Identifier: Apache-2.0

package preempttest

import (
	"cmp"
	"fmt"
	"reflect"

	"github.com/go-preempt/preempt/victims"
)

// TestOrder tests that a CompareTasks of package quota is a strict weak order, which is 0 for equal tasks. Give it few
// tasks that differ in much: equal ones, extreme ones, ones that differ in one field. The cost is O(n²).
func TestOrder(order func(a, b *victims.Task) int, tasks []victims.Task) error {
	c := comparison[victims.Task]{
		what: "order", compare: order, inputs: tasks, clone: cloneTask,
		name: func(i int) string { return fmt.Sprintf("tasks[%d] %q", i, tasks[i].Key) },
	}
	return c.test()
}

// A comparison is a function that compares, and what to ask it about.
type comparison[T any] struct {
	what    string
	compare func(a, b *T) int
	inputs  []T
	clone   func(*T) T
	name    func(i int) string

	signs []int // by place of a and place of b
}

func (c *comparison[T]) sign(a, b int) int { return c.signs[a*len(c.inputs)+b] }

// broken returns the error that a contract is broken.
func (c *comparison[T]) broken(contract error, format string, args ...any) error {
	return fmt.Errorf("preempttest: %s: %w: %s", c.what, contract, fmt.Sprintf(format, args...))
}

// test asks about every pair twice, the second time from the last pair to the
// first, and then looks at all answers together.
func (c *comparison[T]) test() error {
	n := len(c.inputs)
	c.signs = make([]int, n*n)
	for p := range c.signs {
		s, err := c.ask(p/n, p%n)
		if err != nil {
			return err
		}
		c.signs[p] = s
	}
	for p := n*n - 1; p >= 0; p-- {
		s, err := c.ask(p/n, p%n)
		if err != nil {
			return err
		}
		if s != c.signs[p] {
			return c.broken(errUnsteady, "%s against %s is %d, and then %d", c.name(p/n), c.name(p%n), c.signs[p], s)
		}
	}
	return c.laws()
}

// ask returns the sign of one comparison, of copies of the inputs.
func (c *comparison[T]) ask(a, b int) (int, error) {
	x, y := c.clone(&c.inputs[a]), c.clone(&c.inputs[b])
	s := cmp.Compare(c.compare(&x, &y), 0)
	for _, side := range []struct {
		at  int
		now T
	}{{a, x}, {b, y}} {
		if !reflect.DeepEqual(side.now, c.inputs[side.at]) {
			return 0, c.broken(errWrites, "%s, compared with %s", c.name(side.at), c.name(a+b-side.at))
		}
	}
	return s, nil
}

// laws checks the laws of a strict weak order.
//
// The rank of an input is how many are before it. In a strict weak order ranks
// compare as the inputs do, and whatever compares as ranks do is such an order;
// so pairs suffice, and a third input is looked for only to name it.
func (c *comparison[T]) laws() error {
	n := len(c.inputs)
	rank := make([]int, n)
	for a := range n {
		for b := range n {
			s := c.sign(a, b)
			switch {
			case s != 0 && reflect.DeepEqual(c.inputs[a], c.inputs[b]):
				return c.broken(errEqual, "%s against %s is %d", c.name(a), c.name(b), s)
			case s != -c.sign(b, a):
				return c.broken(errBothWays, "%s against %s is %d, the other way round %d", c.name(a), c.name(b), s, c.sign(b, a))
			case s > 0:
				rank[a]++
			}
		}
	}
	for a := range n {
		for b := range n {
			if s := c.sign(a, b); s <= 0 && s != cmp.Compare(rank[a], rank[b]) {
				return c.triple(a, b)
			}
		}
	}
	return nil
}

// triple names the input that shows that a, which is before b or ties with it,
// does not have the rank of that. At least one is before the one of them that
// should not be behind the other, and not before the other.
func (c *comparison[T]) triple(a, b int) error {
	for k := range c.inputs {
		for _, pair := range [][2]int{{a, b}, {b, a}} {
			x, y := pair[0], pair[1]
			if c.sign(k, x) < 0 && c.sign(x, y) <= 0 && c.sign(k, y) >= 0 {
				return c.broken(errTransitive, "%s against %s is -1, %s against %s is %d, and %s against %s is %d",
					c.name(k), c.name(x), c.name(x), c.name(y), c.sign(x, y), c.name(k), c.name(y), c.sign(k, y))
			}
		}
	}
	panic("unreachable: ranks differ from the order, and no third input shows why")
}
