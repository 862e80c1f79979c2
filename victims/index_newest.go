package victims

import "math"

// numLatest is how many instants a row of digestRows.latest has. If the node has
// fewer tasks, the others are the farthest past. Any value between 1 and 16 leads
// to the same searches on the plain load of bench. With more of them, more nodes
// are passed over before their lanes are read; 8 fill one cache line.
const numLatest = 12

// farLane stands for a lane that has no number: there are so many on the node that a
// byte does not tell them apart, or the node has fewer tasks than instants.
const farLane = math.MaxUint8

// laneByte returns the number of a lane as a byte.
func laneByte(i int) uint8 { return uint8(min(i, farLane)) }

// A newestRow is the newest tasks of a node: when their work began, the last first, and
// the lane of each.
type newestRow struct {
	times *[numLatest]int64
	lanes *[numLatest]uint8
	n     int
}

// newest returns the row of a node.
func (g *digestRows) newest(n NodeID) newestRow {
	at := int(n) * numLatest
	return newestRow{times: (*[numLatest]int64)(g.latest[at:]), lanes: (*[numLatest]uint8)(g.lanes[at:])}
}

// merge merges the times of a lane, which fall, into the row. Of equal ones those of
// the lane that was merged first come first.
func (r *newestRow) merge(times []int64, lane uint8) {
	// Mostly there are a few lanes, and the first is listed as it is.
	if r.n == 0 {
		r.n = copy(r.times[:], times)
		for i := range r.n {
			r.lanes[i] = lane
		}
		return
	}
	for _, v := range times {
		i := r.n
		if i == numLatest {
			if v <= r.times[numLatest-1] {
				return
			}
			i--
		} else {
			r.n++
		}
		for ; i > 0 && r.times[i-1] < v; i-- {
			r.times[i], r.lanes[i] = r.times[i-1], r.lanes[i-1]
		}
		r.times[i], r.lanes[i] = v, lane
	}
}

// fill ends the row of a node that has no more tasks.
func (r *newestRow) fill() {
	for ; r.n < numLatest; r.n++ {
		r.times[r.n], r.lanes[r.n] = math.MinInt64, farLane
	}
}
