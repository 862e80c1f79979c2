// SPDX-License-Identifier: Apache-2.0

// Package scenario reads scenario documents, JSON that describes a cluster and
// what is asked of it, and carries them out.
//
// # Reading
//
// The reader is strict. Field names are exact; an unknown field, a field given
// twice, a value of another kind (null is no value), a number that is not
// whole or does not fit, a malformed quantity, duration, instant or word, a
// name that is empty or taken, and a name that names nothing are errors, each
// an [Error] that gives file, place in the document and value. A field whose
// absence has a documented meaning may be left out; every other is required.
// Lists and maps of things may be absent, which is the same as empty.
//
// What can be seen in the document alone is checked by [Parse]. What depends
// on the library's rules is checked where a document is run: bounds that
// contradict each other along the tree, its depth, sums that leave the range,
// annotations of priority classes, and keys that must be there (or must not)
// at the time of a request. [Document.Fail] makes those errors look alike.
//
// Reading costs O(bytes of the document + amounts·types); nesting is bounded.
//
// # Running
//
// [Document.Run] builds the cluster and carries the requests out in order, each
// on the state that those before it left, and under a clock that only the
// document moves. The [Run] has a [Step] per decision, with all that was
// decided, and the cluster before and after; [Document.RunExplained] adds what
// led to each, and [Document.RunJudged] judges the plans that the document
// proposes. [Run.Report] is the result document of that, and [Run.Check]
// compares it with what the document expects. Equal documents give equal
// results, bit for bit.
package scenario
