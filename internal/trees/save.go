// SPDX-License-Identifier: Apache-2.0

package trees

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/saved"
	"github.com/go-preempt/preempt/queue"
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
	Preemption string        `json:"preemption"`
	Priority   string        `json:"priority"`
	Disabled   bool          `json:"disabled,omitzero"`
	OwnLeaf    string        `json:"ownLeaf,omitempty"`
	Dynamic    bool          `json:"dynamic,omitzero"`
	Offset     int32         `json:"offset,omitzero"`
	Weight     int32         `json:"weight"`
	Delay      string        `json:"delay"`
	QuotaDelay string        `json:"quotaDelay"`
	MinRuntime time.Duration `json:"minRuntime,omitzero"`
}

type warningLine struct {
	Queue string `json:"queue"`
	Text  string `json:"text"`
}

// Save writes a tree without its usage as text for [Load]. Names that are not UTF-8 are an
// error.
func Save(w io.Writer, t *queue.Tree) error {
	x := saved.NewWriter(w)
	start := x.Begin("queues")
	schema, inside := t.Schema(), lent.Of(t)
	head := treeLine{Strict: inside.Strict}
	for i := range schema.Len() {
		x.Check("type", schema.Name(i))
		head.Types = append(head.Types, schema.Name(i))
	}
	x.Line("tree", head)
	for q := range queue.ID(t.Len()) {
		p := t.Policies(q)
		x.Check("queue", Name(t, q))
		// The queue's own policy, and whether its tasks are protected by that or another.
		preemption := p.Preemption
		if p.Preemption == queue.Disabled && !inside.SaysItself(int32(q), "preemption.policy") {
			preemption = queue.Default
		}
		x.Line("queue", queueLine{
			Depth: Depth(t, q), Name: Name(t, q),
			Guaranteed: saved.Bounds(schema, t.Guaranteed(q)), Max: saved.Bounds(schema, t.Max(q)),
			Preemption: string(preemption), Priority: p.PriorityFence, Disabled: p.Preemption == queue.Disabled, OwnLeaf: string(p.WithinQueue), Dynamic: p.Dynamic,
			Offset: *p.PriorityOffset, Weight: p.Weight, Delay: p.PreemptionDelay.String(), QuotaDelay: p.QuotaDelay.String(), MinRuntime: *p.MinRuntime,
		})
	}
	for _, w := range inside.Warnings {
		x.Check("warning", w.Err.Error())
		x.Line("warning", warningLine{w.Queue, w.Err.Error()})
	}
	if err := x.End(start); err != nil {
		return fmt.Errorf("queue: save: %w", err)
	}
	return nil
}

// Load reads what [Save] has written: the same tree, with its warnings. Give it a
// [bufio.Reader] if something follows. Errors have the line.
func Load(r io.Reader) (*queue.Tree, error) {
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
	root     *queue.Config
	path     []*queue.Config // from the root to the queue of the last line
	disabled []bool          // what they are
	paths    map[string]bool
	warnings []*lent.Problem
}

func (x *loader) load() (*queue.Tree, error) {
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
	if l.Depth < 0 || l.Depth > len(x.path) || (l.Depth == 0) != (x.root == nil) {
		return x.Errorf("queue %q at depth %d after %d above it: %w", l.Name, l.Depth, len(x.path), saved.ErrFormat)
	}
	p, err := l.policies(l.Depth > 0 && x.disabled[l.Depth-1])
	if err != nil {
		return x.Errorf("queue %q: %w", l.Name, err)
	}
	c := &queue.Config{Name: l.Name, Policies: p}
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
	x.disabled = append(x.disabled[:l.Depth], l.Disabled)
	names := make([]string, len(x.path))
	for i, c := range x.path {
		names[i] = c.Name
	}
	path := strings.Join(names, ".")
	// Also here, where the line is known.
	if x.paths[path] {
		return x.Errorf("a second queue %q: %w", path, saved.ErrFormat)
	}
	x.paths[path] = true
	return nil
}

// policies returns what a line says of the policies, if all of it is in range. Above the queue
// one may be disabled.
func (l *queueLine) policies(above bool) (p queue.Policies, err error) {
	p = queue.Policies{Preemption: l.Preemption, PriorityFence: l.Priority, WithinQueue: queue.WithinQueue(l.OwnLeaf),
		Dynamic: l.Dynamic, PriorityOffset: new(l.Offset), Weight: l.Weight}
	inherited := l.Disabled && p.Preemption == queue.Default
	if inherited {
		p.Preemption = ""
	}
	words := slices.Contains([]string{queue.Default, queue.Fence, queue.Disabled}, l.Preemption) &&
		slices.Contains([]string{"default", "fence"}, l.Priority) &&
		slices.Contains([]queue.WithinQueue{"", queue.Never, queue.Met, queue.Branch}, p.WithinQueue)
	if !words || inherited && !above || !inherited && l.Disabled != (p.Preemption == queue.Disabled) || l.Weight < 1 {
		return p, fmt.Errorf("preemption %q, disabled %t, priority %q, ownLeaf %q, weight %d: %w",
			l.Preemption, l.Disabled, l.Priority, l.OwnLeaf, l.Weight, saved.ErrFormat)
	}
	delay, err := time.ParseDuration(l.Delay)
	quota, bad := time.ParseDuration(l.QuotaDelay)
	if err = errors.Join(err, bad); err != nil || delay < 0 || quota < 0 || l.MinRuntime < 0 {
		return p, fmt.Errorf("delay %q, quotaDelay %q, minRuntime %d: %w", l.Delay, l.QuotaDelay, l.MinRuntime, saved.ErrFormat)
	}
	p.PreemptionDelay, p.QuotaDelay, p.MinRuntime = &delay, &quota, &l.MinRuntime
	return p, nil
}

// addWarning brings a warning back.
func (x *loader) addWarning() error {
	var l warningLine
	if err := x.Decode(&l); err != nil {
		return err
	}
	if !x.paths[l.Queue] {
		return x.Errorf("warning of queue %q, which there is not: %w", l.Queue, saved.ErrFormat)
	}
	x.warnings = append(x.warnings, &lent.Problem{Queue: l.Queue, Kind: queue.ErrConfig, Err: errors.New(l.Text)})
	return nil
}

// tree makes the tree of what was read.
func (x *loader) tree() (*queue.Tree, error) {
	// Strictness is for changes to come: shares may have
	// over-committed a strict tree.
	t, err := queue.NewLenient(x.schema, *x.root)
	if err != nil {
		return nil, x.Errorf("%w", err)
	}
	lent.Of(t).Strict, lent.Of(t).Warnings = x.strict, x.warnings
	return t, nil
}
