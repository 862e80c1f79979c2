package quota

import (
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// searchAll looks for a better set among all tasks below q if the rounds ended
// short: parts, order and trims may have led to one that no further task fits,
// though others together would free more. First it asks for all that can be
// hoped for, which is the whole target if that can be. If no set has it, it asks
// for as much as can be of one type after another, and no less of the others.
// The cheapest set that has it, as of a leaf, takes the place of the victims.
// So what is freed of the target never falls. It reports whether it grew.
//
// The cost is that of looking at all tasks below q if sums show that there is no
// more, and of the searches if they do not.
//
// In the end no legal set frees more of one type and as much of the others,
// unless a search was cut short.
func (f *finder) searchAll() (more bool) {
	for w := range f.tree.Leaves(f.q) {
		if !f.at(w).out {
			f.gather(w)
		}
	}
	f.had = resources.Copy(f.had, f.row(f.freed, f.q))
	f.lift(0, int32(len(f.tasks)))
	n, hope := f.hope()
	if hope && !f.allow(n) {
		f.unproven, hope = true, false
	}
	if !hope {
		f.putBack() // all that could be had is taken, or nobody knows
		return false
	}
	f.poseAll()
	copy(f.poser.need, f.row(f.most, f.q))
	if more = f.solve(n); !more {
		for _, t := range f.list {
			more = f.raise(t, n) || more
		}
	}
	if more {
		f.takeFound()
	} else {
		f.putBack()
	}
	return more
}

// hope works out what of each type of the target could be freed below each
// queue, if the other types and the sums of sizes did not matter. It returns
// how many tasks could be among the victims, and whether there is hope to free
// more of q than was freed.
func (f *finder) hope() (n int, hope bool) {
	f.most = f.block(f.most)
	for p := f.tree.End(f.q) - 1; p >= f.q; p-- {
		if f.at(p).out {
			continue
		}
		most := f.row(f.most, p)
		if f.tree.IsLeaf(p) {
			n += f.sumLegal(most, p)
		}
		for c := p + 1; c < f.tree.End(p); c = f.tree.End(c) {
			for _, t := range f.list {
				most[t] += f.row(f.most, c)[t]
			}
		}
		room := f.row(f.room, p)
		for _, t := range f.list {
			most[t] = min(most[t], room[t])
		}
	}
	f.single = f.roomOf(f.single, f.q)
	most := f.row(f.most, f.q)
	for _, t := range f.list {
		most[t] = min(most[t], f.single[t], f.target[t])
		hope = hope || most[t] > f.had[t]
	}
	return n, hope
}

// sumLegal adds to sum the sizes of those tasks of leaf w that could go if
// nobody else did, and returns their number.
func (f *finder) sumLegal(sum resources.Vector, w queue.ID) (n int) {
	f.single = f.roomOf(f.single, w)
	f.limitExactly(f.single, f.target)
	f.pass++
	row := f.at(w)
	for i := row.first; i < row.end; i++ {
		if alone, together := f.couldGo(i, f.target); alone || together {
			n++
			for _, t := range f.list {
				sum[t] += f.size(i)[t]
			}
		}
	}
	return n
}

// poseAll makes a problem of all tasks below q, but for what they should free.
// What they may free is a bound for each queue with a guarantee (law 2), one for
// those above q, and with Exact another one for all.
func (f *finder) poseAll() {
	k := &f.poser
	f.clearProblem(f.target)
	all := resources.Mask(1)<<(f.types-1)<<1 - 1
	shared := len(k.lists)
	if _, ok := f.tree.Parent(f.q); ok {
		k.lists = append(k.lists, k.bound(f.above, all))
	}
	if f.e.Overshoot == Exact {
		k.lists = append(k.lists, k.bound(f.target, f.wanted))
	}
	end := len(k.lists)
	k.ofQueue = rows.Zeros(k.ofQueue, f.len())
	for p := f.q; p < f.tree.End(f.q); p++ {
		if f.tree.Guaranteed(p).Defined != 0 {
			k.ofQueue[p-f.q] = k.bound(f.row(f.room, p), all) + 1
		}
	}
	for w := range f.tree.Leaves(f.q) {
		if f.at(w).out {
			continue
		}
		from := len(k.lists)
		for p := range f.tree.Up(w) {
			if p < f.q {
				break
			}
			if b := k.ofQueue[p-f.q]; b > 0 {
				k.lists = append(k.lists, b-1)
			}
		}
		k.lists = append(k.lists, k.lists[shared:end]...)
		f.single = f.roomOf(f.single, w)
		f.limitExactly(f.single, f.target)
		f.addUnits(w, f.target, k.need, k.lists[from:len(k.lists):len(k.lists)])
	}
	f.problem.Bounds = k.bounds
}

// raise frees as much more of type t as it can, and of the others no less than
// was freed before. It reports whether it is more. As a rule there is none, so
// that the first search is for one more; those that follow halve what can still
// be hoped for. The last set found is the cheapest that frees the most.
func (f *finder) raise(t, n int) (more bool) {
	need := f.poser.need
	for _, u := range f.list {
		need[u] = min(f.had[u], f.target[u])
	}
	for most := f.row(f.most, f.q)[t]; f.had[t] < most; {
		need[t] = f.had[t] + 1
		if more {
			need[t] += (most - f.had[t] - 1) / 2
		}
		if f.solve(n) {
			more = true
		} else if most = need[t] - 1; !more {
			break
		}
	}
	return more
}
