// Package resources is what the other packages count with: amounts of several
// resource types at once, and bounds on some of them.
//
// # Three types
//
// A [Schema] gives every resource type of a cluster a position, once, in the
// caller's order. After that a type is a small integer and its name matters
// only when text is read or printed.
//
// A [Vector] is an amount of every type, by position: a usage, the size of a
// task, the capacity of a node. What is not there is zero.
//
// A [Limit] is a bound on some types: a guarantee or a max. A type that it does not
// define has no bound. No bound is distinct from both zero and infinity. The zero
// Limit bounds nothing.
//
// Amounts and bounds are two types on purpose. A map from names to numbers would
// serve for both. But then every reader has to know whether a missing name means
// zero, or no bound, or nothing at all.
//
// # Amounts
//
// An amount is an int64 in base units: thousandths for cpu and vcore, ones
// (bytes, devices) for everything else. [ParseQuantity] reads Kubernetes
// quantities exactly, and a text that is no whole number of base units is an
// error. No float decides, or even holds, anything here: ratios and shares are
// computed and compared in 128 bits.
//
// Arithmetic saturates at ±math.MaxInt64. It never wraps and never yields
// math.MinInt64. An operand of math.MinInt64 is read as -math.MaxInt64. So the
// negation of an amount is always an amount. Below the ends of the range
// everything is exact. If you have to undo a sum, check the range of what goes
// into it.
//
// A difference is asked for as what is [Over] or what is [Short], each clamped
// at zero: nobody has to remember a sign. Only [Sub] and [SubOnlyExisting] are
// signed.
//
// # Calling convention
//
// Functions that return a Vector or a Limit take the place for it as their
// first argument, as those of [math/big] do:
//
//	usage = resources.Add(usage, usage, size) // usage += size
//	var left resources.Vector
//	left = resources.Sub(left, capacity, usage) // allocates once
//
// The destination's own contents do not matter, only its storage does:
//
//   - It may be nil or too short. If its capacity is too small, the result is
//     allocated; otherwise nothing is. As with append, storage between
//     length and capacity is used: cut views of a shared block as s[a:b:b].
//   - It may be one of the operands, or start at the same place as one. It
//     must not overlap one in any other way.
//   - The result is what is returned. Its length is that of the longest
//     operand; a longer destination is cut to it.
//   - A destination that is a Limit lends the storage of its Value.
//
// Operands that are not also the destination are never modified.
//
// Functions take operands of any length, nil included. A position beyond the
// end of a Vector is zero, so trailing zeros mean nothing. A bit of a Limit's
// mask beyond the end of its Value is a bound of zero; an entry of Value that
// the mask does not define is ignored, whatever it says. No operand makes a function
// panic.
//
// Every function takes time linear in the length of its longest operand, a few
// nanoseconds for the few types that clusters have.
//
// # Concurrency
//
// A Schema is immutable and may be used by any number of goroutines. Vectors
// and Limits are plain values that share storage when copied, like all slices.
package resources
