package jobs

import "github.com/go-preempt/preempt/internal/rows"

// A master is a linear programme that learns its columns one by one: what the
// least cost is at which some needs are met by columns, as much of each as it
// likes, none below 0. It tells what a unit of each need is worth, which is what it
// is for: columns that cost less than they are worth are still to be found, and
// once there are none these prices bound every cost.
//
// It is a simplex with the inverse of the basis. Numbers are rounded, and errors
// add up; so what follows from its prices is worked out again, in whole numbers.
type master struct {
	rows    int
	inverse []fixed // of the basis, row by row
	cost    []fixed // of the columns of the basis
	amount  []fixed // of each of them
	worth   []fixed // of a unit of each need
	column  []fixed // the one that is offered
	way     []fixed // scratch: what one unit of it takes from each of the basis
}

// begin states needs, which begin by being met at a cost per unit of each: at more
// than anything costs, or at nothing for needs that are only limits.
func (x *master) begin(needs, costs []fixed) {
	x.rows = len(needs)
	x.inverse = rows.Zeros(x.inverse, x.rows*x.rows)
	for i := range x.rows {
		x.inverse[i*x.rows+i] = fixedOne
	}
	x.amount = append(x.amount[:0], needs...)
	x.cost, x.worth = append(x.cost[:0], costs...), append(x.worth[:0], costs...)
	x.column, x.way = rows.Zeros(x.column, x.rows), rows.Zeros(x.way, x.rows)
}

// value returns the least cost with the columns that are known.
func (x *master) value() (sum fixed) {
	for i, v := range x.amount {
		sum += v.times(x.cost[i])
	}
	return sum
}

// offer offers x.column at a cost, and reports whether it is of use.
func (x *master) offer(cost fixed) bool {
	const least = fixedOne >> 20 // less than that may be a matter of rounding
	gain := -cost
	for i, v := range x.column {
		gain += v.times(x.worth[i])
	}
	if gain < least {
		return false
	}
	for i := range x.rows {
		row := x.inverse[i*x.rows : (i+1)*x.rows]
		x.way[i] = 0
		for j, v := range x.column {
			if v != 0 {
				x.way[i] += row[j].times(v)
			}
		}
	}
	out := x.leaving()
	if out < 0 {
		return false // nothing would stop it from coming in, which is for rounding to blame
	}
	x.enter(out, cost)
	return true
}

// leaving returns the column of the basis that is used up first, or -1.
func (x *master) leaving() (out int) {
	const least = fixedOne >> 14 // to divide by less would make errors large
	out = -1
	var soonest fixed
	for i, v := range x.way {
		if v < least {
			continue
		}
		if when := x.amount[i].over(v); out < 0 || when < soonest {
			out, soonest = i, when
		}
	}
	return out
}

// enter puts the column in the place of another one.
func (x *master) enter(out int, cost fixed) {
	amount := max(x.amount[out], 0).over(x.way[out])
	pivot := x.inverse[out*x.rows : (out+1)*x.rows]
	for j, v := range pivot {
		if v != 0 {
			pivot[j] = v.over(x.way[out])
		}
	}
	for i := range x.rows {
		way := x.way[i]
		if i == out || way == 0 {
			continue
		}
		// Below 0 it comes by rounding alone: the column that leaves is used up first.
		x.amount[i] = max(x.amount[i]-amount.times(way), 0)
		row := x.inverse[i*x.rows : (i+1)*x.rows]
		for j, v := range pivot {
			if v != 0 {
				row[j] -= v.times(way)
			}
		}
	}
	x.amount[out], x.cost[out] = amount, cost
	x.appraise()
}

// appraise works out what a unit of each need is worth.
func (x *master) appraise() {
	// From the inverse, though an update would do: errors do not add up here.
	clear(x.worth)
	for i, cost := range x.cost {
		if cost == 0 {
			continue
		}
		for j, v := range x.inverse[i*x.rows : (i+1)*x.rows] {
			if v != 0 {
				x.worth[j] += v.times(cost)
			}
		}
	}
}
