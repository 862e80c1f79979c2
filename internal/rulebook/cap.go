// SPDX-License-Identifier: Apache-2.0

package rulebook

import "slices"

// A Cap is an option that says how many of something one plan may have; 0: any number.
type Cap uint8

const (
	CapVictims Cap = iota
	NumCaps
)

// A CapEntry is a row of the table of caps.
type CapEntry struct {
	Option string // of victims.Options
	Word   string // of the reason, of the law, and of what can be relaxed
	Noun   string // what it counts, one of them
	Ask    string // of a plan that has more, with a %s for how many
}

// capTable is all that is said of caps anywhere, in the order in which they are looked at.
var capTable = [NumCaps]CapEntry{
	CapVictims: {"MaxVictims", "max-victims", "victim", "a plan would take %s, more than one may have"},
}

// Entry returns the row of a cap.
func (c Cap) Entry() CapEntry { return capTable[c] }

// CapOf returns the cap of a word.
func CapOf(word string) (c Cap, found bool) {
	i := slices.IndexFunc(capTable[:], func(e CapEntry) bool { return e.Word == word })
	return Cap(max(i, 0)), i >= 0
}

// Caps have a number for each cap: how many a plan may have, or how many of it tasks are.
type Caps [NumCaps]int

// Admit reports whether a plan may have so many.
func (m *Caps) Admit(has Caps) bool {
	for c, most := range m {
		if most > 0 && has[c] > most {
			return false
		}
	}
	return true
}

// Bars returns the first cap without which there is a plan, as plans says.
func (m *Caps) Bars(plans func() bool) (c Cap, bars bool) {
	for c, most := range m {
		m[c] = 0
		bars = most > 0 && plans()
		if m[c] = most; bars {
			return Cap(c), true
		}
	}
	return 0, false
}
