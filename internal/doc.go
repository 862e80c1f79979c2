// SPDX-License-Identifier: Apache-2.0

// Package internal has no code. Below it is what no user should import: what the library
// itself imports, from the search and the words of its rules down to saturating and 128-bit
// arithmetic; and in judge what judges the library.
//
// Its tests hold the packages of the module to their place, and the library to its purity.
package internal
