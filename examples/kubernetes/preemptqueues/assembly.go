// SPDX-License-Identifier: Apache-2.0

package preemptqueues

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// An Assembly is what objects are put together with.
type Assembly struct {
	Schema    *resources.Schema
	Root      queue.Config // the queues that are there without objects
	Namespace string       // of the administrator's objects
	Default   string       // the path of the leaf for pods that name none, which stays a leaf
	// Named reports whether pods name a path below the root.
	Named func(path string) bool
	// Before are the queues so far. A leaf of them that pods name stays until they have
	// gone, with nothing guaranteed. Nil: there were none.
	Before *queue.Tree
}

// A Verdict says what became of an object.
type Verdict struct {
	Object *PreemptQueue
	Queue  string // its path below the root; "" if it is no queue
	Spec   *Spec  // that is in force; nil if it is no queue

	Guaranteed, Max resources.Limit // within what the parent has

	Reason  string // of ConditionInForce
	Message string
}

// Put returns the tree of the objects, and a verdict for each in the order of namespaces
// and names. The tree keeps the strict rules of [queue.New].
func (a *Assembly) Put(objects []*PreemptQueue) (queue.Config, []Verdict) {
	claims := make([]*claim, 0, len(objects))
	for _, o := range objects {
		c := &claim{object: o, spec: &o.Spec}
		if !a.read(c) {
			a.stepBack(c)
		}
		claims = append(claims, c)
	}
	slices.SortFunc(claims, func(x, y *claim) int {
		return cmp.Or(cmp.Compare(x.object.Namespace, y.object.Namespace), cmp.Compare(x.object.Name, y.object.Name))
	})
	root := a.place(claims)
	for a.stepAllBack(claims) {
		root = a.place(claims)
	}
	a.keepUsed(root)
	a.deal(root)
	verdicts := make([]Verdict, 0, len(claims))
	for _, c := range claims {
		verdicts = append(verdicts, a.verdict(c))
	}
	return root.config(), verdicts
}

// A claim is an object on its way into the tree.
type claim struct {
	object          *PreemptQueue
	spec            *Spec // that is tried: the object's, or else the one in force; nil: none
	guaranteed, max resources.Limit

	fault   error // what is wrong with spec where it is
	orphan  bool  // the fault is that there is no parent
	problem error // what was wrong with the object's spec
	at      *node // its place
}

// A node is a queue in the making.
type node struct {
	path     string // below the root
	plain    queue.Config
	claim    *claim // nil: it is there without an object
	parent   *node
	children []*node

	guaranteed, max resources.Limit // in force
}

// stepBack turns a claim with a fault to the spec that is in force, if that is another one
// and right by itself, or else to none.
func (a *Assembly) stepBack(c *claim) {
	if c.problem == nil {
		c.problem = c.fault
	}
	before := c.object.Status.InForce
	if before == nil || reflect.DeepEqual(c.spec, before) {
		c.spec = nil
		return
	}
	if c.spec = before; !a.read(c) {
		c.spec = nil
	}
}

// stepAllBack has some claims with a fault step back, and reports whether there were any.
// Orphans come last, and of these the ones whose parent may be back next: with the
// parent's spec they may be right.
func (a *Assembly) stepAllBack(claims []*claim) bool {
	var faulty, orphans, hopeful []*claim
	for _, c := range claims {
		switch {
		case c.spec == nil || c.fault == nil:
		case !c.orphan:
			faulty = append(faulty, c)
		case slices.ContainsFunc(claims, c.mayFollow):
			hopeful = append(hopeful, c)
		default:
			orphans = append(orphans, c)
		}
	}
	for _, some := range [][]*claim{faulty, orphans, hopeful} {
		if len(some) > 0 {
			for _, c := range some {
				a.stepBack(c)
			}
			return true
		}
	}
	return false
}

// mayFollow reports whether an orphan has a parent again if another one steps back.
func (c *claim) mayFollow(d *claim) bool {
	before := d.object.Status.InForce
	return d != c && d.spec != nil && d.orphan && before != nil && !reflect.DeepEqual(d.spec, before) &&
		strings.HasPrefix(c.spec.Parent+".", d.object.Status.Queue+".")
}

// read reads the bounds of a spec, and reports whether it is right by itself. What is in
// force was read before, perhaps with types that are no more.
func (a *Assembly) read(c *claim) bool {
	var wrong []error
	limit := func(what string, amounts map[string]Amount) resources.Limit {
		bounds := make(map[string]string, len(amounts))
		for name, amount := range amounts {
			bounds[name] = string(amount)
		}
		l, err := a.Schema.Limit(bounds)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", what, err))
		}
		return l
	}
	c.guaranteed, c.max = limit("guaranteed", c.spec.Guaranteed), limit("max", c.spec.Max)
	alone := queue.Config{Name: a.Root.Name, Children: []queue.Config{{Name: c.object.Name, Guaranteed: c.guaranteed, Max: c.max, Properties: c.spec.Properties}}}
	if _, err := queue.New(a.Schema, alone); err != nil {
		wrong = append(wrong, err)
	}
	if c.object.Namespace != a.Namespace {
		for _, name := range slices.Sorted(maps.Keys(c.spec.Properties)) {
			if name != delegated {
				wrong = append(wrong, fmt.Errorf("properties: %s is for queues of namespace %s only", name, a.Namespace))
			}
		}
	}
	c.fault = errors.Join(wrong...)
	return c.fault == nil
}

// delegated is the property that delegated queues may have: it is about themselves. Others
// would be at the cost of their siblings.
const delegated = "quota.preemption.delay"

// maxDepth is the number of levels that package queue takes.
const maxDepth = 64

// place puts all claims where they say, from the root on, and notes the faults of those
// that cannot be there.
func (a *Assembly) place(claims []*claim) *node {
	under := map[string][]*claim{}
	for _, c := range claims {
		c.at, c.fault, c.orphan = nil, nil, false
		if c.spec != nil {
			c.fault, c.orphan = fmt.Errorf("parent: there is no queue %q", c.spec.Parent), true
			under[c.spec.Parent] = append(under[c.spec.Parent], c)
		}
	}
	root := base(&a.Root, nil)
	for todo := []*node{root}; len(todo) > 0; todo = todo[1:] {
		n := todo[0]
		of := under[n.path]
		slices.SortStableFunc(of, func(x, y *claim) int { return x.compare(y, n.below(x)) })
		for _, c := range of {
			c.orphan = false
			if c.fault = a.mayBeBelow(n, c); c.fault == nil {
				c.at = &node{path: n.below(c), claim: c, parent: n, plain: queue.Config{Name: c.object.Name, Properties: c.spec.Properties}}
				n.children = append(n.children, c.at)
			}
		}
		todo = append(todo, n.children...)
	}
	return root
}

// base returns the queues that are there without objects.
func base(c *queue.Config, parent *node) *node {
	n := &node{plain: *c, parent: parent}
	if parent != nil {
		n.path = parent.join(c.Name)
	}
	n.guaranteed, n.max = c.Guaranteed, c.Max
	for i := range c.Children {
		n.children = append(n.children, base(&c.Children[i], n))
	}
	return n
}

func (n *node) join(name string) string { return strings.TrimPrefix(n.path+"."+name, ".") }

func (n *node) below(c *claim) string { return n.join(c.object.Name) }

// compare orders claims below one parent: those in force first, then the oldest.
func (c *claim) compare(d *claim, path string) int {
	inForce := func(c *claim) int {
		if c.isAt(path) {
			return 0
		}
		return 1
	}
	x, y := c.object, d.object
	return cmp.Or(cmp.Compare(inForce(c), inForce(d)), x.CreationTimestamp.Compare(y.CreationTimestamp.Time),
		cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
}

// isAt reports whether an object is in force at a path.
func (c *claim) isAt(path string) bool {
	return c.object.Status.InForce != nil && c.object.Status.Queue == path
}

// mayBeBelow returns why a claim may not be below a queue, or nil.
func (a *Assembly) mayBeBelow(n *node, c *claim) error {
	path := n.below(c)
	depth := 2
	for up := n.parent; up != nil; up = up.parent {
		depth++
	}
	switch {
	case !a.takes(n, c.object.Namespace):
		if n.parent == nil {
			return fmt.Errorf("parent: only queues of namespace %s are below the root", a.Namespace)
		}
		return fmt.Errorf("parent: %s takes no queues of namespace %s", n.path, c.object.Namespace)
	case n.path == a.Default:
		return fmt.Errorf("parent: %s is for pods that name no queue, and has none below it", n.path)
	case len(n.children) == 0 && n.parent != nil && !c.isAt(path) && a.Named(n.path):
		return fmt.Errorf("parent: %s has pods: it can have queues below it once they have gone", n.path)
	case depth > maxDepth:
		return fmt.Errorf("parent: more than %d levels", maxDepth)
	}
	if bad := validation.IsValidLabelValue(path); len(bad) > 0 {
		return fmt.Errorf("pods cannot name the queue %s by a label: %s", path, bad[0])
	}
	for _, other := range n.children {
		if other.plain.Name != c.object.Name {
			continue
		}
		if other.claim == nil {
			return fmt.Errorf("the queue %s is in the arguments already", path)
		}
		return fmt.Errorf("%s/%s is the queue %s already", other.claim.object.Namespace, other.claim.object.Name, path)
	}
	return nil
}

// takes reports whether a queue may have queues of a namespace below it. The
// administrator's may be anywhere.
func (a *Assembly) takes(n *node, namespace string) bool {
	if namespace == a.Namespace {
		return true
	}
	if n.claim == nil {
		return false
	}
	of := n.claim.spec.Namespaces
	return n.claim.object.Namespace == namespace || slices.Contains(of, namespace) || slices.Contains(of, "*")
}

// keepUsed keeps the leaves that pods name and that are no more, with nothing guaranteed.
func (a *Assembly) keepUsed(root *node) {
	if a.Before == nil {
		return
	}
	for q := range a.Before.Leaves(queue.Root) {
		_, path, below := strings.Cut(a.Before.Path(q), ".")
		if !below || !a.Named(path) {
			continue
		}
		n := root
		for name := range strings.SplitSeq(path, ".") {
			i := slices.IndexFunc(n.children, func(child *node) bool { return child.plain.Name == name })
			if i < 0 {
				i = len(n.children)
				n.children = append(n.children, &node{path: n.join(name), parent: n, plain: queue.Config{Name: name}})
			}
			n = n.children[i]
		}
	}
}

// config returns a queue and those below it, in the order of the arguments and then of
// names.
func (n *node) config() queue.Config {
	c := n.plain
	c.Guaranteed, c.Max, c.Children = n.guaranteed, n.max, nil
	slices.SortStableFunc(n.children, func(x, y *node) int {
		if x.claim == nil || y.claim == nil {
			return cmp.Compare(x.rank(), y.rank())
		}
		return cmp.Compare(x.plain.Name, y.plain.Name)
	})
	for _, child := range n.children {
		c.Children = append(c.Children, child.config())
	}
	return c
}

func (n *node) rank() int {
	if n.claim == nil {
		return 0
	}
	return 1
}
