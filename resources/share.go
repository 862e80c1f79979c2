package resources

import (
	"fmt"

	"github.com/go-preempt/preempt/internal/wide"
)

// A Share is an amount of a capacity, a fraction that is never divided out.
// Shares of different capacities compare exactly.
//
// A negative Amount counts as 0. A capacity Of that is not positive counts as 1:
// any amount of a type that the cluster does not have is a large share. The zero
// Share is a share of nothing.
type Share struct {
	Amount, Of int64
}

// Compare returns -1, 0 or +1 as s is smaller than, equal to or larger than o.
// Shares are compared by their value: {1, 2} and {2, 4} are equal.
func (s Share) Compare(o Share) int {
	s, o = s.normal(), o.normal()
	return wide.CmpRatio(uint64(s.Amount), uint64(s.Of), uint64(o.Amount), uint64(o.Of))
}

// String returns the share as it counts, as in "3/10".
func (s Share) String() string {
	s = s.normal()
	return fmt.Sprintf("%d/%d", s.Amount, s.Of)
}

func (s Share) normal() Share {
	return Share{Amount: max(s.Amount, 0), Of: max(s.Of, 1)}
}

// DominantShare returns the largest share that v has of capacity in any type. If
// several are equal, it is that of the first type. If v has no positive amount, it
// is the zero Share.
//
// Source: the dominant share of Ghodsi et al., "Dominant Resource Fairness",
// NSDI 2011, for several types and exact fractions.
func DominantShare(v, capacity Vector) Share {
	var largest Share
	for i, a := range v {
		if a <= 0 {
			continue
		}
		s := Share{Amount: a, Of: capacity.At(i)}.normal()
		if s.Compare(largest) > 0 {
			largest = s
		}
	}
	return largest
}
