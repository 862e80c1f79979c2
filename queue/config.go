// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/lent"
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
	// Properties say the same as Policies with YuniKorn's names, for configurations that are imported; others
	// are ignored. Durations are Go's. To say one thing in both is an error.
	//
	//	preemption.policy       Preemption
	//	preemption.delay        PreemptionDelay
	//	preemption.own-leaf     WithinQueue, which YuniKorn lacks
	//	preemption.min-runtime  MinRuntime, which YuniKorn lacks
	//	priority.policy         PriorityFence
	//	priority.offset         PriorityOffset
	//	quota.preemption.delay  QuotaDelay, or bare seconds
	//	preemption.quota.delay  the same, as YuniKorn 1.8 calls it; the first wins
	//	fair.weight             Weight, at least 1, which YuniKorn lacks
	Properties map[string]string
	// InheritProperties: queues below take over policies and properties that they do not set, as in YuniKorn. Else they
	// inherit only policies whose unset value is that of the queue above. A priority fence, an offset, a weight, and a
	// preemption policy other than disabled are never inherited; queues of [Config.Add] inherit nothing.
	InheritProperties bool
	// Template has what leaves that [Config.Add] makes below do not set: bounds by type, policies and
	// properties one by one. Only the nearest template counts. It is YuniKorn's child template.
	Template *Config
	Children []Config
}

// The kinds of errors, which name queue and value.
var (
	// ErrConfig: a name, a bound, a policy, a property or an amount that cannot be.
	ErrConfig = errors.New("bad configuration")
	// ErrReadOnly: change the tree of a cluster by the cluster, or change a clone.
	ErrReadOnly = errors.New("the tree belongs to a cluster")
)

// What may be wrong, besides what package lent has.
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

// bad returns an error of what is wrong with a queue.
func bad(path string, err error) error {
	return &lent.Problem{Queue: path, Kind: ErrConfig, Err: err}
}

func readOnly(path string) error {
	return &lent.Problem{Queue: path, Kind: ErrReadOnly, Err: ErrReadOnly}
}

// New builds a tree from a copy of its configuration, without usage.
//
// Errors, of templates too, are bad names, more than 64 levels, bounds that are negative or of an unknown type, a
// guarantee above the queue's max, a child's max above its parent's, children's guarantees that sum over the parent's
// guarantee or max, bad policies and properties, a thing said by both, and unknown properties with a prefix of ours. A
// nil schema panics. The cost is queues·types.
func New(schema *resources.Schema, root Config) (*Tree, error) { return build(schema, &root, true) }

// NewLenient is [New], but over-committed bounds, bad values and misspelt properties are warnings, also later.
// All laws hold. A bad value counts as unset, a bad preemption delay as 30 s.
func NewLenient(schema *resources.Schema, root Config) (*Tree, error) {
	return build(schema, &root, false)
}

func build(schema *resources.Schema, root *Config, strict bool) (*Tree, error) {
	if schema == nil {
		panic("queue: New without a Schema (nil): see resources.NewSchema")
	}
	b := builder{tree: &Tree{schema: schema}, most: math.MaxInt32}
	b.tree.in().Strict = strict
	return b.build(root)
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

// A warning is a problem that is accepted, and the queue that has it.
type warning struct {
	at  ID
	err *lent.Problem
}

func (b *builder) build(root *Config) (*Tree, error) {
	b.tree.byPath = make(map[string]ID)
	b.add(root, Root, nil, nil)
	if err := errors.Join(b.problems...); err != nil {
		return nil, err
	}
	t := b.tree
	x := t.in()
	x.Usage = make([]int64, t.Len()*t.schema.Len())
	x.Leaving = make([]int64, t.Len()*t.schema.Len())
	b.warnOfCages()
	slices.SortStableFunc(b.warnings, func(x, y warning) int { return cmp.Compare(x.at, y.at) })
	x.Says, x.SaysItself = t.says, t.saysItself
	for _, w := range b.warnings {
		x.Warnings = append(x.Warnings, w.err)
	}
	return t, nil
}

// add appends c and the queues below it. The policies of the queue above are nil for the
// root. heritage is what properties are inherited from, or nil.
func (b *builder) add(c *Config, parent ID, above *Policies, heritage *Config) {
	b.path = append(b.path, c.Name)
	defer func() { b.path = b.path[:len(b.path)-1] }()

	b.checkName(c.Name)
	if !b.hasRoom() {
		return
	}
	t := b.tree
	q := ID(t.Len())
	path := strings.Join(b.path, ".")
	t.paths = append(t.paths, path)
	t.byPath[path] = q // two of a path are a problem
	t.parents = append(t.parents, parent)
	x := t.in()
	x.Ends = append(x.Ends, 0) // known once the subtree is done

	own := *c
	own.inherit(heritage)
	p, said := own.policies(b.bad(q, ""), b.problem).below(above)
	t.policies, t.said = append(t.policies, p), append(t.said, said)
	if p.Preemption == Fence && *p.QuotaDelay > 0 {
		b.warn(q, fmt.Errorf("%w: the %s fence, when the max is enforced (%s %v)",
			errNoEffect, propertyPreemptionPolicy, propertyQuotaPreemptionDelay, *p.QuotaDelay))
	}

	b.addBounds(q, c)
	if c.Template != nil {
		b.checkTemplate(q, c.Template)
	}
	b.checkSiblings(c.Children)
	if heritage = nil; own.InheritProperties {
		heritage = &own
	}
	for i := range c.Children {
		b.add(&c.Children[i], q, &p, heritage)
	}
	x.Ends[q] = int32(t.Len())
}

// hasRoom reports whether the current queue has a place in the tree. Those
// below a queue that has none are not looked at: they have the same problem.
func (b *builder) hasRoom() bool {
	switch {
	case len(b.path) > maxDepth:
		b.problem(fmt.Errorf("%w: more than %d levels", errDepth, maxDepth))
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
	for _, to := range []struct {
		bounds *lent.Bounds
		limit  resources.Limit
	}{{&t.in().Guaranteed, c.Guaranteed}, {&t.in().Max, c.Max}} {
		to.bounds.Defined = append(to.bounds.Defined, 0)
		to.bounds.Values = append(to.bounds.Values, make([]int64, t.schema.Len())...)
		to.bounds.Set(int(q), t.schema.Len(), to.limit)
	}
	for _, err := range badBounds(t.schema, own) {
		b.problem(err)
	}
	children := make([]promise, len(c.Children))
	for i, child := range c.Children {
		children[i] = promise{child.Name, child.Guaranteed, child.Max}
	}
	for _, err := range overCommitted(t.schema, own, children) {
		if t.in().Strict {
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

func (b *builder) problem(err error) {
	b.problems = append(b.problems, bad(strings.Join(b.path, "."), err))
}

func (b *builder) warn(q ID, err error) {
	b.warnings = append(b.warnings, warning{q, &lent.Problem{Queue: strings.Join(b.path, "."), Kind: ErrConfig, Err: err}})
}

// bad returns who is told of bad values of policies and properties of the current queue q,
// and of misspelt ones.
func (b *builder) bad(q ID, of string) func(error) {
	return func(err error) {
		if of != "" {
			err = fmt.Errorf("%s%w", of, err)
		}
		if b.tree.in().Strict {
			b.problem(err)
		} else {
			b.warn(q, err)
		}
	}
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
				problems = append(problems, fmt.Errorf("%w: %s of type %d of %d", lent.ErrType, b.name, i, s.Len()))
			case v < 0:
				problems = append(problems, fmt.Errorf("%w: %s %s %s", lent.ErrNegative, b.name, s.Name(i), vectors.Text(s, i, v)))
			}
		}
	}
	for i := range s.Len() {
		g, hasG := sound(p.guaranteed, i)
		m, hasM := sound(p.max, i)
		if hasG && hasM && g > m {
			problems = append(problems, fmt.Errorf("%w: %s: guaranteed %s, max %s",
				lent.ErrAboveMax, s.Name(i), vectors.Text(s, i, g), vectors.Text(s, i, m)))
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
		problems = append(problems, fmt.Errorf("%w: %s", lent.ErrOverCommitted, fmt.Sprintf(format, args...)))
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
			b.warnings = append(b.warnings, warning{q, &lent.Problem{Queue: t.Path(q), Kind: ErrConfig,
				Err: fmt.Errorf("%w: %s is fence, and no queue below has a guarantee", errNeverPreempts, propertyPreemptionPolicy)}})
		}
		below[t.parents[q]] = below[t.parents[q]] || own || below[q]
	}
}
