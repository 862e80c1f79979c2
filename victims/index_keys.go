package victims

import (
	"hash/maphash"
	"math/bits"
)

// A keyIndex finds the row of a task by its key. It is a hash table with linear
// probing that holds no keys of its own, for they are in the rows: 8 bytes a
// slot; a map from strings has some 24 and a copy of each key's header.
//
// The order of its slots differs from process to process and reaches nothing:
// it is only ever asked for one key.
type keyIndex struct {
	seed  maphash.Seed
	slots []keySlot // a power of two of them, or none
	used  int
}

// A keySlot is empty if row is 0.
type keySlot struct {
	hash uint32
	row  int32 // a TaskID plus 1
}

func newKeyIndex() keyIndex { return keyIndex{seed: maphash.MakeSeed()} }

func (x *keyIndex) hash(key string) uint32 { return uint32(maphash.String(x.seed, key)) }

// find returns the row with a key of the given hash.
func (x *keyIndex) find(rows []taskRow, hash uint32, key string) (TaskID, bool) {
	// The zero table has no slots, and masks of slots want at least one.
	if len(x.slots) == 0 {
		return 0, false
	}
	for i := x.home(hash); ; i = x.after(i) {
		s := x.slots[i]
		if s.row == 0 {
			return 0, false
		}
		// The hash first: it is here, and the key in a row elsewhere.
		if s.hash == hash && rows[s.row-1].key == key {
			return TaskID(s.row - 1), true
		}
	}
}

// add adds a row whose key is not there yet. The cost is constant, but for
// growing.
func (x *keyIndex) add(hash uint32, id TaskID) {
	x.grow(1)
	x.put(keySlot{hash, int32(id) + 1})
	x.used++
}

// remove removes a row that is there. What follows it moves up, so that no
// slot stands for something that was.
func (x *keyIndex) remove(hash uint32, id TaskID) {
	i := x.home(hash)
	// By row and not by key, for the row is in the slot.
	for x.slots[i].row != int32(id)+1 {
		i = x.after(i)
	}
	mask := len(x.slots) - 1
	for j := x.after(i); x.slots[j].row != 0; j = x.after(j) {
		// It can move to i unless its home lies between the two.
		if (j-x.home(x.slots[j].hash))&mask >= (j-i)&mask {
			x.slots[i], i = x.slots[j], j
		}
	}
	x.slots[i] = keySlot{}
	x.used--
}

// grow makes room for n more rows. Three quarters of the slots are filled at most.
func (x *keyIndex) grow(n int) {
	// Linear probing is short as long as a quarter of the slots is empty: then
	// a search that finds nothing looks at some eight of them.
	n += x.used
	if n <= len(x.slots)/4*3 {
		return
	}
	old := x.slots
	// Slots have their hashes, so that no key is read when the table grows.
	x.slots = make([]keySlot, max(8, 1<<bits.Len(uint(n+n/3))))
	for _, s := range old {
		if s.row != 0 {
			x.put(s)
		}
	}
}

// put puts a slot where the first one is empty from its home on.
func (x *keyIndex) put(s keySlot) {
	i := x.home(s.hash)
	for x.slots[i].row != 0 {
		i = x.after(i)
	}
	x.slots[i] = s
}

func (x *keyIndex) home(hash uint32) int { return int(hash) & (len(x.slots) - 1) }

func (x *keyIndex) after(i int) int { return (i + 1) & (len(x.slots) - 1) }

func (x *keyIndex) copyFrom(y *keyIndex) {
	x.seed, x.used, x.slots = y.seed, y.used, reuse(x.slots, y.slots)
}
