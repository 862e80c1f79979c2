package victims

import "fmt"

// An OwnLeaf says whether less important work of the ask's own leaf may make
// room for it, and what law 2 then means for the queues of its path. The zero
// value is never. (DESIGN.md, The own leaf.)
type OwnLeaf uint8

const (
	// OwnNever: tasks of the ask's own leaf are never victims.
	OwnNever OwnLeaf = iota
	// OwnMet: they may be, and a guarantee that was met stays met. A queue that
	// is under its guarantee ends no lower, except in types that the ask uses.
	// No storm exists.
	OwnMet
	// OwnAny: they may be, and what a queue gives up of its own is its own
	// affair. Storms exist below priority fences and offsets, so this is for
	// plain trees.
	OwnAny

	numOwnLeaves
)

var ownLeafWords = [numOwnLeaves]string{OwnNever: "never", OwnMet: "met", OwnAny: "any"}

// String returns the stable word for the option: never, met or any.
func (o OwnLeaf) String() string {
	if o < numOwnLeaves {
		return ownLeafWords[o]
	}
	return fmt.Sprintf("OwnLeaf(%d)", uint8(o))
}
