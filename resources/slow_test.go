// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"errors"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// This file says again what the package does, in big integers and fractions,
// position by position, for reading and not for speed.

var (
	bigMost  = big.NewInt(math.MaxInt64)
	bigLeast = big.NewInt(-math.MaxInt64)
)

// slowAt returns the amount at position i.
func slowAt(x Vector, i int) *big.Int {
	if i >= len(x) {
		return new(big.Int)
	}
	return big.NewInt(slowClamp(big.NewInt(x[i])))
}

// slowBound returns the bound of l on type i, and whether there is one.
func slowBound(l Limit, i int) (*big.Int, bool) {
	if i >= 64 || uint64(l.Defined)&(1<<i) == 0 {
		return new(big.Int), false
	}
	return slowAt(l.Value, i), true
}

// slowClamp returns z, or the end of the range where z is beyond it.
func slowClamp(z *big.Int) int64 {
	switch {
	case z.Cmp(bigMost) > 0:
		return math.MaxInt64
	case z.Cmp(bigLeast) < 0:
		return -math.MaxInt64
	}
	return z.Int64()
}

// slowPositive returns the positive part of z.
func slowPositive(z *big.Int) *big.Int {
	if z.Sign() < 0 {
		return new(big.Int)
	}
	return z
}

// slowShare returns the share that x has of capacity at position i.
func slowShare(x, capacity Vector, i int) *big.Rat {
	of := slowAt(capacity, i)
	if of.Sign() <= 0 {
		of = big.NewInt(1)
	}
	return new(big.Rat).SetFrac(slowPositive(slowAt(x, i)), of)
}

var quantityRE = regexp.MustCompile(`^([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)(?:([numkMGTPE]?)|([KMGTPE]i)|[eE]([+-]?[0-9]+))$`)

var slowSuffixes = map[string]string{
	"n": "1/1000000000", "u": "1/1000000", "m": "1/1000", "": "1",
	"k": "1000", "M": "1000000", "G": "1000000000", "T": "1000000000000",
	"P": "1000000000000000", "E": "1000000000000000000",
	"Ki": "1024", "Mi": "1048576", "Gi": "1073741824", "Ti": "1099511627776",
	"Pi": "1125899906842624", "Ei": "1152921504606846976",
}

// slowParseQuantity is ParseQuantity, in fractions and without the wrapping of
// its errors.
func slowParseQuantity(typeName, text string) (int64, error) {
	m := quantityRE.FindStringSubmatch(text)
	if m == nil {
		return 0, errQuantity
	}
	sign, number, suffix, exponent := m[1], m[2], m[3]+m[4], m[5]
	value := slowRat(number)
	if value.Sign() == 0 {
		return 0, nil
	}
	if sign == "-" {
		return 0, errNegative
	}
	if exponent != "" {
		// A power of ten that no digits of the text can make up for is not
		// worth computing.
		e, err := strconv.Atoi(exponent)
		if errors.Is(err, strconv.ErrRange) || max(e, -e) > len(text)+100 {
			if strings.HasPrefix(exponent, "-") {
				return 0, errFraction
			}
			return 0, errRange
		}
		value.Mul(value, slowRat("1e"+exponent))
	}
	value.Mul(value, slowRat(slowSuffixes[suffix]))
	if typeName == "cpu" || typeName == "vcore" {
		value.Mul(value, slowRat("1000"))
	}
	if !value.IsInt() {
		return 0, errFraction
	}
	if value.Num().Cmp(bigMost) > 0 {
		return 0, errRange
	}
	return value.Num().Int64(), nil
}

func slowRat(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("no number: " + text)
	}
	return r
}
