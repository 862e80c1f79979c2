// SPDX-License-Identifier: Apache-2.0

// Package world is a plain model of a cluster and of one ask: maps, strings and
// lists, as one would write them on paper. [Build] makes the real thing of it,
// the generators make random ones, and package oracle decides over it.
//
// Nothing here is fast, and nothing here knows a rule of preemption.
package world
