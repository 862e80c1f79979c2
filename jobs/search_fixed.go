package jobs

import (
	"math"
	"math/bits"
)

// A fixed is a number in steps of 1/fixedOne. Prices come of a programme that needs
// fractions, and no float decides anything here: these are the same on every
// machine.
type fixed int64

const fixedOne fixed = 1 << 30

// fixedOf returns a/b, for b > 0, or the number closest to it.
func fixedOf(a, b int64) fixed { return fixed(a).over(fixed(b)) }

// times returns the product, or the number closest to it.
func (x fixed) times(y fixed) fixed {
	hi, lo := bits.Mul64(x.size(), y.size())
	if hi >= 1<<29 {
		return signed(math.MaxInt64, x, y)
	}
	return signed(hi<<34|lo>>30, x, y)
}

// over returns the quotient, or the number closest to it.
func (x fixed) over(y fixed) fixed {
	n := x.size()
	hi, lo := n>>34, n<<30
	if d := y.size(); hi < d {
		n, _ = bits.Div64(hi, lo, d)
		return signed(min(n, math.MaxInt64), x, y)
	}
	return signed(math.MaxInt64, x, y)
}

// size returns the number without its sign.
func (x fixed) size() uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

// signed returns a size with the sign of a product of two numbers.
func signed(n uint64, x, y fixed) fixed {
	if (x < 0) != (y < 0) {
		return -fixed(n)
	}
	return fixed(n)
}
