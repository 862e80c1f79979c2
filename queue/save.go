// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/saved"
	"github.com/go-preempt/preempt/resources"
)

// treeLine and the like are the lines of a saved tree.
type treeLine struct {
	Types  []string `json:"types"`
	Strict bool     `json:"strict,omitzero"`
}

// queueLine is a queue below the last one of a smaller depth.
type queueLine struct {
	Depth      int              `json:"depth"`
	Name       string           `json:"name"`
	Guaranteed map[string]int64 `json:"guaranteed,omitempty"`
	Max        map[string]int64 `json:"max,omitempty"`
	// The policies as they are, with what was inherited.
	Preemption string `json:"preemption"`
	Priority   string `json:"priority"`
	Disabled   bool   `json:"disabled,omitzero"`
	OwnLeaf    string `json:"ownLeaf,omitempty"`
	Dynamic    bool   `json:"dynamic,omitzero"`
	Offset     int32  `json:"offset,omitzero"`
	Weight     int32  `json:"weight"`
	Delay      string `json:"delay"`
	QuotaDelay string `json:"quotaDelay"`
}

type warningLine struct {
	Queue string `json:"queue"`
	Text  string `json:"text"`
}

// Save writes the tree without its usage as text for [Load]. Names that are not UTF-8 are
// an error.
func (t *Tree) Save(w io.Writer) error {
	x := saved.NewWriter(w)
	start := x.Begin("queues")
	head := treeLine{Strict: t.strict}
	for i := range t.schema.Len() {
		name := t.schema.Name(i)
		x.Check("type", name)
		head.Types = append(head.Types, name)
	}
	x.Line("tree", head)
	for q := range t.All() {
		p := &t.policies[q]
		x.Check("queue", t.names[q])
		// The queue's own policy, and whether its tasks are protected by that or another.
		preemption := p.Preemption
		if preemption == Disabled && p.disabledBy != q {
			preemption = Default
		}
		x.Line("queue", queueLine{
			Depth: t.Depth(q), Name: t.names[q],
			Guaranteed: saved.Bounds(t.schema, t.Guaranteed(q)), Max: saved.Bounds(t.schema, t.Max(q)),
			Preemption: string(preemption), Priority: p.PriorityFence, Disabled: p.Preemption == Disabled, OwnLeaf: string(p.WithinQueue), Dynamic: p.Dynamic,
			Offset: *p.PriorityOffset, Weight: p.Weight, Delay: p.PreemptionDelay.String(), QuotaDelay: p.QuotaDelay.String(),
		})
	}
	for _, err := range t.warnings {
		var p *Problem
		if errors.As(err, &p) {
			x.Check("warning", p.Err.Error())
			x.Line("warning", warningLine{p.Queue, p.Err.Error()})
		}
	}
	if err := x.End(start); err != nil {
		return fmt.Errorf("queue: save: %w", err)
	}
	return nil
}

// Load reads what [Tree.Save] has written: the same tree, with its warnings. Give it a
// [bufio.Reader] if something follows. Errors have the line.
func Load(r io.Reader) (*Tree, error) {
	x := &loader{Reader: saved.NewReader(r), paths: make(map[string]bool)}
	t, err := x.load()
	if err != nil {
		return nil, fmt.Errorf("queue: load: %w", err)
	}
	return t, nil
}

// A loader brings a configuration together from the lines of a text.
type loader struct {
	*saved.Reader
	schema   *resources.Schema
	strict   bool
	root     *Config
	path     []*Config // from the root to the queue of the last line
	ids      []ID      // of these
	paths    map[string]bool
	policies []resolved
	warnings []error
}

func (x *loader) load() (*Tree, error) {
	start, err := x.Begin("queues")
	if err != nil {
		return nil, err
	}
	for {
		word, err := x.Next(start)
		switch {
		case err != nil:
			return nil, err
		case word == "" && x.root != nil:
			return x.tree()
		case word == "tree" && x.schema == nil:
			err = x.addTypes()
		case word == "queue" && x.schema != nil:
			err = x.addQueue()
		case word == "warning" && x.root != nil:
			err = x.addWarning()
		default:
			err = x.Unknown(word)
		}
		if err != nil {
			return nil, err
		}
	}
}

func (x *loader) addTypes() (err error) {
	var l treeLine
	if err = x.Decode(&l); err != nil {
		return err
	}
	x.strict = l.Strict
	if x.schema, err = resources.NewSchema(l.Types...); err != nil {
		return x.Errorf("%w", err)
	}
	return nil
}

func (x *loader) addQueue() error {
	var l queueLine
	if err := x.Decode(&l); err != nil {
		return err
	}
	// The first one is the root, and no other one is.
	if l.Depth < 0 || l.Depth > len(x.path) || l.Depth >= MaxDepth || (l.Depth == 0) != (x.root == nil) {
		return x.Errorf("queue %q at depth %d after %d above it: %w", l.Name, l.Depth, len(x.path), errDepth)
	}
	p, err := l.policies()
	if err != nil {
		return x.Errorf("queue %q: %w", l.Name, err)
	}
	c := &Config{Name: l.Name}
	if c.Guaranteed, err = saved.Limit(x.schema, l.Guaranteed); err == nil {
		c.Max, err = saved.Limit(x.schema, l.Max)
	}
	if err != nil {
		return x.Errorf("queue %q: %w", l.Name, err)
	}
	// Only the last child of a queue has children later: pointers into lists that
	// grow stay good as long as they are looked at.
	x.path = x.path[:l.Depth]
	if l.Depth == 0 {
		x.root = c
	} else {
		above := x.path[l.Depth-1]
		above.Children = append(above.Children, *c)
		c = &above.Children[len(above.Children)-1]
	}
	x.path = append(x.path, c)
	r := resolved{Policies: p, disabledBy: ID(len(x.policies))}
	if l.Disabled && l.Preemption != policyDisabled {
		if l.Depth == 0 || x.policies[x.ids[l.Depth-1]].Preemption != Disabled {
			return x.Errorf("queue %q: %w: disabled, below no such queue", l.Name, ErrProperty)
		}
		r.disabledBy = x.policies[x.ids[l.Depth-1]].disabledBy
	}
	x.ids = append(x.ids[:l.Depth], ID(len(x.policies)))
	x.policies = append(x.policies, r)
	names := make([]string, len(x.path))
	for i, c := range x.path {
		names[i] = c.Name
	}
	path := strings.Join(names, ".")
	// Also here, where the line is known.
	if x.paths[path] {
		return x.Errorf("%w: a second queue %q", errName, path)
	}
	x.paths[path] = true
	for _, err := range badBounds(x.schema, promise{c.Name, c.Guaranteed, c.Max}) {
		return x.Errorf("queue %q: %w", path, err)
	}
	if c.Name == "" || strings.Contains(c.Name, ".") {
		return x.Errorf("%w: queue %q", errName, c.Name)
	}
	return nil
}

// policies returns what a line says of the policies, if all of it is in range.
func (l *queueLine) policies() (p Policies, err error) {
	p = Policies{Preemption: Preemption(l.Preemption), PriorityFence: l.Priority, WithinQueue: WithinQueue(l.OwnLeaf),
		Dynamic: l.Dynamic, PriorityOffset: new(l.Offset), Weight: l.Weight}
	_, known := within(l.OwnLeaf)
	if !isPreemption(l.Preemption) || !isPriority(l.Priority) || !known && l.OwnLeaf != "" || l.Weight < 1 {
		return p, fmt.Errorf("%w: preemption %q, priority %q, ownLeaf %q, weight %d", ErrProperty, l.Preemption, l.Priority, l.OwnLeaf, l.Weight)
	}
	if l.Disabled {
		p.Preemption = Disabled
	}
	delay, err := time.ParseDuration(l.Delay)
	quota, bad := time.ParseDuration(l.QuotaDelay)
	if err = errors.Join(err, bad); err != nil || delay < 0 || quota < 0 {
		return p, fmt.Errorf("%w: delay %q, quotaDelay %q", ErrProperty, l.Delay, l.QuotaDelay)
	}
	p.PreemptionDelay, p.QuotaDelay = &delay, &quota
	return p, nil
}

// addWarning brings a warning back: its text, and of which kind it is.
func (x *loader) addWarning() error {
	var l warningLine
	if err := x.Decode(&l); err != nil {
		return err
	}
	if !x.paths[l.Queue] {
		return x.Errorf("warning of queue %q, which there is not: %w", l.Queue, saved.ErrFormat)
	}
	for _, kind := range []error{ErrProperty, errPolicy, ErrOverCommitted, errNoEffect, errNeverPreempts} {
		if before, after, ok := strings.Cut(l.Text, kind.Error()); ok {
			x.warnings = append(x.warnings, &Problem{Queue: l.Queue, Err: fmt.Errorf("%s%w%s", before, kind, after)})
			return nil
		}
	}
	x.warnings = append(x.warnings, &Problem{Queue: l.Queue, Err: errors.New(l.Text)})
	return nil
}

// tree makes the tree of what was read.
func (x *loader) tree() (*Tree, error) {
	// All checks that need no more than the bounds are those of New. Strictness is
	// for changes to come: shares may have over-committed a strict tree.
	t, err := New(x.schema, *x.root, Lenient)
	if err != nil {
		return nil, x.Errorf("%w", err)
	}
	t.strict, t.policies, t.warnings = x.strict, slices.Clip(x.policies), x.warnings
	return t, nil
}
