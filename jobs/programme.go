package jobs

// The dynamic programme over hosts: table[i][j] is the least cost of j members
// on the hosts from the i-th listed one on. Each host is listed once, with the
// ways to take members that matter.

// programme works the table out, from the last host to the first.
func (d *decision) programme() {
	x := &d.spread
	x.columns = len(d.todo) + 1
	x.runs = x.runs[:0]
	for i, c := range x.listed {
		if i == 0 || x.listed[i-1].host != c.host {
			x.runs = append(x.runs, int32(i))
		}
	}
	x.table = zeros(x.table, (len(x.runs)+1)*x.columns)
	x.table[len(x.runs)*x.columns].state = wayFound // no members on no hosts
	for i := len(x.runs) - 1; i >= 0; i-- {
		here := x.table[i*x.columns : (i+1)*x.columns]
		next := x.table[(i+1)*x.columns : (i+2)*x.columns]
		copy(here, next)
		for _, c := range d.listedOf(i) {
			w := d.wayOf(c.host, c.members)
			for j := int(c.members); j < x.columns; j++ {
				rest := &next[j-int(c.members)]
				if rest.state != wayFound {
					continue
				}
				sum := w.sums.plus(&rest.sums)
				if here[j].state != wayFound || sum.compare(&here[j].sums) < 0 {
					here[j] = way{state: wayFound, sums: sum}
				}
			}
		}
	}
}

// listedOf returns the ways of the i-th listed host, the most members first.
func (d *decision) listedOf(i int) []choiceOfWay {
	x := &d.spread
	end := len(x.listed)
	if i+1 < len(x.runs) {
		end = int(x.runs[i+1])
	}
	return x.listed[x.runs[i]:end]
}

// result returns what all members cost.
func (d *decision) result() *way { return &d.spread.table[d.spread.columns-1] }

// eachChoice calls f with the choices of the cheapest plan, in node order. Of
// equals it puts the most members on the first host, so that their nodes come
// first in node order.
func (d *decision) eachChoice(f func(choiceOfWay)) {
	x := &d.spread
	j := x.columns - 1
	for i := range x.runs {
		here := &x.table[i*x.columns+j]
		for _, c := range d.listedOf(i) {
			if int(c.members) > j {
				continue
			}
			rest := &x.table[(i+1)*x.columns+j-int(c.members)]
			if rest.state != wayFound {
				continue
			}
			w := d.wayOf(c.host, c.members)
			if sum := w.sums.plus(&rest.sums); sum.compare(&here.sums) == 0 {
				f(c)
				j -= int(c.members)
				break
			}
		}
	}
}
