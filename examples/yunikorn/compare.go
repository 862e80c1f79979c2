// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
)

// A load is what the engines are compared under.
type load struct {
	nodes, seconds int
	args, env      []string // more of them
}

// An outcome is what the program in live prints; see Result there.
type outcome struct {
	Engine                                        string
	Seed                                          int64
	Asked, Started, Victims, Quota, Often, Storms int
	Missed, Lost, OverQuota, Deciding             float64
	Decisions, Plans, Errors, Checks              int64
	Counts                                        map[string]int
}

// unlawful returns how many plans the auditor found fault with.
func (o *outcome) unlawful() int { return o.Counts["audit: unlawful plans"] }

// drift returns how often the kept mirror differed from a fresh one.
func (o *outcome) drift() (n int) {
	for what, times := range o.Counts {
		if strings.HasPrefix(what, "drift: ") {
			n += times
		}
	}
	return n
}

// measure runs a load with an engine.
func (c *rig) measure(binary, engine string, seed int, l load) (o outcome, err error) {
	args := append([]string{"-nodes", fmt.Sprint(l.nodes), "-seconds", fmt.Sprint(l.seconds), "-seed", fmt.Sprint(seed)}, l.args...)
	// With reservations for asks that preempt nobody neither engine gets a node:
	// YUNIKORN-3092.
	env := append([]string{"DISABLE_RESERVATION=true", "PREEMPT_AUDIT=1", "PREEMPT_ENGINE=" + engine}, l.env...)
	out, err := command(c.dir, env, binary, args...)
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal([]byte(out), &o)
}

// compare runs a load with each engine, for several seeds, so many runs at a time, and
// writes a table of what came of it.
func (c *rig) compare(w io.Writer, l load, seeds, parallel int) error {
	binary, err := c.build("live", "build", "./cmd/live")
	if err != nil {
		return err
	}
	engines := []string{"native", "library"}
	outcomes := make([]outcome, seeds*len(engines))
	errs := make([]error, len(outcomes))
	var all sync.WaitGroup
	free := make(chan struct{}, max(parallel, 1))
	for i := range outcomes {
		free <- struct{}{}
		all.Go(func() {
			outcomes[i], errs[i] = c.measure(binary, engines[i%len(engines)], 1+i/len(engines), l)
			<-free
		})
	}
	all.Wait()
	for i := range outcomes {
		if errs[i] == nil {
			row(w, &outcomes[i])
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for i, engine := range engines {
		sum := outcome{Engine: "all, " + engine, Counts: make(map[string]int)}
		for j := i; j < len(outcomes); j += len(engines) {
			sum.add(&outcomes[j])
		}
		row(w, &sum)
		for _, what := range slices.Sorted(maps.Keys(sum.Counts)) {
			fmt.Fprintf(w, "  %s: %d\n", what, sum.Counts[what])
		}
	}
	return nil
}

func (o *outcome) add(x *outcome) {
	o.Asked, o.Started, o.Victims, o.Quota, o.Storms = o.Asked+x.Asked, o.Started+x.Started, o.Victims+x.Victims, o.Quota+x.Quota, o.Storms+x.Storms
	o.Missed, o.Lost, o.OverQuota, o.Deciding = o.Missed+x.Missed, o.Lost+x.Lost, o.OverQuota+x.OverQuota, o.Deciding+x.Deciding
	o.Decisions, o.Plans, o.Errors, o.Checks, o.Often = o.Decisions+x.Decisions, o.Plans+x.Plans, o.Errors+x.Errors, o.Checks+x.Checks, max(o.Often, x.Often)
	for what, n := range x.Counts {
		o.Counts[what] += n
	}
}

func row(w io.Writer, o *outcome) {
	fmt.Fprintf(w, "%-12s seed=%d asked=%d started=%d missed=%.0f pod-s victims=%d quota=%d lost=%.0f core-s lost/started=%.1f often=%d storms=%d over-quota=%.0f core-s decisions=%d plans=%d unlawful=%d deciding=%.2fs per-decision=%.3fms errors=%d drift=%d/%d\n",
		o.Engine, o.Seed, o.Asked, o.Started, o.Missed, o.Victims, o.Quota, o.Lost, o.Lost/float64(max(o.Started, 1)), o.Often, o.Storms, o.OverQuota,
		o.Decisions, o.Plans, o.unlawful(), o.Deciding, 1000*o.Deciding/float64(max(o.Decisions, 1)), o.Errors, o.drift(), o.Checks)
}

// drift decides under load until the kept mirror has been held to a fresh one so often.
func (c *rig) drift(w io.Writer, checks int) error {
	binary, err := c.build("live", "build", "./cmd/live")
	if err != nil {
		return err
	}
	o, err := c.measure(binary, "library", 1, load{
		nodes: 20, seconds: 10, args: []string{"-checks", fmt.Sprint(checks), "-attempts", "10ms"}, env: []string{"PREEMPT_CHECK=1"},
	})
	if err != nil {
		return err
	}
	row(w, &o)
	for _, what := range slices.Sorted(maps.Keys(o.Counts)) {
		fmt.Fprintf(w, "  %s: %d\n", what, o.Counts[what])
	}
	if o.drift() > 0 || o.Errors > 0 {
		return fmt.Errorf("%d differences and %d errors in %d decisions", o.drift(), o.Errors, o.Checks)
	}
	return nil
}
