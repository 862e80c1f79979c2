package victims

import (
	"encoding/binary"
	"slices"
	"strings"
)

// A keyedTask is a task with the bytes of its key that mostly tell it from others.
type keyedTask struct {
	start uint64
	id    TaskID
	rule  Rule
}

// sortByKey returns tasks sorted by key. Keys have much in common at their beginning, so
// the eight bytes after that are compared as a number, and keys only if these are
// the same.
func (d inquiry) sortByKey(rows []keyedTask) []keyedTask {
	if len(rows) == 0 {
		return rows
	}
	// Keys of one cluster often begin alike: with the name of their namespace.
	first := d.c.tasks[rows[0].id].key
	common := len(first)
	for _, row := range rows {
		key := d.c.tasks[row.id].key
		common = min(common, len(key))
		for key[:common] != first[:common] {
			common--
		}
	}
	for i := range rows {
		// What is shorter ends in zeros; if that makes two the same, keys decide.
		var start [8]byte
		copy(start[:], d.c.tasks[rows[i].id].key[common:])
		rows[i].start = binary.BigEndian.Uint64(start[:])
	}
	rows, d.scratch.unkeyed = sortByStart(rows, d.scratch.unkeyed)
	d.scratch.keyed = rows
	for first := 0; first < len(rows); {
		end := first + 1
		for end < len(rows) && rows[end].start == rows[first].start {
			end++
		}
		slices.SortFunc(rows[first:end], func(a, b keyedTask) int {
			return strings.Compare(d.c.tasks[a.id].key, d.c.tasks[b.id].key)
		})
		first = end
	}
	return rows
}

// sortByStart sorts rows by start, byte after byte, the last one first: each time
// those of equal bytes stay in the order that they have. It returns them and the memory
// that is left over, which is either of the two that it was given.
//
// The cost is linear in rows. To compare them takes several times as long in a large
// cluster.
func sortByStart(rows, spare []keyedTask) (sorted, left []keyedTask) {
	var counts [8][256]int32
	for i := range rows {
		for b := range counts {
			counts[b][byte(rows[i].start>>(8*b))]++
		}
	}
	spare = slices.Grow(spare[:0], len(rows))[:len(rows)]
	for b := range counts {
		// Keys are mostly shorter than eight bytes, or have some byte in common.
		if int(counts[b][byte(rows[0].start>>(8*b))]) == len(rows) {
			continue
		}
		next := int32(0)
		for v, n := range counts[b] {
			counts[b][v] = next
			next += n
		}
		for i := range rows {
			at := &counts[b][byte(rows[i].start>>(8*b))]
			spare[*at] = rows[i]
			*at++
		}
		rows, spare = spare, rows
	}
	return rows, spare
}
