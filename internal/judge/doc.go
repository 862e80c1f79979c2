// SPDX-License-Identifier: Apache-2.0

// Package judge has no code. Below it is what judges the library, for tests, examples and
// benchmarks: scenario documents, random worlds, workloads, the production trace, slow
// oracles, small universes that are explored whole, and mutants of the library.
package judge
