package jobs

import (
	"slices"

	"github.com/go-preempt/preempt/resources"
)

// block returns n rows of zeros, one amount per type each, that live until
// setTodo.
func (d *decision) block(n int) []int64 {
	from := len(d.blocks)
	d.blocks = slices.Grow(d.blocks, n*d.types)[:from+n*d.types]
	rows := d.blocks[from:len(d.blocks):len(d.blocks)]
	clear(rows)
	return rows
}

// row returns row i of a block.
func (d *decision) row(block []int64, i int) resources.Vector {
	return block[i*d.types : (i+1)*d.types : (i+1)*d.types]
}

// zeros returns s with n zeros, in its memory where that is enough.
func zeros[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}
