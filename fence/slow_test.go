// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"math/big"
	"strings"

	"github.com/go-preempt/preempt/queue"
)

// A twin says again what fences and offsets mean, by walking paths by name and
// in numbers without end, for reading and not for speed.
type twin struct {
	paths      []string // in tree order
	properties map[string]map[string]string
}

func newTwin(root queue.Config) *twin {
	w := &twin{properties: map[string]map[string]string{}}
	var visit func(above string, c queue.Config)
	visit = func(above string, c queue.Config) {
		path := above + c.Name
		w.paths = append(w.paths, path)
		w.properties[path] = c.Properties
		for _, child := range c.Children {
			visit(path+".", child)
		}
	}
	visit("", root)
	return w
}

// up returns the paths from a queue to the root.
func up(path string) (list []string) {
	names := strings.Split(path, ".")
	for n := len(names); n > 0; n-- {
		list = append(list, strings.Join(names[:n], "."))
	}
	return list
}

func below(path, above string) bool { return strings.HasPrefix(path, above+".") }

func (w *twin) leaves() (list []string) {
	for _, path := range w.paths {
		leaf := true
		for _, other := range w.paths {
			leaf = leaf && !below(other, path)
		}
		if leaf {
			list = append(list, path)
		}
	}
	return list
}

func (w *twin) root(leaf string) string {
	for _, q := range up(leaf) {
		if w.properties[q]["preemption.policy"] == "fence" {
			return q
		}
	}
	return w.paths[0]
}

// reaches reports whether the asks of a leaf may take tasks of another.
func (w *twin) reaches(leaf, of string) bool {
	return of != leaf && below(of, w.root(leaf)) && !w.disabled(of)
}

func (w *twin) disabled(path string) bool {
	for _, q := range up(path) {
		if policy := w.properties[q]["preemption.policy"]; policy != "" {
			return policy == "disabled" && q != w.paths[0]
		}
	}
	return false
}

// effective returns a priority lifted from a leaf to below the lowest queue
// that it has in common with another leaf.
func (w *twin) effective(leaf, other string, priority int32) *big.Int {
	p := big.NewInt(int64(priority))
	for _, q := range up(leaf) {
		if q == other || below(other, q) {
			return p
		}
		offset := new(big.Int)
		if text := w.properties[q]["priority.offset"]; text != "" {
			offset.SetString(text, 10)
		}
		if w.properties[q]["priority.policy"] == "fence" {
			p = offset
		} else {
			p = new(big.Int).Add(p, offset)
		}
	}
	panic("no common root")
}
