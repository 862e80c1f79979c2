// SPDX-License-Identifier: Apache-2.0

// Package rows is slices in memory that is there already, and blocks: slices of
// amounts, so many a row, that several packages keep for queues, nodes, tasks and
// units. Warm planners allocate nothing because of the one, and walk over few
// cache lines because of the other.
package rows

import "slices"

// Zeros returns n zero elements, in the memory of s if that is enough.
func Zeros[S ~[]E, E any](s S, n int) S {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// More returns s with n zero elements more at its end. It grows as append does,
// so that many small additions cost no more than one large one.
func More[S ~[]E, E any](s S, n int) S {
	s = slices.Grow(s, n)[:len(s)+n]
	clear(s[len(s)-n:])
	return s
}

// Next returns s with one element more at its end. It is what the memory of s holds
// there, so that a row that was there before keeps the lists that it has, and a new one
// is zero.
func Next[S ~[]E, E any](s S) S {
	if len(s) < cap(s) {
		return s[:len(s)+1]
	}
	var zero E
	return append(s, zero)
}

// At returns row i of a block of n elements a row. It is a view with no room
// behind it: who appends to it gets memory of their own and does not write into
// the next row.
func At[S ~[]E, E any](block S, i, n int) S {
	first := i * n
	return block[first : first+n : first+n]
}

// InsertFalling merges values, which fall, into list, which falls too and keeps no more
// than the most largest.
func InsertFalling(list []int64, most int, values []int64) []int64 {
	if len(list) == 0 {
		return append(list, values[:min(most, len(values))]...) // mostly there is one run
	}
	for _, v := range values {
		if len(list) == most {
			if v <= list[most-1] {
				break
			}
			list = list[:most-1]
		}
		i := len(list)
		list = append(list, v)
		for ; i > 0 && list[i-1] < v; i-- {
			list[i] = list[i-1]
		}
		list[i] = v
	}
	return list
}
