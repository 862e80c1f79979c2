package victims

import "slices"

// A column is a field of rows that most clusters leave zero: it has no memory
// until some row is given a value. The zero column is empty.
type column[T comparable] []T

// at returns the value of a row, zero for those that were given none.
func (c column[T]) at(row int) (v T) {
	if row < len(c) {
		v = c[row]
	}
	return v
}

// set gives a row a value. Room is the number of rows that the table has room
// for: a column that grows makes as much.
func (c *column[T]) set(row, room int, v T) {
	if row >= len(*c) {
		var zero T
		if v == zero {
			return
		}
		if row >= cap(*c) {
			*c = slices.Grow(*c, max(room, row+1)-len(*c))
		}
		n := len(*c)
		*c = (*c)[:row+1]
		clear((*c)[n:]) // growing may bring old values back into view
	}
	(*c)[row] = v
}

// reserve makes room for so many rows, for a column that is about to be used.
func (c *column[T]) reserve(room int) {
	if room > cap(*c) {
		*c = slices.Grow(*c, room-len(*c))
	}
}

func (c *taskColumns) copyFrom(d *taskColumns) {
	c.names, c.tags, c.costs = reuse(c.names, d.names), reuse(c.tags, d.tags), reuse(c.costs, d.costs)
	c.checkpoint, c.budgetSet, c.inJob = reuse(c.checkpoint, d.checkpoint), reuse(c.budgetSet, d.budgetSet), reuse(c.inJob, d.inJob)
}
