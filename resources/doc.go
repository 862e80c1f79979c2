// SPDX-License-Identifier: Apache-2.0

// Package resources is what the other packages count with: amounts of several resource types, and bounds on
// some of them.
//
// A [Schema] gives every type a position. A [Vector] is an amount of every type: a usage, a size, a capacity. A
// [Limit] bounds some types: a guarantee or a max. A type that a limit does not name is not limited; zero is a
// limit.
//
// # Units
//
// An amount is an int64 in base units, which the name of its type decides: thousandths for cpu and vcore, ones
// (bytes, devices) for all else. So write amounts as text:
//
//	size, err := schema.Parse("cpu=8 gpu=1 memory=64Gi") // 8000, 1, 68719476736
//
// Arithmetic saturates at ±math.MaxInt64, and math.MinInt64 is read as -math.MaxInt64; otherwise it is exact. Over and
// Short are clamped at zero; only Sub and SubOnlyExisting are signed.
//
// # Calling convention
//
// Functions that return a Vector or a Limit take the place for it as their first argument:
//
//	usage = resources.Add(usage, usage, size) // usage += size
//	var left resources.Vector
//	left = resources.Sub(left, capacity, usage) // allocates once
//
// The rules are:
//
//   - The result is what is returned, as long as the longest operand. It is allocated if the capacity of the
//     destination is too small.
//   - The destination may be an operand, or start where one does, and must not overlap one otherwise.
//   - Other operands are not modified. They may be of any length: a position beyond the end is zero, and for a
//     Limit that defines it a bound of zero. No operand panics.
//
// The cost is linear in types. Any number of goroutines may use a Schema. Vectors and limits share storage when
// copied.
package resources
