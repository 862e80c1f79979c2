package quota

import (
	"encoding/binary"
	"slices"
	"strings"
)

// keyRow is a task with the beginning of its key after what the keys of all
// have in common, so that most comparisons need not look at the keys.
type keyRow struct {
	start uint64
	row   int32
}

// sortByKey returns the victims in the order of their keys, in memory that the
// next call reuses.
func (x *reporter) sortByKey() []keyRow {
	x.keys = x.keys[:0]
	var first string
	common := 0
	for i, taken := range x.taken {
		if !taken {
			continue
		}
		key := x.tasks[i].key
		if len(x.keys) == 0 {
			first, common = key, len(key)
		}
		common = min(common, len(key))
		for key[:common] != first[:common] {
			common--
		}
		x.keys = append(x.keys, keyRow{row: int32(i)})
	}
	for i := range x.keys {
		var start [8]byte
		copy(start[:], x.tasks[x.keys[i].row].key[common:])
		x.keys[i].start = binary.BigEndian.Uint64(start[:])
	}
	slices.SortFunc(x.keys, func(a, b keyRow) int {
		switch {
		case a.start < b.start:
			return -1
		case a.start > b.start:
			return +1
		}
		return strings.Compare(x.tasks[a.row].key, x.tasks[b.row].key)
	})
	return x.keys
}
