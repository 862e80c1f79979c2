package jobs

import (
	"cmp"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/sat"
)

// tiers are classes of hosts, by what is free of one type there with nobody gone,
// with the largest candidate gone, with the two largest gone, and so on. A host has
// no more than its tier says, whoever goes: so what is shown of tiers holds for
// hosts. There are few of them, however many hosts there are.
type tiers struct {
	*jobCase
	list  []tier
	steps []int64 // of the hosts, one after another
	first []int32 // those of host h are steps[first[h]:first[h+1]]
	sizes []int64 // scratch: of the candidates on a host
	start []int32 // scratch: candidates of host h are sizes[start[h]:start[h+1]]
	order []int32 // hosts, those with the most room first
	rooms []int64 // the steps of the tiers
	depth int     // steps that matter, by the account of who asks; see depthFor
}

// A tier is a number of hosts, and what is free there at most with so many gone.
type tier struct {
	hosts int64
	steps []int64
}

// A tierQuestion says what tiers are about.
type tierQuestion struct {
	typ     int
	ceiling ceiling // of who may go
	open    []bool  // by host: whether a member may have room there as it is
}

// noRoom is what a host has that takes nobody.
const noRoom = -1

// measure sorts the hosts into tiers.
func (x *tiers) measure(q *tierQuestion) {
	x.listSizes(q)
	x.addSteps(q)
	x.order = x.order[:0]
	for h := range x.hosts {
		x.order = append(x.order, int32(h))
	}
	slices.SortFunc(x.order, func(g, h int32) int { return x.compare(h, g) })
	x.group()
}

// listSizes lists the sizes of the candidates of every host, the largest first.
func (x *tiers) listSizes(q *tierQuestion) {
	// A counting sort by host, as that of a bounder.
	x.start = rows.Zeros(x.start, len(x.hosts)+1)
	counts := func(i int) bool {
		// Those who have nothing of the type count, too: what they free of another may
		// be all that keeps members out.
		return x.usable[i] && x.cands[i].host >= 0 && q.ceiling.lets(&x.grades[i])
	}
	for i := range x.cands {
		if counts(i) {
			x.start[x.cands[i].host+1]++
		}
	}
	for h := range x.hosts {
		x.start[h+1] += x.start[h]
	}
	x.sizes = rows.Zeros(x.sizes, int(x.start[len(x.hosts)]))
	for i := range x.cands {
		if counts(i) {
			c := &x.cands[i]
			x.sizes[x.start[c.host]] = c.size.At(q.typ)
			x.start[c.host]++
		}
	}
	copy(x.start[1:], x.start)
	x.start[0] = 0
	for h := range x.hosts {
		slices.SortFunc(x.sizes[x.start[h]:x.start[h+1]], func(a, b int64) int { return cmp.Compare(b, a) })
	}
}

// addSteps works the steps of every host out.
func (x *tiers) addSteps(q *tierQuestion) {
	x.steps, x.first = x.steps[:0], append(x.first[:0], 0)
	for h := range x.hosts {
		room := x.hosts[h].free[q.typ]
		if q.open[h] {
			x.steps = append(x.steps, max(room, noRoom))
		} else {
			// Types other than this one may keep members out, too.
			x.steps = append(x.steps, noRoom)
		}
		// An over-committed host must be paid back before a member has room there, so
		// room may stay negative for a while.
		for _, size := range x.sizes[x.start[h]:x.start[h+1]] {
			room = sat.Add(room, size)
			x.steps = append(x.steps, room)
		}
		x.first = append(x.first, int32(len(x.steps)))
	}
}

// of returns the steps of a host.
func (x *tiers) of(h int32) []int64 { return x.steps[x.first[h]:x.first[h+1]] }

// after returns what there is with so many gone, or all if these are fewer.
func after(steps []int64, gone int) int64 { return steps[min(gone, len(steps)-1)] }

// depthFor returns how many must go on some host until there is so much room, or
// until all are gone on the host with the most of them.
func (x *tiers) depthFor(room int64) (depth int) {
	most := 1
	for h := range x.hosts {
		most = max(most, len(x.of(int32(h)))-1)
	}
	for depth = 1; depth < most; depth++ {
		for h := range x.hosts {
			if after(x.of(int32(h)), depth) >= room {
				return depth
			}
		}
	}
	return depth
}

// compare orders hosts by whether members may have room as it is, which costs
// nothing and is worth a tier of its own; then by the room that one victim makes, and
// by that of more. Hosts that are alike to tiers become neighbours.
func (x *tiers) compare(g, h int32) int {
	a, b := x.of(g), x.of(h)
	return cmp.Or(x.compareOpen(g, h), cmp.Compare(after(a, 1), after(b, 1)), slices.Compare(a, b))
}

// compareOpen puts closed hosts first.
func (x *tiers) compareOpen(g, h int32) int {
	return cmp.Compare(min(x.of(g)[0], 0), min(x.of(h)[0], 0))
}

// group makes tiers of the hosts in their order. The first ones matter most, for a
// plan takes the hosts with most room; so their tiers are small.
func (x *tiers) group() {
	const first = 1 // host; each tier ends at twice as many as the one before it
	x.list, x.rooms = x.list[:0], x.rooms[:0]
	end := first
	for from := 0; from < len(x.order); {
		to := from + 1
		for ; to < len(x.order); to++ {
			last, h := x.order[to-1], x.order[to]
			if x.compareOpen(last, h) != 0 || to >= end && x.compare(last, h) != 0 {
				break
			}
		}
		x.add(x.order[from:to])
		for end <= to {
			end *= 2
		}
		from = to
	}
	// Only now, for rooms may have moved while it grew.
	at := 0
	for i := range x.list {
		n := len(x.list[i].steps)
		x.list[i].steps = x.rooms[at : at+n]
		at += n
	}
}

// add makes a tier of some hosts: step by step the most that any of them has.
func (x *tiers) add(hosts []int32) {
	from := len(x.rooms)
	longest := 0
	for _, h := range hosts {
		longest = max(longest, len(x.of(h)))
	}
	for i := range longest {
		most := int64(noRoom)
		for _, h := range hosts {
			most = max(most, after(x.of(h), i))
		}
		x.rooms = append(x.rooms, most)
	}
	x.list = append(x.list, tier{hosts: int64(len(hosts)), steps: x.rooms[from:]})
}
