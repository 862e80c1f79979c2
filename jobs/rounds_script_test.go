// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// roundDay is the instant at which rounds of tests begin.
var roundDay = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func minutes(n int) time.Time { return roundDay.Add(time.Duration(n) * time.Minute) }

// roundWorld is rounds over a cluster in which v1, v2 and w run. Job j has the
// members j-0 and j-1 and would take v1 and v2; job k has k-0 and would take w.
type roundWorld struct {
	t require.TestingT
	c *victims.Cluster
	r *jobs.Rounds
}

func newRoundWorld(t require.TestingT) *roundWorld {
	c := victims.NewCluster(quotaTree(t))
	_, err := c.AddNode(&victims.Node{Name: "n", Capacity: resources.Vector{0, 9}})
	require.NoError(t, err)
	x := &roundWorld{t: t, c: c, r: &jobs.Rounds{Cluster: c}}
	for _, key := range []string{"v1", "v2", "w"} {
		x.add(key)
	}
	return x
}

// add adds a running task of one gpu in root.a.1.
func (x *roundWorld) add(key string) {
	_, err := x.c.AddTask(&victims.Task{Key: key, Queue: quotaA1, Node: 1, Size: resources.Vector{0, 1}})
	require.NoError(x.t, err)
}

// change is what a plan would be for a job: tasks to stop, and members to place
// in root.b.
func (x *roundWorld) change(job string, stop, place []string) victims.Change {
	ch := victims.Change{For: job, Version: x.c.Version()}
	for _, key := range stop {
		id, ok := x.c.Lookup(key)
		if !ok {
			id = -1
		}
		ch.Victims = append(ch.Victims, victims.Victim{Task: id, Key: key})
	}
	for _, key := range place {
		ch.Grants = append(ch.Grants, victims.Grant{Ask: &victims.Ask{Key: key, Queue: quotaB, Size: resources.Vector{0, 1}, Job: job}, Node: 1})
	}
	return ch
}

// begin begins the round of job j or k, which has a deadline in so many minutes,
// or none.
func (x *roundWorld) begin(job string, deadline int) error {
	ch := x.change("j", []string{"v2", "v1"}, []string{"j-0", "j-1"})
	if job == "k" {
		ch = x.change("k", []string{"w"}, []string{"k-0"})
	}
	var until time.Time
	if deadline != 0 {
		until = minutes(deadline)
	}
	return x.r.Begin(ch, minutes(0), until)
}

// run runs a script, events with semicolons between, and returns what the last
// one answers. Those before it must go well.
func (x *roundWorld) run(script string) (answer string) {
	events := splitScript(script)
	for i, event := range events {
		text, err := x.event(event[0], event[1])
		if i < len(events)-1 {
			require.NoError(x.t, err, event)
		}
		answer = text
		if err != nil {
			answer = err.Error()
		}
	}
	return answer
}

// splitScript returns the word and the argument of each event of a script.
func splitScript(script string) (events [][2]string) {
	for event := range strings.SplitSeq(script, "; ") {
		word, arg, _ := strings.Cut(event, " ")
		events = append(events, [2]string{word, arg})
	}
	return events
}

// event lets one thing happen.
func (x *roundWorld) event(word, arg string) (answer string, err error) {
	var end jobs.End
	switch word {
	case "begin":
		job, deadline, _ := strings.Cut(arg, " ")
		n, _ := strconv.Atoi(deadline)
		return "ok", x.begin(job, n)
	case "ack":
		return "ok", x.r.Acknowledge(arg)
	case "fail":
		end, err = x.r.Fail(arg)
	case "complete":
		end, err = x.r.Complete(arg)
	case "abandon":
		end, err = x.r.Abandon(arg)
	case "expire":
		n, err := strconv.Atoi(arg)
		require.NoError(x.t, err)
		var all []string
		for _, end := range x.r.Expire(minutes(n)) {
			all = append(all, describeEnd(end))
		}
		return strings.Join(all, ", "), nil
	case "start":
		return "ok", x.c.StartAnyway(arg, roundDay)
	case "drop":
		return "ok", x.c.Drop(arg)
	case "remove":
		return "ok", x.c.RemoveTask(arg)
	case "add":
		x.add(arg)
		return "ok", nil
	case "return":
		return "ok", x.c.SetState(arg, victims.Running)
	case "release":
		return "ok", x.c.SetState(arg, victims.Releasing)
	case "undo":
		return "ok", x.c.Undo()
	default:
		require.Fail(x.t, "no event", word)
	}
	return describeEnd(end), err
}

// describeEnd writes an end as in "j failed: gone v1, back v2, dropped j-0 j-1".
func describeEnd(e jobs.End) string {
	var parts []string
	for _, list := range []struct {
		name string
		keys []string
	}{{"gone", e.Gone}, {"back", e.Back}, {"held", e.Held}, {"dropped", e.Dropped}} {
		if len(list.keys) > 0 {
			parts = append(parts, list.name+" "+strings.Join(list.keys, " "))
		}
	}
	return fmt.Sprintf("%s %v: %s", e.Job, e.How, strings.Join(parts, ", "))
}

// picture writes the tasks that do not simply run, and the rounds, as in
//
//	v1=preempting j-0=granted | j waits for v1
func (x *roundWorld) picture() string {
	var tasks, rounds []string
	for id := range x.c.Tasks() {
		if t := x.c.Task(id); t.State != victims.Running {
			tasks = append(tasks, fmt.Sprintf("%s=%v", t.Key, t.State))
		}
	}
	slices.Sort(tasks)
	for round := range x.r.All() {
		text := round.Job
		if len(round.Leaving) > 0 {
			text += " waits for " + strings.Join(round.Leaving, " ")
		}
		if len(round.Returned) > 0 {
			text += " lost " + strings.Join(round.Returned, " ")
		}
		rounds = append(rounds, text)
	}
	return strings.Join(tasks, " ") + " | " + strings.Join(rounds, ", ")
}

// free is what is not used of the node, at present and once all that leaves has gone.
func (x *roundWorld) free() (present, coming int64) {
	return x.c.Free(nil, 1)[1], x.c.ComingFree(nil, 1)[1]
}

// uses is what a queue uses of gpus.
func (x *roundWorld) uses(q queue.ID) int64 { return x.c.Tree().Usage(q)[1] }
