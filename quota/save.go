// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/saved"
	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/queue"
)

var stageWords = word.Table{Of: "quota stage", Words: []string{
	clockIdle: "idle", clockWaiting: "waiting", clockDue: "due", clockRunning: "running",
}}

// errClock is for a clock that no events lead to.
var errClock = errors.New("no such clock")

type timingLine struct {
	Now time.Time `json:"now"`
}

// clockLine is the last look at a queue, and how far its clock is.
type clockLine struct {
	Queue   string           `json:"queue"`
	Stage   string           `json:"stage"`
	Delay   string           `json:"delay"`
	Max     map[string]int64 `json:"max,omitempty"`
	End     time.Time        `json:"end,omitzero"`
	Endless bool             `json:"endless,omitzero"`
}

// Save writes the clocks as [victims.Cluster.Save] does. Times after the year 9999 are errors.
func (t *Timing) Save(w io.Writer) error {
	t.look()
	x := saved.NewWriter(w)
	start := x.Begin("quota clocks")
	x.Line("timing", timingLine{t.now})
	for q := range queue.ID(t.tree.Len()) {
		c := &t.clocks[q]
		// Most queues have neither max nor delay.
		if c.stage == clockIdle && c.delay == 0 && c.defined == 0 {
			continue
		}
		l := clockLine{
			Queue: t.tree.Path(q), Stage: stageWords.Word(uint8(c.stage)), Delay: c.delay.String(),
			Max: saved.Bounds(t.tree.Schema(), t.maxOf(q)),
		}
		// Other stages have an end that is past, and that nobody reads.
		if c.stage == clockWaiting || c.stage == clockDue {
			if l.Endless = c.endless; !c.endless {
				l.End = c.end
			}
		}
		x.Check("queue", l.Queue)
		for name := range l.Max {
			x.Check("type", name)
		}
		x.Line("clock", l)
	}
	if err := x.End(start); err != nil {
		return fmt.Errorf("quota: save: %w", err)
	}
	return nil
}

// Load reads what [Timing.Save] has written, for the queues of the loaded Cluster. Errors change nothing.
func (t *Timing) Load(from io.Reader) error {
	// Apart, for an error must change nothing.
	next := Timing{Cluster: t.Cluster}
	next.look()
	if err := next.load(saved.NewReader(from)); err != nil {
		return fmt.Errorf("quota: load: %w", err)
	}
	*t = next
	return nil
}

func (t *Timing) load(x *saved.Reader) error {
	start, err := x.Begin("quota clocks")
	if err != nil {
		return err
	}
	queues := make(map[string]queue.ID) // of which there was no line yet
	for q := range queue.ID(t.tree.Len()) {
		queues[t.tree.Path(q)] = q
	}
	for first := true; ; first = false {
		word, err := x.Next(start)
		switch {
		case err != nil:
			return err
		case first && word == "timing":
			var l timingLine
			if err = x.Decode(&l); err != nil {
				return err
			}
			t.advance(l.Now)
			continue
		case first || word != "clock" && word != "":
			return x.Unknown(word)
		case word == "":
			return nil
		}
		var l clockLine
		if err = x.Decode(&l); err != nil {
			return err
		}
		q, ok := queues[l.Queue]
		if !ok {
			return x.Errorf("queue %q: not in the tree, or a second time: %w", l.Queue, errClock)
		}
		delete(queues, l.Queue)
		if err = t.setClock(q, &l); err != nil {
			return x.Errorf("queue %q: %w", l.Queue, err)
		}
	}
}

// setClock sets what is known of a queue to what a line says. What is guaranteed by now
// is not asked, as it is not when it changes.
func (t *Timing) setClock(q queue.ID, l *clockLine) error {
	stage := slices.Index(stageWords.Words, l.Stage)
	delay, err := time.ParseDuration(l.Delay)
	ends := stage == int(clockWaiting) || stage == int(clockDue)
	if stage < 0 || err != nil || delay < 0 ||
		ends != (l.Endless || !l.End.IsZero()) || l.Endless && (stage == int(clockDue) || !l.End.IsZero()) {
		return fmt.Errorf("%w: stage %q, delay %q, end %v, endless %t", errClock, l.Stage, l.Delay, l.End, l.Endless)
	}
	most, err := saved.Limit(t.tree.Schema(), l.Max)
	if err != nil {
		return err
	}
	t.setMax(q, most)
	c := &t.clocks[q]
	c.stage, c.delay, c.end, c.endless = clockStage(stage), delay, l.End.UTC(), l.Endless
	return nil
}
