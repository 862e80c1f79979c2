// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"time"

	"github.com/go-preempt/preempt/victims"
)

// interval is the time between two reports of progress.
const interval = time.Second

// progress reports now and then how far a replay has come.
type progress struct {
	w     io.Writer
	all   int           // how many there are to come
	what  string        // they are, and what they do
	about string        // the replay, if there are several
	plans int           // so far
	next  time.Duration // when to report again
}

// decided takes note of the outcome of a decision.
func (p *progress) decided(o victims.Outcome) {
	if o == victims.Preempts {
		p.plans++
	}
}

// report reports in a second by which some have come, at the time that a clock tells,
// if the last report is long enough ago.
func (p *progress) report(now int64, come int, clock time.Duration) {
	if clock < p.next {
		return
	}
	p.next = clock + interval
	fmt.Fprintf(p.w, "replay: second %d: %d of %d %s, %d plans%s\n", now, come, p.all, p.what, p.plans, p.about)
}
