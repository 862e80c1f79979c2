// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/sat"
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/resources"
)

// A Config describes a queue and those below it.
type Config struct {
	Name       string // without a dot; unique among siblings
	Guaranteed resources.Limit
	Max        resources.Limit
	Policies   Policies
	// Properties say the same as Policies with YuniKorn's names, for configurations that
	// are imported; others are ignored. To say one thing in both is an error.
	//
	//	preemption.policy       default, fence or disabled
	//	preemption.delay        a Go duration, 0 or above
	//	preemption.own-leaf     never, met or branch, which YuniKorn lacks
	//	priority.policy         default or fence
	//	priority.offset         an int32
	//	quota.preemption.delay  a Go duration or bare seconds; 0 is off
	//	preemption.quota.delay  the same, as YuniKorn 1.8 calls it; the first wins
	//	fair.weight             an integer from 1 to 2147483647, which YuniKorn lacks
	Properties map[string]string
	// Template has what leaves that [Config.Add] makes below the queue do not set
	// themselves: bounds by type, policies and properties one by one. The nearest template
	// counts, and the rest of it does not. It is YuniKorn's child template.
	Template *Config
	Children []Config
}

// Validation says how strictly [New] reads bounds, policies and properties.
type Validation uint8

const (
	// Lenient accepts over-committed bounds, bad values and misspelt properties with a
	// warning. All laws hold. A bad value counts as unset, a bad preemption delay as 30 s.
	Lenient Validation = iota
	// Strict makes them errors.
	Strict
)

// The kinds of problems with bounds and properties.
var (
	ErrType          = errors.New("not a type")           // a bound of a type that the schema does not have
	ErrNegative      = errors.New("negative bound")       // guaranteed cpu=-1
	ErrAboveMax      = errors.New("guaranteed above max") // guaranteed cpu=2 max cpu=1, in one queue
	ErrProperty      = errors.New("bad property")         // preemption.polcy, or preemption.delay "soon"
	ErrOverCommitted = errors.New("over-committed")       // children of cpu=2 are guaranteed 1 and 2
)

// Kinds of problems that no caller has to tell apart.
var (
	errName    = errors.New("bad name")        // "", "a.b", two children of one name
	errDepth   = errors.New("too deep")        // level 65
	errCount   = errors.New("too many queues") // more than an ID can number
	errNoQueue = errors.New("no such queue")   // a path of Config.Add
	errPolicy  = errors.New("bad policy")
	errTwice   = errors.New("said twice") // by a policy and a property

	// errNoEffect: a quota preemption delay in a fence, which plays no part when a max
	// is enforced.
	errNoEffect = errors.New("no effect")
	// errNeverPreempts: a fence with a guarantee above queues without any. An ask
	// below may take neither from outside the fence nor from inside the needy queue,
	// which is the same.
	errNeverPreempts = errors.New("can never preempt inside itself")
)

// A Problem is something wrong with one queue.
type Problem struct {
	Queue string // the path of the queue
	Err   error  // names type and amounts
}

func (p *Problem) Error() string { return fmt.Sprintf("queue: %s: %v", plain.Name(p.Queue), p.Err) }

// Unwrap returns what is wrong, without the queue.
func (p *Problem) Unwrap() error { return p.Err }

// New builds a tree from a copy of its configuration.
//
// Errors, of templates too, are bad names, more than [MaxDepth] levels, bounds that are
// negative or of an unknown type, a guarantee above the queue's own max, and one thing
// that a policy and a property say. A child's max above its parent's, children's guarantees
// that sum over the parent's guarantee or max, bad values of policies and properties, and
// unknown properties with a prefix of ours (preemption., priority., quota.preemption.,
// fair.) are errors if [Strict] and else warnings. A nil schema panics. The cost is
// queues·types.
func New(schema *resources.Schema, root Config, mode Validation) (*Tree, error) {
	if schema == nil {
		panic("queue: New without a Schema (nil): see resources.NewSchema")
	}
	b := builder{
		tree: &Tree{schema: schema, strict: mode == Strict},
		most: math.MaxInt32,
	}
	return b.build(&root)
}

// builder walks a configuration in preorder.
type builder struct {
	tree     *Tree
	most     int      // how many queues an ID can number
	full     bool     // there are more
	path     []string // names from the root to the current queue
	problems []error
	warnings []warning
}

// A warning is a problem that New accepts, and the queue that has it.
type warning struct {
	at  ID
	err error
}

func (b *builder) build(root *Config) (*Tree, error) {
	b.add(root, Root, nil)
	if err := errors.Join(b.problems...); err != nil {
		return nil, err
	}
	t := b.tree
	t.usage = make([]int64, t.Len()*t.schema.Len())
	t.preempting = make([]int64, t.Len()*t.schema.Len())
	b.warnOfCages()
	slices.SortStableFunc(b.warnings, func(x, y warning) int { return cmp.Compare(x.at, y.at) })
	for _, w := range b.warnings {
		t.warnings = append(t.warnings, w.err)
	}
	return t, nil
}

// add appends c and the queues below it. The policies of the queue above are nil for
// the root.
func (b *builder) add(c *Config, parent ID, above *resolved) {
	b.path = append(b.path, c.Name)
	defer func() { b.path = b.path[:len(b.path)-1] }()

	b.checkName(c.Name)
	if !b.hasRoom() {
		return
	}
	t := b.tree
	q := ID(t.Len())
	t.names = append(t.names, c.Name)
	t.paths = append(t.paths, strings.Join(b.path, "."))
	t.parents = append(t.parents, parent)
	t.depths = append(t.depths, int32(len(b.path)-1))
	t.ends = append(t.ends, 0) // known once the subtree is done

	p := c.policies(b.bad(q, ""), b.problem).below(q, above)
	t.policies = append(t.policies, p)
	if p.Preemption == Fence && *p.QuotaDelay > 0 {
		b.warn(q, fmt.Errorf("%w: the %s fence, when the max is enforced (%s %v)",
			errNoEffect, propertyPreemptionPolicy, propertyQuotaPreemptionDelay, *p.QuotaDelay))
	}

	b.addBounds(q, c)
	if c.Template != nil {
		b.checkTemplate(q, c.Template)
	}
	b.checkSiblings(c.Children)
	for i := range c.Children {
		b.add(&c.Children[i], q, &p)
	}
	t.ends[q] = ID(t.Len())
}

// hasRoom reports whether the current queue has a place in the tree. Those
// below a queue that has none are not looked at: they have the same problem.
func (b *builder) hasRoom() bool {
	switch {
	case len(b.path) > MaxDepth:
		b.problem(fmt.Errorf("%w: more than %d levels", errDepth, MaxDepth))
		return false
	case b.tree.Len() == b.most:
		if !b.full { // once is enough, there may be billions
			b.full = true
			b.problem(fmt.Errorf("%w: more than %d", errCount, b.most))
		}
		return false
	}
	return true
}

// addBounds appends the bounds of q, the current queue, and checks them.
func (b *builder) addBounds(q ID, c *Config) {
	t := b.tree
	own := promise{c.Name, c.Guaranteed, c.Max}
	t.guaranteed.append(t.schema, own.guaranteed)
	t.max.append(t.schema, own.max)
	for _, err := range badBounds(t.schema, own) {
		b.problem(err)
	}
	children := make([]promise, len(c.Children))
	for i, child := range c.Children {
		children[i] = promise{child.Name, child.Guaranteed, child.Max}
	}
	for _, err := range overCommitted(t.schema, own, children) {
		if t.strict {
			b.problem(err)
		} else {
			b.warn(q, err)
		}
	}
}

func (b *builder) checkName(name string) {
	switch {
	case name == "":
		b.problem(fmt.Errorf("%w: empty", errName))
	case strings.Contains(name, "."):
		b.problem(fmt.Errorf("%w: %q contains a dot", errName, name))
	}
}

func (b *builder) checkSiblings(children []Config) {
	count := make(map[string]int, len(children))
	for i := range children {
		name := children[i].Name
		if count[name]++; count[name] == 2 {
			b.problem(fmt.Errorf("%w: more than one child named %q", errName, name))
		}
	}
}

func (b *builder) problem(err error) { b.problems = append(b.problems, b.here(err)) }

func (b *builder) warn(q ID, err error) { b.warnings = append(b.warnings, warning{q, b.here(err)}) }

// bad returns who is told of bad values of policies and properties of the current queue q,
// and of misspelt ones.
func (b *builder) bad(q ID, of string) func(error) {
	return func(err error) {
		if of != "" {
			err = fmt.Errorf("%s%w", of, err)
		}
		if b.tree.strict {
			b.problem(err)
		} else {
			b.warn(q, err)
		}
	}
}

// here returns err as a problem of the current queue.
func (b *builder) here(err error) error {
	return &Problem{Queue: strings.Join(b.path, "."), Err: err}
}

// A promise is what one queue is guaranteed and what it may use at most.
type promise struct {
	name            string
	guaranteed, max resources.Limit
}

// badBounds returns what is wrong with the bounds of one queue by themselves.
func badBounds(s *resources.Schema, p promise) (problems []error) {
	for _, b := range []struct {
		name  string
		limit resources.Limit
	}{{"guaranteed", p.guaranteed}, {"max", p.max}} {
		for i := range b.limit.Defined.All() {
			v, _ := b.limit.Bound(i)
			switch {
			case i >= s.Len():
				problems = append(problems, fmt.Errorf("%w: %s of type %d of %d", ErrType, b.name, i, s.Len()))
			case v < 0:
				problems = append(problems, fmt.Errorf("%w: %s %s %s", ErrNegative, b.name, s.Name(i), vectors.Text(s, i, v)))
			}
		}
	}
	for i := range s.Len() {
		g, hasG := sound(p.guaranteed, i)
		m, hasM := sound(p.max, i)
		if hasG && hasM && g > m {
			problems = append(problems, fmt.Errorf("%w: %s: guaranteed %s, max %s",
				ErrAboveMax, s.Name(i), vectors.Text(s, i, g), vectors.Text(s, i, m)))
		}
	}
	return problems
}

// sound returns the bound of l on type i, and whether there is one that can be
// compared with others. A negative one is a problem by itself.
func sound(l resources.Limit, i int) (int64, bool) {
	v, ok := l.Bound(i)
	return v, ok && v >= 0
}

// overCommitted returns how the children of a queue are promised more than it
// has: type by type, each child's max first, then the sum of the guarantees.
func overCommitted(s *resources.Schema, own promise, children []promise) (problems []error) {
	problem := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("%w: %s", ErrOverCommitted, fmt.Sprintf(format, args...)))
	}
	for i := range s.Len() {
		name := s.Name(i)
		g, hasG := sound(own.guaranteed, i)
		m, hasM := sound(own.max, i)
		for _, child := range children {
			if v, ok := sound(child.max, i); ok && hasM && v > m {
				problem("%s: max %s of child %q is above the max %s", name, vectors.Text(s, i, v), child.name, vectors.Text(s, i, m))
			}
		}
		sum := sumOf(children, i)
		if hasG && sum.above(g) {
			problem("%s: children are guaranteed %s of the guaranteed %s", name, sum.text(s, i), vectors.Text(s, i, g))
		}
		if hasM && sum.above(m) {
			problem("%s: children are guaranteed %s of the max %s", name, sum.text(s, i), vectors.Text(s, i, m))
		}
	}
	return problems
}

// A sum is a sum of guarantees, which may be more than an int64 can hold.
type sum struct {
	amount int64
	more   bool // than amount, which is the largest there is
}

// sumOf returns what the children are guaranteed of type i.
func sumOf(children []promise, i int) (s sum) {
	for _, child := range children {
		if v, ok := sound(child.guaranteed, i); ok {
			s.more = s.more || v > math.MaxInt64-s.amount
			s.amount = sat.Add(s.amount, v)
		}
	}
	return s
}

func (s sum) above(bound int64) bool { return s.more || s.amount > bound }

func (s sum) text(schema *resources.Schema, i int) string {
	if s.more {
		return "more than " + vectors.Text(schema, i, s.amount)
	}
	return vectors.Text(schema, i, s.amount)
}

// warnOfCages warns of every fence with a guarantee and none below it. An ask
// below such a fence is governed by the fence or by a queue above it, so that
// every queue inside the fence is inside the queue that starves, too (DESIGN.md,
// Storm freedom). A guarantee of 0 lets nobody preempt and counts as none.
func (b *builder) warnOfCages() {
	t := b.tree
	below := make([]bool, t.Len()) // a queue below has a guarantee
	for q := ID(t.Len() - 1); q > Root; q-- {
		own := resources.Positive(t.Guaranteed(q).Value) != 0
		if own && !below[q] && !t.IsLeaf(q) && t.policies[q].Preemption == Fence {
			b.warnings = append(b.warnings, warning{q, &Problem{Queue: t.Path(q),
				Err: fmt.Errorf("%w: %s is fence, and no queue below has a guarantee", errNeverPreempts, propertyPreemptionPolicy)}})
		}
		below[t.parents[q]] = below[t.parents[q]] || own || below[q]
	}
}
