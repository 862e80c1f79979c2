// SPDX-License-Identifier: Apache-2.0

package toleration

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
)

var laws = []law.Law{
	{Name: "Twin", Holds: asTwin},
	{Name: "TimeOnlyEnds", Holds: timeOnlyEnds},
	{Name: "HigherIsNeverRefused", Holds: higherIsNeverRefused},
	{Name: "LaterStartsEndLater", Holds: laterStartsEndLater},
	{Name: "MoreProtectsMore", Holds: moreProtectsMore},
	{Name: "UntilIsTheEdge", Holds: untilIsTheEdge},
}

func TestLaws(t *testing.T) { law.Check(t, laws) }

func FuzzLaws(f *testing.F) { law.Fuzz(f, laws) }

func policies() *rapid.Generator[Policy] {
	return rapid.Custom(func(t *rapid.T) Policy {
		return Policy{priorities().Draw(t, "minimum"), seconds().Draw(t, "seconds")}
	})
}

// near returns an instant at, around or far from the end of a policy's time.
func near(t *rapid.T, p Policy, scheduled time.Time) time.Time {
	until, exempt := p.Until(scheduled, p.MinimumPreemptablePriority-1)
	if !exempt || until.IsZero() || rapid.Bool().Draw(t, "anywhere") {
		return instants().Draw(t, "now")
	}
	return until.Add(time.Duration(rapid.Int64Range(-2, 2).Draw(t, "from the end")))
}

// asTwin: the texts mean what DESIGN.md, Toleration: policy says, over numbers
// of any size.
func asTwin(t *rapid.T) {
	value, texts := priorities().Draw(t, "value"), annotations().Draw(t, "annotations")
	p, err := policyOf(value, texts)
	w, ok := parseTwin(value, texts)
	if ok != (err == nil) {
		t.Fatalf("error %v of\n%s", err, picture(texts))
	}
	if !ok {
		return
	}
	scheduled, preemptor := instants().Draw(t, "scheduled"), priorities().Draw(t, "preemptor")
	now := near(t, p, scheduled)
	if got, want := tolerates(p, scheduled, preemptor, now), w.tolerates(scheduled, preemptor, now); got != want {
		t.Fatalf("%v = %v, want %v: scheduled %v, preemptor %d, now %v", p, got, want, scheduled, preemptor, now)
	}
}

// timeOnlyEnds: as time passes protection ends and never begins, also for a
// task whose time lies in the future.
func timeOnlyEnds(t *rapid.T) {
	p, scheduled := policies().Draw(t, "policy"), instants().Draw(t, "scheduled")
	preemptor := priorities().Draw(t, "preemptor")
	sooner, later := near(t, p, scheduled), near(t, p, scheduled)
	if later.Before(sooner) {
		sooner, later = later, sooner
	}
	if tolerates(p, scheduled, preemptor, later) && !tolerates(p, scheduled, preemptor, sooner) {
		t.Fatalf("%v begins between %v and %v: scheduled %v, preemptor %d", p, sooner, later, scheduled, preemptor)
	}
}

// higherIsNeverRefused: who may be taken by a preemptor may be taken by a
// higher one.
func higherIsNeverRefused(t *rapid.T) {
	p, scheduled := policies().Draw(t, "policy"), instants().Draw(t, "scheduled")
	now := near(t, p, scheduled)
	low, high := priorities().Draw(t, "one"), priorities().Draw(t, "another")
	low, high = min(low, high), max(low, high)
	if tolerates(p, scheduled, high, now) && !tolerates(p, scheduled, low, now) {
		t.Fatalf("%v: %d is refused where %d is allowed: scheduled %v, now %v", p, high, low, scheduled, now)
	}
}

// laterStartsEndLater: of two tasks of a class the one that was scheduled later
// is protected at least as long.
func laterStartsEndLater(t *rapid.T) {
	p, first, second := policies().Draw(t, "policy"), instants().Draw(t, "first"), instants().Draw(t, "second")
	if second.Before(first) {
		first, second = second, first
	}
	preemptor, now := priorities().Draw(t, "preemptor"), near(t, p, first)
	if tolerates(p, first, preemptor, now) && !tolerates(p, second, preemptor, now) {
		t.Fatalf("%v protects who was scheduled %v and not %v: preemptor %d, now %v", p, first, second, preemptor, now)
	}
}

// moreProtectsMore: a higher minimum, or more seconds above 0, or seconds for
// ever, protect all that less does.
func moreProtectsMore(t *rapid.T) {
	less, scheduled := policies().Draw(t, "policy"), instants().Draw(t, "scheduled")
	more := less
	more.MinimumPreemptablePriority = max(less.MinimumPreemptablePriority, priorities().Draw(t, "minimum"))
	if s := seconds().Draw(t, "seconds"); s < 0 || less.Seconds >= 0 && s > less.Seconds {
		more.Seconds = s
	}
	preemptor, now := priorities().Draw(t, "preemptor"), near(t, less, scheduled)
	if tolerates(less, scheduled, preemptor, now) && !tolerates(more, scheduled, preemptor, now) {
		t.Fatalf("%v protects and %v does not: scheduled %v, preemptor %d, now %v", less, more, scheduled, preemptor, now)
	}
}

// untilIsTheEdge: protection holds up to the instant that Until gives, and from
// there on no more; where it gives none, always.
func untilIsTheEdge(t *rapid.T) {
	p, scheduled := policies().Draw(t, "policy"), instants().Draw(t, "scheduled")
	preemptor := priorities().Draw(t, "preemptor")
	until, exempt := p.Until(scheduled, preemptor)
	now := instants().Draw(t, "now")
	switch {
	case !exempt && (!until.IsZero() || tolerates(p, scheduled, preemptor, now)):
		t.Fatalf("%v does not exempt, until %v", p, until)
	case exempt && until.IsZero() && !tolerates(p, scheduled, preemptor, now):
		t.Fatalf("%v ends, and Until says for ever", p)
	case exempt && !until.IsZero() && (!until.After(scheduled) ||
		!tolerates(p, scheduled, preemptor, until.Add(-1)) || tolerates(p, scheduled, preemptor, until)):
		t.Fatalf("%v does not end at %v: scheduled %v", p, until, scheduled)
	}
}
