// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/go-preempt/preempt/victims"
)

// A balk is that the API does not delete a victim.
type balk struct {
	times int       // in a row
	until time.Time // for how long no plan takes it
}

const (
	// firstBalk is for how long a victim is spared first. It is longer than it takes
	// until the preemptor asks again, which then gets another place if there is one.
	firstBalk = 2 * time.Second
	longBalk  = time.Minute
	// patientTries is how often an API that is merely busy is asked again at once.
	patientTries = 3
	// balkMemory is for how long it is known how often a victim was refused.
	balkMemory = 10 * time.Minute
)

// balks notes that the API did not delete a victim. Plans spare it for a while, twice
// as long each time: otherwise a victim that is refused for good would be the cheapest
// one forever. An API that is merely busy may try a few times first.
func (c *core) balks(key string, err error, now time.Time) {
	if c.balked == nil {
		c.balked = map[string]balk{}
	}
	b := c.balked[key]
	b.times++
	pause := firstBalk << min(b.times-1, 6)
	if !isLasting(err) {
		pause = 0
		if n := b.times - patientTries; n >= 0 {
			pause = firstBalk << min(n, 6)
		}
	}
	b.until = now.Add(min(pause, longBalk))
	c.balked[key] = b
}

// isLasting reports whether asking again at once is of no use: the API has understood,
// and says no.
func isLasting(err error) bool {
	var s apierrors.APIStatus
	if !errors.As(err, &s) {
		return false
	}
	code := s.Status().Code
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError &&
		code != http.StatusTooManyRequests && code != http.StatusRequestTimeout
}

// exempt protects the pods of a priority class that tolerates the preemptor, and those
// that the API does not delete. The tag of a task is the number of its class.
func (c *core) exempt(e victims.Exemption) (until time.Time, exempt bool) {
	class := c.lookup.class(e.Cluster.Tag(e.Task))
	until, exempt = class.Policy.Until(e.Cluster.Scheduled(e.Task), e.Ask.Priority)
	if len(c.balked) == 0 || exempt && until.IsZero() {
		return until, exempt
	}
	if b := c.balked[e.Cluster.Key(e.Task)]; b.until.After(e.Now) && b.until.After(until) {
		return b.until, true
	}
	return until, exempt
}
