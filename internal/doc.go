// SPDX-License-Identifier: Apache-2.0

// Package internal has no code. Below it is what no user should import:
//
//   - kernels, which lie below all other packages: saturating and 128-bit
//     arithmetic, rows in memory that is there already, names that are safe to
//     print, and the canvas of pictures;
//   - the harness of tests, examples and benchmarks: scenario documents, random
//     worlds, workloads, the production trace, slow oracles, small universes
//     that are explored whole, and mutants of the library.
//
// Its tests hold the packages of the module to their place, and the library to
// its purity.
package internal
