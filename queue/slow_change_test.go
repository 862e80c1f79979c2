// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"math"

	"github.com/go-preempt/preempt/resources"
)

// add, remove, mark and unmark change the twin, or return the kind of error
// that a tree must return.

func (w *twin) add(path string, size resources.Vector) error {
	if err := w.check(path, size); err != nil {
		return err
	}
	for i := range w.schema.Len() {
		if uint64(w.sum(w.used, w.root.Name, i))+uint64(at(size, i)) > math.MaxInt64 {
			return errRange
		}
	}
	w.change(w.used[path], size, +1)
	return nil
}

func (w *twin) remove(path string, size resources.Vector) error {
	return w.move(path, size, w.used, -1, func(i int) int64 { return w.effective(path, i) })
}

func (w *twin) mark(path string, size resources.Vector) error {
	return w.move(path, size, w.leaving, +1, func(i int) int64 { return w.effective(path, i) })
}

func (w *twin) unmark(path string, size resources.Vector) error {
	return w.move(path, size, w.leaving, -1, func(i int) int64 { return w.leaving[path][i] })
}

func (w *twin) move(path string, size resources.Vector, have map[string]resources.Vector, sign int64, most func(int) int64) error {
	if err := w.check(path, size); err != nil {
		return err
	}
	for i := range w.schema.Len() {
		if at(size, i) > most(i) {
			return errAmount
		}
	}
	w.change(have[path], size, sign)
	return nil
}

func (w *twin) check(path string, size resources.Vector) error {
	if !w.isLeaf(path) {
		return errNotLeaf
	}
	for i, v := range size {
		if v < 0 || v > 0 && i >= w.schema.Len() {
			return errAmount
		}
	}
	return nil
}

func (w *twin) change(row, size resources.Vector, sign int64) {
	for i := range row {
		row[i] += sign * at(size, i)
	}
}

func at(v resources.Vector, i int) int64 {
	if i < len(v) {
		return v[i]
	}
	return 0
}
