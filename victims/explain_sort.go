package victims

import (
	"iter"
	"math/bits"
	"slices"
	"strings"
)

// A keyedTask is a task with a number that mostly tells its key from others, and says
// which comes first.
type keyedTask struct {
	start uint64
	id    TaskID
	rule  Rule
}

// sortByKey returns tasks sorted by key, which are packed. Where these are the same the
// keys themselves are compared.
func (d inquiry) sortByKey(rows []keyedTask, p *keyPacking) []keyedTask {
	if p.strange {
		p.learn(d, 1)
		for i := range rows {
			rows[i].start = p.pack(d.c.tasks[rows[i].id].key)
		}
	}
	rows, d.scratch.unkeyed = sortByStart(rows, d.scratch.unkeyed)
	d.scratch.keyed = rows
	for first := 0; first < len(rows); {
		end := first + 1
		for end < len(rows) && rows[end].start == rows[first].start {
			end++
		}
		if end > first+1 {
			slices.SortFunc(rows[first:end], func(a, b keyedTask) int {
				return strings.Compare(d.c.tasks[a.id].key, d.c.tasks[b.id].key)
			})
		}
		first = end
	}
	return rows
}

// packedBytes is up to how many bytes of a key are packed, and sampledKeys how many keys
// mostly tell which bytes there are.
const packedBytes, sampledKeys = 64, 256

// A keyPacking packs what distinguishes the keys of a cluster into numbers, so that the
// order of numbers is that of keys, as far as there is room. Keys begin alike, with the
// name of a namespace, and after that have digits in one place and letters in another. So
// each place has a code of its own, which takes only the bits that it needs. A number says
// more of a key than eight bytes of it, and there is less of it to sort by.
//
// A few keys tell which bytes there are in each place, and all others are packed by them.
// If one of those is strange, all are asked.
type keyPacking struct {
	prefix  string                  // what all keys begin with
	codes   [packedBytes][256]uint8 // by place behind that, and byte; 0 is the end of a key
	bits    [packedBytes]uint8
	places  int
	strange bool // a key has a byte without a code
}

// learn makes the codes for the keys of every so many rows.
func (p *keyPacking) learn(d inquiry, every int) {
	*p = keyPacking{}
	// What all keys begin with would take a code per byte, and tells nothing.
	first := true
	for key := range d.keys(every) {
		if first {
			p.prefix, first = key, false
		}
		for !strings.HasPrefix(key, p.prefix) {
			p.prefix = p.prefix[:len(p.prefix)-1]
		}
	}
	for key := range d.keys(every) {
		for i, b := range []byte(key[len(p.prefix):min(len(key), len(p.prefix)+packedBytes)]) {
			p.codes[i][b] = 1
		}
	}
	// From the first place on, since that decides first. The number that is full leaves
	// the rest to the keys.
	for left := 64; p.places < packedBytes; p.places++ {
		codes := &p.codes[p.places]
		if every > 1 {
			widen(codes)
		}
		n := enumerate(codes)
		if left -= n; n == 0 || left < 0 {
			break // all keys have ended, or the number is full
		}
		p.bits[p.places] = uint8(n)
	}
}

// keys are those of every so many rows.
func (d inquiry) keys(every int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 0; i < len(d.c.tasks); i += every {
			if r := &d.c.tasks[i]; r.flags.has(flagLive) && !yield(r.key) {
				return
			}
		}
	}
}

// widen marks all digits, or letters, if one of them is marked: others will follow.
func widen(marked *[256]uint8) {
	for _, class := range [...]struct{ from, to byte }{{'0', '9'}, {'a', 'z'}, {'A', 'Z'}} {
		if bytes := marked[class.from : class.to+1]; slices.Contains(bytes, 1) {
			for i := range bytes {
				bytes[i] = 1
			}
		}
	}
}

// enumerate numbers the bytes that are marked from 1, and returns how many bits that takes.
func enumerate(marked *[256]uint8) int {
	last := uint8(0)
	for b := range marked {
		// With all bytes in use the last two share a number, and keys tell them apart.
		if marked[b] != 0 && last < 255 {
			last++
		}
		marked[b] *= last
	}
	return bits.Len8(last)
}

// pack returns the number of a key.
func (p *keyPacking) pack(key string) (packed uint64) {
	if !strings.HasPrefix(key, p.prefix) {
		p.strange = true
		return 0
	}
	key = key[len(p.prefix):]
	// A single key was asked, and its end is no place.
	p.strange = p.strange || p.places == 0 && key != ""
	for i := range p.places {
		packed <<= p.bits[i]
		if i < len(key) {
			code := p.codes[i][key[i]]
			p.strange = p.strange || code == 0
			packed |= uint64(code)
		}
	}
	return packed
}

// A digit of a number has so many bits.
const digitBits, digits = 11, (64 + 10) / 11

// sortByStart sorts rows by start, digit after digit, the last one first: each time
// those of equal digits stay in the order that they have. It returns them and the memory
// that is left over, which is either of the two that it was given.
//
// The cost is linear in rows. To compare them takes several times as long in a large
// cluster.
func sortByStart(rows, spare []keyedTask) (sorted, left []keyedTask) {
	// Numbers are mostly short: digits that all are 0 are passed over.
	all := uint64(0)
	for i := range rows {
		all |= rows[i].start
	}
	var counts [digits][1 << digitBits]int32
	used := counts[:(bits.Len64(all)+digitBits-1)/digitBits]
	for i := range rows {
		start := rows[i].start
		for d := range used {
			used[d][start%(1<<digitBits)]++
			start >>= digitBits
		}
	}
	spare = slices.Grow(spare[:0], len(rows))[:len(rows)]
	for d := range used {
		next, shift := int32(0), d*digitBits
		for v, n := range used[d] {
			used[d][v] = next
			next += n
		}
		for i := range rows {
			at := &used[d][rows[i].start>>shift%(1<<digitBits)]
			spare[*at] = rows[i]
			*at++
		}
		rows, spare = spare, rows
	}
	return rows, spare
}
