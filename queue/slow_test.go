// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/resources"
)

// A twin says again what a tree does, by names and paths and over the leaves
// alone, for reading and not for speed.
type twin struct {
	schema *resources.Schema
	root   *Config
	paths  []string           // in tree order
	config map[string]*Config // by path; part of root

	// What the leaves use, and what of that leaves, by path.
	used, leaving map[string]resources.Vector
}

// newTwin returns the twin of a tree of the configuration, which it copies.
func newTwin(schema *resources.Schema, root Config) *twin {
	root = deepCopy(root)
	w := &twin{schema: schema, root: &root, config: map[string]*Config{},
		used: map[string]resources.Vector{}, leaving: map[string]resources.Vector{}}
	w.visit("", w.root)
	return w
}

func (w *twin) visit(above string, c *Config) {
	path := above + c.Name
	w.paths = append(w.paths, path)
	w.config[path] = c
	if len(c.Children) == 0 {
		w.used[path] = make(resources.Vector, w.schema.Len())
		w.leaving[path] = make(resources.Vector, w.schema.Len())
	}
	for i := range c.Children {
		w.visit(path+".", &c.Children[i])
	}
}

func deepCopy(c Config) Config {
	c.Guaranteed.Value = slices.Clone(c.Guaranteed.Value)
	c.Max.Value = slices.Clone(c.Max.Value)
	c.Children = slices.Clone(c.Children)
	for i := range c.Children {
		c.Children[i] = deepCopy(c.Children[i])
	}
	return c
}

func (w *twin) clone() *twin {
	c := newTwin(w.schema, *w.root)
	for leaf := range w.used {
		copy(c.used[leaf], w.used[leaf])
		copy(c.leaving[leaf], w.leaving[leaf])
	}
	return c
}

// up returns the paths from a queue to the root.
func up(path string) []string {
	list := []string{path}
	for {
		i := strings.LastIndex(path, ".")
		if i < 0 {
			return list
		}
		path = path[:i]
		list = append(list, path)
	}
}

func inside(path, above string) bool { return path == above || strings.HasPrefix(path, above+".") }

func (w *twin) isLeaf(path string) bool { return len(w.config[path].Children) == 0 }

func (w *twin) leaves(above string) (list []string) {
	for _, path := range w.paths {
		if inside(path, above) && w.isLeaf(path) {
			list = append(list, path)
		}
	}
	return list
}

func (w *twin) children(of string) (list []string) {
	for _, path := range w.paths {
		if inside(path, of) && strings.Count(path, ".") == strings.Count(of, ".")+1 {
			list = append(list, path)
		}
	}
	return list
}

func (w *twin) commonAncestor(a, b string) string {
	for _, path := range up(a) {
		if inside(b, path) {
			return path
		}
	}
	panic("no common root")
}

// sum adds up what the leaves in the subtree of a path have of type i.
func (w *twin) sum(have map[string]resources.Vector, path string, i int) (total int64) {
	for leaf, v := range have {
		if inside(leaf, path) {
			total += v[i]
		}
	}
	return total
}

func (w *twin) effective(path string, i int) int64 {
	return w.sum(w.used, path, i) - w.sum(w.leaving, path, i)
}

// headroom returns the least room under a max of the path, and whether there
// is any max.
func (w *twin) headroom(path string, i int) (least int64, bounded bool) {
	for _, above := range up(path) {
		if m, ok := w.config[above].Max.Bound(i); ok {
			room := m - w.effective(above, i)
			if !bounded || room < least {
				least, bounded = room, true
			}
		}
	}
	return least, bounded
}

func (w *twin) surplus(path string, i int) int64 {
	g, _ := w.config[path].Guaranteed.Bound(i) // of nothing guaranteed all is surplus
	return max(w.effective(path, i)-g, 0)
}

func (w *twin) governing(path string, i int) (string, bool) {
	for _, above := range up(path) {
		if _, ok := w.config[above].Guaranteed.Bound(i); ok {
			return above, true
		}
	}
	return "", false
}

// disabled walks up to the nearest queue with a policy, delay to the nearest one
// that says anything.

func (w *twin) disabled(path string) bool {
	for _, above := range up(path) {
		switch w.config[above].Properties["preemption.policy"] {
		case "disabled":
			return above != w.root.Name // the root's has no effect
		case "default", "fence":
			return false
		}
	}
	return false
}

func (w *twin) delay(path string) time.Duration {
	for _, above := range up(path) {
		if text, ok := w.config[above].Properties["preemption.delay"]; ok {
			d, err := time.ParseDuration(text)
			if err == nil && d >= 0 {
				return d
			}
			break
		}
	}
	return 30 * time.Second
}

// within walks up to the nearest queue that says a word that there is.
func (w *twin) within(path string) WithinQueue {
	for _, p := range up(path) {
		switch w.config[p].Properties[propertyOwnLeaf] {
		case "never":
			return Never
		case "Met":
			return Met
		case "branch":
			return Branch
		}
	}
	return ""
}
