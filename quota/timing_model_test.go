// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A timingLog is the naive model of a [Timing]: all that happened, and nothing
// else. Every question is answered from the log alone, from its first event on,
// by the words of the design. Queues are paths, and "below" is a path prefix.
type timingLog []timingEvent

type timingEvent struct {
	what  string // use, set, ask, begin, end
	queue string
	at    time.Time        // as told; usage changes without a word
	size  map[string]int64 // use: what is added to effective usage
	max   map[string]int64 // set
	delay time.Duration    // set
}

// now is the latest instant told: it never runs back.
func (l timingLog) now() (latest time.Time) {
	for _, e := range l {
		if e.what != "use" && e.at.After(latest) {
			latest = e.at
		}
	}
	return latest
}

// setting is what was last told of a queue.
func (l timingLog) setting(path string) (max map[string]int64, delay time.Duration) {
	for _, e := range l {
		if e.what == "set" && e.queue == path {
			max, delay = e.max, e.delay
		}
	}
	return max, delay
}

func (l timingLog) over(path string) bool {
	usage := make(map[string]int64)
	for _, e := range l {
		if e.what == "use" && strings.HasPrefix(e.queue+".", path+".") {
			for name, amount := range e.size {
				usage[name] += amount
			}
		}
	}
	limits, _ := l.setting(path)
	for name, limit := range limits {
		if usage[name] > limit {
			return true
		}
	}
	return false
}

func (l timingLog) running(path string) bool {
	runs := 0
	for _, e := range l {
		switch {
		case e.queue == path && e.what == "begin":
			runs++
		case e.queue == path && e.what == "end":
			runs--
		}
	}
	return runs > 0
}

// blocker is the nearest queue above that runs, or "".
func (l timingLog) blocker(path string) string {
	for {
		dot := strings.LastIndex(path, ".")
		if dot < 0 {
			return ""
		}
		if path = path[:dot]; l.running(path) {
			return path
		}
	}
}

// turn is what the last event did to the clock of a queue: "start", "stop" or
// nothing.
func (l timingLog) turn(path string) string {
	before, e := l[:len(l)-1], l[len(l)-1]
	if e.queue != path {
		return ""
	}
	max, delay := l.setting(path)
	startUnlessOff := "start"
	if delay == 0 || strings.HasSuffix(path, ".d") { // which is dynamic
		startUnlessOff = "stop"
	}
	switch e.what {
	case "begin":
		return "stop"
	case "end":
		if l.over(path) {
			return startUnlessOff
		}
	case "set":
		oldMax, oldDelay := before.setting(path)
		switch {
		case before.running(path):
			return ""
		case timingLowers(oldMax, max):
			return startUnlessOff
		case timingLowers(max, oldMax):
			return "stop"
		case delay != oldDelay:
			return startUnlessOff
		}
	}
	return ""
}

// timingLowers: some bound is new, or lower than it was.
func timingLowers(from, to map[string]int64) bool {
	for name, is := range to {
		if was, ok := from[name]; !ok || is < was {
			return true
		}
	}
	return false
}

// clock is the stage of a queue, and the end of its clock where it has one.
func (l timingLog) clock(path string) (stage string, end time.Time) {
	if l.running(path) {
		return "running", time.Time{}
	}
	start := len(l)
	for start > 0 && l[:start].turn(path) != "start" {
		start--
	}
	if start == 0 {
		return "idle", time.Time{}
	}
	_, delay := l[:start].setting(path)
	end = l[:start].now().Add(delay)
	stage = "waits"
	for i := start + 1; i <= len(l); i++ {
		here := l[:i]
		if here.turn(path) == "stop" {
			return "idle", time.Time{}
		}
		if here[i-1].what != "ask" || here.now().Before(end) {
			continue
		}
		blockedOnly := stage == "due" && here.blocker(path) != ""
		if !here.over(path) && !blockedOnly {
			return "idle", time.Time{}
		}
		stage = "due"
	}
	return stage, end
}

// ready lists the paths that may begin, in due order.
func (l timingLog) ready(paths []string) (list []string) {
	for _, path := range paths {
		if stage, _ := l.clock(path); stage == "due" && l.blocker(path) == "" {
			list = append(list, path)
		}
	}
	parent := func(path string) int {
		if slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(p, path+".") }) {
			return 1
		}
		return 0
	}
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(
			cmp.Compare(parent(a), parent(b)),
			cmp.Compare(strings.Count(b, "."), strings.Count(a, ".")),
			cmp.Compare(slices.Index(paths, a), slices.Index(paths, b)),
		)
	})
	return list
}

// picture says what [Timing.String] says, without its columns.
func (l timingLog) picture(paths []string) string {
	var b strings.Builder
	for _, path := range paths {
		stage, end := l.clock(path)
		when := end.Format(time.RFC3339Nano)
		switch stage {
		case "waits":
			fmt.Fprintf(&b, "%s waits until %s\n", path, when)
		case "due":
			fmt.Fprintf(&b, "%s due since %s", path, when)
			if above := l.blocker(path); above != "" {
				fmt.Fprintf(&b, ", after the run of %s", above)
			}
			b.WriteByte('\n')
		case "running":
			fmt.Fprintf(&b, "%s running\n", path)
		}
	}
	return b.String()
}

// next is the first instant at which there may be something to begin.
func (l timingLog) next(paths []string) (next time.Time, ok bool) {
	for _, path := range paths {
		stage, end := l.clock(path)
		if stage == "waits" || stage == "due" && l.blocker(path) == "" {
			if !ok || end.Before(next) {
				next, ok = end, true
			}
		}
	}
	return next, ok
}
