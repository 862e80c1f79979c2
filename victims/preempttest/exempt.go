// SPDX-License-Identifier: Apache-2.0

package preempttest

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/victims"
)

// exemptions returns the question at an instant for each ask and each running task, in
// this order.
func exemptions(c *victims.Cluster, asks []victims.Ask, now time.Time) (all []*victims.Question) {
	for i := range asks {
		for id := range c.Tasks() {
			if c.Task(id).State == victims.Running {
				q := lent.To(new(victims.Options)).Question(c, &asks[i], now)
				q.Task = id
				all = append(all, q)
			}
		}
	}
	return all
}

// testExempt asks each question at its instant, around the ends, and up to a month later: until the
// end that was named, zero for never, a task is exempt with the same end. Once it is not exempt
// it is not exempt again.
func testExempt(exempt func(*victims.Question) (until time.Time, exempt bool), exemptions []*victims.Question) error {
	for i := range exemptions {
		x := course{exempt: exempt, e: exemptions[i]}
		if err := x.test(); err != nil {
			return fmt.Errorf("preempttest: exempt: %w", err)
		}
	}
	return nil
}

// later has the times after a question at which it is asked again.
var later = [...]time.Duration{
	0, 1, time.Second, time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour, 30 * 24 * time.Hour,
}

// A course is one question, in the course of time.
type course struct {
	exempt  func(*victims.Question) (time.Time, bool)
	e       *victims.Question
	at      []time.Time // in order
	answers []answer    // at these instants
}

// An answer is what it means: exempt or not, and where it is, until when.
type answer struct {
	exempt bool
	until  time.Time // zero: for ever
}

// String writes an answer for people.
func (a answer) String() string {
	switch {
	case !a.exempt:
		return "not exempt"
	case a.until.IsZero():
		return "exempt for ever"
	}
	return "exempt until " + a.until.String()
}

func (x *course) test() error {
	for _, d := range later {
		x.at = append(x.at, x.e.Now.Add(d))
	}
	for _, t := range slices.Clone(x.at) {
		a, err := x.ask(t)
		if err != nil {
			return err
		}
		if a.exempt && !a.until.IsZero() {
			x.at = append(x.at, a.until.Add(-1), a.until)
			if next := a.until.Add(1); next.After(a.until) { // but at the end of time
				x.at = append(x.at, next)
			}
		}
	}
	slices.SortFunc(x.at, time.Time.Compare)
	x.at = slices.CompactFunc(x.at, time.Time.Equal)
	for _, t := range x.at {
		a, err := x.ask(t)
		if err != nil {
			return err
		}
		x.answers = append(x.answers, a)
	}
	for i, t := range slices.Backward(x.at) {
		a, err := x.ask(t)
		if err != nil {
			return err
		}
		if a != x.answers[i] {
			return fmt.Errorf("%w: %s: %v, and then %v", errUnsteady, x.name(t), x.answers[i], a)
		}
	}
	return x.ends()
}

// ask asks at an instant, with a copy of the ask.
func (x *course) ask(t time.Time) (answer, error) {
	ask, version := cloneAsk(x.e.Ask), x.e.Cluster.Version()
	e := lent.To(new(victims.Options)).Question(x.e.Cluster, &ask, t)
	e.Task = x.e.Task
	until, exempt := x.exempt(e)
	if !reflect.DeepEqual(ask, *x.e.Ask) || x.e.Cluster.Version() != version {
		return answer{}, fmt.Errorf("%w: %s", errWrites, x.name(t))
	}
	if !exempt || !until.IsZero() && !t.Before(until) {
		return answer{}, nil
	}
	// One zone and no monotonic clock, so that equal instants are equal.
	return answer{true, until.Round(0).UTC()}, nil
}

// ends compares each answer with the next one.
func (x *course) ends() error {
	for i := range len(x.at) - 1 {
		a, b := x.answers[i], x.answers[i+1]
		want := a
		if a.exempt && !a.until.IsZero() && !x.at[i+1].Before(a.until) {
			want = answer{}
		}
		switch {
		case b == want:
		case !a.exempt:
			return fmt.Errorf("%w: %s: not exempt, and at %v %v", errAgain, x.name(x.at[i]), x.at[i+1], b)
		default:
			return fmt.Errorf("%w: %s: %v, and at %v %v", errEnd, x.name(x.at[i]), a, x.at[i+1], b)
		}
	}
	return nil
}

func (x *course) name(t time.Time) string {
	return fmt.Sprintf("task %q and ask %q at %v", x.e.Cluster.Task(x.e.Task).Key, x.e.Ask.Key, t)
}
