package quota

import "github.com/go-preempt/preempt/resources"

// A Miss is what may stay over a max if no more can be had: an amount of each
// type, or a share of its target rounded down, whichever is more. 10 % are
// resources.Share{Amount: 10, Of: 100}. The zero Miss allows nothing. Negative
// amounts count as 0.
type Miss struct {
	Amounts resources.Vector
	Share   resources.Share
}

// Allows reports whether what is short of a target, in every type, may be
// missed. The share is compared exactly.
func (m Miss) Allows(shortfall, target resources.Vector) bool {
	for t, short := range shortfall {
		if short <= 0 || short <= m.Amounts.At(t) {
			continue
		}
		if (resources.Share{Amount: short, Of: target.At(t)}).Compare(m.Share) > 0 {
			return false
		}
	}
	return true
}
