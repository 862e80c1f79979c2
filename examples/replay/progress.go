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
	pods  int           // of the workload
	about string        // the replay, if it is not the first
	plans int           // so far
	next  time.Duration // when to report again
}

// step takes note of a decision, at the time that a clock tells, and reports
// if the last report is long enough ago.
func (p *progress) step(s *Step, clock time.Duration) {
	if s.Decision.Outcome == victims.Preempts {
		p.plans++
	}
	if clock < p.next {
		return
	}
	p.next = clock + interval
	fmt.Fprintf(p.w, "replay: second %d: %d of %d pods created, %d plans%s\n", s.Now, s.Created, p.pods, p.plans, p.about)
}
