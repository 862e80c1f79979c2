// SPDX-License-Identifier: Apache-2.0

// Package exam examines schedulers: each gets the same documents, and what it
// answers is judged by the auditor of this library.
//
// A scheduler takes part through a [Peer], which makes its own objects of a
// document and asks its own code. This library is one of them, see [Ours]. Cases
// and judges do not know who answers. [Load] reads back what the objects of a
// peer say and compares it with the document, so that an adapter that feeds
// something else is found out before anything is judged.
//
// A fault is a promise that the peer itself makes and breaks: [Rules] names the
// place where it makes it. What it breaks of our rules beyond these is counted
// apart.
package exam
