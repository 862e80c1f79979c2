// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"time"

	"github.com/go-preempt/preempt/victims"
)

// A Live is the cluster of a document, and a planner for it. To decide an ask
// about it changes nothing, so that one may be decided again and again.
type Live struct{ r *runner }

// Live builds the cluster that the document describes. Its requests are left
// alone. The errors are those of Run.
func (doc *Document) Live() (*Live, error) {
	r := &runner{doc: doc, now: doc.Now}
	if err := r.build(); err != nil {
		return nil, err
	}
	return &Live{r}, nil
}

// LiveAfter is Live with the cluster as the requests of the document leave it.
func (doc *Document) LiveAfter() (*Live, error) {
	l, err := doc.Live()
	if err != nil {
		return nil, err
	}
	for i := range doc.Requests {
		if err := l.r.request(i, &doc.Requests[i]); err != nil {
			return nil, err
		}
	}
	l.r.steps = nil
	return l, nil
}

// Now returns the clock of the document.
func (l *Live) Now() time.Time { return l.r.now }

// Cluster returns the cluster. It must not be changed.
func (l *Live) Cluster() *victims.Cluster { return l.r.cluster }

// Aim returns the planner with the options of the document, set for an ask, and
// the ask as it takes it. Both are valid until the next call.
func (l *Live) Aim(a *Ask) (*victims.Planner, *victims.Ask, error) {
	ask, err := l.r.askOf(a, a.Key)
	if err != nil {
		return nil, nil, err
	}
	if err := l.r.shareForAsk(&Request{At: a.At}, &ask); err != nil {
		return nil, nil, err
	}
	l.r.aim(&l.r.planner, a)
	return &l.r.planner, &ask, nil
}
