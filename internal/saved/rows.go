// SPDX-License-Identifier: Apache-2.0

package saved

import "fmt"

// Rows checks that the rows of a table that a text has, and its free ones, are all that
// there are.
type Rows[E ~int32] struct {
	Free  []E    // those of the text
	taken []bool // by row
	live  int
}

// Take notes a row, each of which comes after the last one.
func (r *Rows[E]) Take(row E) error {
	// Rows between are free ones. More than the text has of these would be made of
	// nothing, and a short text would need much memory.
	next := E(len(r.taken))
	if row < next || int(row)-r.live > len(r.Free) {
		return fmt.Errorf("row %d after %d rows and with %d free ones", row, r.live, len(r.Free))
	}
	r.taken = append(r.taken, make([]bool, row-next+1)...)
	r.taken[row] = true
	r.live++
	return nil
}

// Close reports free rows that are none, and returns how many rows the table has.
func (r *Rows[E]) Close() (n int, err error) {
	n = r.live + len(r.Free)
	r.taken = append(r.taken, make([]bool, n-len(r.taken))...)
	for _, row := range r.Free {
		if row < 0 || int(row) >= n || r.taken[row] {
			return 0, fmt.Errorf("free row %d of %d", row, n)
		}
		r.taken[row] = true
	}
	return n, nil
}
