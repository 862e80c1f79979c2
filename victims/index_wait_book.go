package victims

import (
	"cmp"
	"iter"
	"slices"
)

// A waitBook knows the grants in the order in which they were given, and the
// victims that each of them waits for. Grants of one change wait for the same
// victims: those share a row of waits. See DESIGN.md, Waiting grants.
type waitBook struct {
	grants   []grantRow    // in the order in which they were given
	granting int64         // how many grants were given so far
	waits    []waitRow     // row 0 is none
	dryWaits []int32       // those of no grant
	waitOf   column[int32] // of a victim, the row of waits of the grants that wait for it

}

// grantRow is what a cluster knows of a grant beside its row.
type grantRow struct {
	number int64 // in the order of giving; taskRow.scheduled has it, too
	since  int64 // nanoseconds since 1970, if dated
	task   TaskID
	wait   int32 // the row of waits, 0 for none
	dated  bool
}

// waitRow is the victims of a change, for whose room its grants wait.
type waitRow struct {
	victims []TaskID // those that are leaving still
	grants  int32    // how many grants wait for them
}

// Grants yields the grants in the order in which they were given.
func (x *waitBook) Grants() iter.Seq[TaskID] {
	return func(yield func(TaskID) bool) {
		for i := range x.grants {
			if !yield(x.grants[i].task) {
				return
			}
		}
	}
}

// addGrant puts a new grant after all others, and returns its number.
func (x *waitBook) addGrant(id TaskID) (number int64) {
	x.granting++
	x.grants = append(x.grants, grantRow{number: x.granting, task: id})
	return x.granting
}

// numbered returns what is known of the grant of a number.
func (x *waitBook) numbered(number int64) *grantRow { return &x.grants[x.find(number)] }

func (x *waitBook) find(number int64) int {
	i, _ := slices.BinarySearchFunc(x.grants, number, func(g grantRow, number int64) int {
		return cmp.Compare(g.number, number)
	})
	return i
}

// dropGrant takes a grant, which is to start or to go, out of the order. Victims
// that nobody waits for any more are victims still, of no one.
func (x *waitBook) dropGrant(number int64) {
	i := x.find(number)
	if w := x.grants[i].wait; w != 0 {
		x.waits[w].grants--
		if x.waits[w].grants == 0 {
			x.dissolve(w)
		}
	}
	x.grants = slices.Delete(x.grants, i, i+1)
}

// newWait returns an empty row of waits for so many grants.
func (x *waitBook) newWait(grants int) (w int32) {
	if last := len(x.dryWaits) - 1; last >= 0 {
		w, x.dryWaits = x.dryWaits[last], x.dryWaits[:last]
	} else {
		if len(x.waits) == 0 {
			x.waits = append(x.waits, waitRow{}) // 0 is none
		}
		w = int32(len(x.waits))
		x.waits = append(x.waits, waitRow{})
	}
	x.waits[w].grants = int32(grants)
	return w
}

// dissolve frees a row of waits for which no grant waits any more.
func (x *waitBook) dissolve(w int32) {
	for _, id := range x.waits[w].victims {
		x.waitOf.set(int(id), 0, 0)
	}
	x.waits[w].victims = x.waits[w].victims[:0]
	x.dryWaits = append(x.dryWaits, w)
}

// placeOf returns the row of waits that a victim is in, 0 for none, and its place
// there.
func (x *waitBook) placeOf(id TaskID) (w int32, place int) {
	if w = x.waitOf.at(int(id)); w != 0 {
		place = slices.Index(x.waits[w].victims, id)
	}
	return w, place
}

// waitFor puts a victim at a place of a row of waits.
func (x *waitBook) waitFor(w int32, id TaskID, place int) {
	x.waits[w].victims = slices.Insert(x.waits[w].victims, place, id)
	x.waitOf.set(int(id), 0, w) // await has made room
}

// stopWaiting notes that a task is no victim any more: it has gone, or stays.
func (x *waitBook) stopWaiting(id TaskID) {
	w, place := x.placeOf(id)
	if w == 0 {
		return
	}
	x.waits[w].victims = slices.Delete(x.waits[w].victims, place, place+1)
	x.waitOf.set(int(id), 0, 0)
}

// copyFrom makes x a copy of y in its own memory.
func (x *waitBook) copyFrom(y *waitBook) {
	x.grants, x.granting = reuse(x.grants, y.grants), y.granting
	x.dryWaits = reuse(x.dryWaits, y.dryWaits)
	x.waits = resized(x.waits, len(y.waits))
	for i := range x.waits {
		x.waits[i].victims = reuse(x.waits[i].victims, y.waits[i].victims)
		x.waits[i].grants = y.waits[i].grants
	}
	x.waitOf = reuse(x.waitOf, y.waitOf)
}
