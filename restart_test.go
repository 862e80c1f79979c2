// SPDX-License-Identifier: Apache-2.0

package preempt_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "github.com/go-preempt/preempt/internal/judge/law" // draws the same cases in every run
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// TestRestart_Histories runs a random history on a scheduler, saves it at a random point,
// loads it into another process, as it were, and runs the rest of the history on both.
// Every answer, error and state must be alike, up to the numbers of rows, steps
// and versions.
func TestRestart_Histories(t *testing.T) { rapid.Check(t, restartIsSeamless) }

func FuzzRestart(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(restartIsSeamless))
}

func restartIsSeamless(t *rapid.T) {
	c := world.Cases(world.Crowded).Draw(t, "case")
	cluster, err := world.Build(&c.World)
	require.NoError(t, err)
	world.SetMinimums(cluster, hostMinimums)
	h := newHost(cluster)
	for range rapid.IntRange(0, 25).Draw(t, "before") {
		drawEvent(t)(h)
	}
	var text bytes.Buffer
	require.NoError(t, h.save(&text))
	again, err := loadHost(&text)
	require.NoError(t, err)
	// What was applied last could be undone in the one and not in the other, as is said.
	// No event does so.
	require.ErrorIs(t, again.cluster.Undo(), victims.ErrState)
	again.now = h.now
	require.Equal(t, h.picture(), again.picture())
	for range rapid.IntRange(1, 12).Draw(t, "after") {
		event := drawEvent(t)
		require.Equal(t, event(h), event(again))
		require.Equal(t, h.picture(), again.picture())
	}
	// What nobody sees yet may be seen later: counters, and when clocks end.
	var end, endAgain bytes.Buffer
	require.NoError(t, h.save(&end))
	require.NoError(t, again.save(&endAgain))
	require.Equal(t, end.String(), endAgain.String())
}

// TestRestart_Bad spoils clocks. Nothing changes then.
func TestRestart_Bad(t *testing.T) {
	const clocks = "preempt quota clocks 2\ntiming {\"now\":\"2026-01-01T12:00:00Z\"}\n"
	for _, test := range []struct{ text, want string }{
		{"preempt quota clocks 4\n", `quota: load: line 1: bad saved text: "preempt quota clocks 4", want "preempt quota clocks 3" or less`},
		{"preempt quota clocks 2\nend 0\n", `quota: load: line 2: bad saved text: word "" out of place`},
		{clocks + `clock {"queue":"root.x","stage":"idle","delay":"0s"}` + "\n", `quota: load: line 3: queue "root.x": not in the tree, or a second time: no such clock`},
		{clocks + `clock {"queue":"root","stage":"late","delay":"0s"}` + "\n", `quota: load: line 3: queue "root": no such clock: stage "late", delay "0s", end 0001-01-01 00:00:00 +0000 UTC, endless false`},
		{clocks + `clock {"queue":"root","stage":"due","delay":"1s"}` + "\n", `quota: load: line 3: queue "root": no such clock: stage "due", delay "1s", end 0001-01-01 00:00:00 +0000 UTC, endless false`},
		{clocks + `clock {"queue":"root","stage":"idle","delay":"-1s"}` + "\n", `quota: load: line 3: queue "root": no such clock: stage "idle", delay "-1s", end 0001-01-01 00:00:00 +0000 UTC, endless false`},
		{clocks + `clock {"queue":"root","stage":"idle","delay":"0s","max":{"gpu":-1}}` + "\n", `quota: load: line 3: queue "root": bad saved text: bound -1 of type "gpu"`},
	} {
		schema, err := resources.NewSchema("gpu")
		require.NoError(t, err)
		tree, err := queue.New(schema, queue.Config{Name: "root"})
		require.NoError(t, err)
		h := newHost(victims.NewCluster(tree))
		before := h.picture()
		require.EqualError(t, h.timing.Load(strings.NewReader(test.text)), test.want)
		require.Equal(t, before, h.picture())
	}
}

// A host has all that a scheduler has of the library.
type host struct {
	now      time.Time
	cluster  *victims.Cluster
	timing   quota.Timing
	planner  jobs.Planner
	gangs    jobs.Planner
	enforcer quota.Enforcer
}

// hostMinimums are what some jobs need.
var hostMinimums = map[string]int{"j": 1, "jj": 2}

func newHost(c *victims.Cluster) *host {
	return &host{
		now: world.Epoch, cluster: c, timing: quota.Timing{Cluster: c},
		planner:  jobs.Planner{Cluster: c, Options: victims.Options{WithinQueue: queue.Met}},
		gangs:    jobs.Planner{Cluster: c, Options: victims.Options{WithinQueue: queue.Met}},
		enforcer: quota.Enforcer{Cluster: c},
	}
}

// delay sets the delay of a queue's max in place: another tree would be another event.
func (h *host) delay(q queue.ID, delay time.Duration) {
	*h.cluster.Tree().Policies(q).QuotaDelay = delay
}

// begin begins the first run that is due.
func (h *host) begin() (first queue.ID, due bool) {
	h.timing.Due(h.now)(func(q queue.ID) bool {
		first, due = q, true
		return false
	})
	return first, due
}

// save writes everything into one file.
func (h *host) save(w io.Writer) error {
	return errors.Join(h.cluster.Save(w), h.timing.Save(w))
}

func loadHost(r io.Reader) (*host, error) {
	file := bufio.NewReader(r)
	c, err := victims.Load(file)
	if err != nil {
		return nil, err
	}
	h := newHost(c)
	return h, h.timing.Load(file)
}

// picture is all that can be seen of a host.
func (h *host) picture() string {
	c := h.cluster
	var b strings.Builder
	fmt.Fprintln(&b, c.Version(), c.Tree(), c.Tree().Warnings(), c.Capacity())
	for q := range queue.ID(c.Tree().Len()) {
		policies, err := json.Marshal(c.Tree().Policies(q)) // follows pointers
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(&b, c.Tree().Path(q), c.Tree().Usage(q), c.Tree().Leaving(q), c.Tree().Guaranteed(q), c.Tree().Max(q),
			string(policies), slices.Collect(c.TasksIn(q)))
	}
	for _, id := range append(slices.Collect(c.Nodes()), c.ClosedNodes(nil)...) {
		fmt.Fprintln(&b, id, c.Node(id), c.Free(nil, id), c.ComingFree(nil, id), c.UnknownUsage(nil, id), c.Closed(id), slices.Collect(c.TasksOn(id)))
	}
	for id := range c.Tasks() {
		fmt.Fprintln(&b, id, c.Task(id), slices.Collect(c.JobTasks(c.Job(id))), c.MinMembers(c.Job(id)))
	}
	for g := range c.Grants() {
		fmt.Fprintln(&b, g)
	}
	for name, budget := range c.Budgets() {
		fmt.Fprintln(&b, name, budget)
	}
	next, ok := h.timing.Next()
	var clocks strings.Builder
	fmt.Fprintln(&b, next, ok, h.timing.Save(&clocks))
	for line := range strings.Lines(clocks.String()) {
		if strings.HasPrefix(line, "clock ") && !strings.Contains(line, `"stage":"idle"`) {
			b.WriteString(line)
		}
	}
	return b.String()
}

func jobName(i int) string { return strings.Repeat("j", i+1) }

// An event happens to a host, and returns what comes of it. It depends on
// nothing but the host.
type event func(h *host) string

func drawEvent(t *rapid.T) event {
	kinds := []func(*rapid.T) event{
		drawAsk, drawAsk, drawAsk, drawJob, drawJob, drawQuota, drawQuota, drawVerb, drawVerb,
		drawTaskEvent, drawTaskEvent, drawTaskEvent, drawNodeEvent, drawNodeEvent, drawBudget, drawTime,
	}
	return rapid.SampledFrom(kinds).Draw(t, "event")(t)
}

func drawSize(t *rapid.T) resources.Vector {
	return rapid.SliceOfN(rapid.Int64Range(0, 4), 1, 2).Draw(t, "size")
}

// drawAsk is an ask that is decided, and applied or not.
func drawAsk(t *rapid.T) event {
	ask := victims.Ask{
		Key: rapid.SampledFrom([]string{"ask1", "ask2", "ask3"}).Draw(t, "ask"), Size: drawSize(t),
		Application: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "application"), Tag: rapid.Uint64().Draw(t, "tag"),
		Name: "an ask", Priority: rapid.Int32Range(-2, 9).Draw(t, "priority"), Job: rapid.SampledFrom([]string{"", "j", "jj"}).Draw(t, "job"),
	}
	leaf, apply := rapid.IntRange(0, 9).Draw(t, "leaf"), rapid.Bool().Draw(t, "apply")
	return func(h *host) string {
		ask.Queue = h.leaf(leaf)
		var d victims.Decision
		err := h.planner.Decide(&d, &ask, h.now)
		text := fmt.Sprint(err)
		if err != nil {
			return text
		}
		text += report(&d) + fmt.Sprint(d.Plan.Steps, d.Plan.Places, d.Plan.Cost, d.Plan.Version)
		for _, v := range d.Plan.Victims {
			text += fmt.Sprint(v.Task, v.Key)
		}
		if apply && d.Outcome != victims.Refused {
			text += fmt.Sprint(h.cluster.Apply(&d))
		}
		return text
	}
}

// drawJob is a job that is decided, and its plan applied if there is one.
func drawJob(t *rapid.T) event {
	job := victims.Ask{Key: jobName(rapid.IntRange(0, 2).Draw(t, "job")), Priority: rapid.Int32Range(0, 9).Draw(t, "priority")}
	for i := range rapid.IntRange(1, 3).Draw(t, "members") {
		job.Members = append(job.Members, victims.Member{Key: fmt.Sprint(job.Key, "-", i), Size: drawSize(t)})
	}
	leaf := rapid.IntRange(0, 9).Draw(t, "leaf")
	return func(h *host) string {
		job.Queue = h.leaf(leaf)
		var d victims.Decision
		err := h.gangs.Decide(&d, &job, h.now)
		text := fmt.Sprint(err)
		if err != nil {
			return text
		}
		text += report(&d) + fmt.Sprint(d.Plan.Steps, d.Plan.Places)
		if d.Outcome != victims.Refused {
			text += fmt.Sprint(h.cluster.Apply(&d))
		}
		return text
	}
}

// drawQuota is a new setting, or the enforcement of what is due.
func drawQuota(t *rapid.T) event {
	at, most := rapid.IntRange(0, 9).Draw(t, "queue"), rapid.Int64Range(0, 12).Draw(t, "max")
	delay := time.Duration(rapid.IntRange(0, 4).Draw(t, "delay")) * time.Minute
	kind := rapid.SampledFrom([]string{"set", "set", "guarantee", "begin", "begin later", "begin later", "end"}).Draw(t, "quota")
	return func(h *host) string {
		q := queue.ID(at % h.cluster.Tree().Len())
		limit := resources.Limit{Value: resources.Vector{most}, Defined: resources.Mask(1)}
		switch kind {
		case "set":
			h.delay(q, delay)
			err := h.cluster.SetMax(q, limit)
			h.timing.Observe(h.now)
			return fmt.Sprint(err)
		case "guarantee":
			return fmt.Sprint(h.cluster.SetGuaranteed(q, limit))
		case "end":
			return fmt.Sprint(h.timing.End(q, h.now))
		}
		if kind == "begin later" {
			h.now = h.now.Add(5 * time.Minute)
		}
		q, due := h.begin()
		if !due {
			return "nothing is due"
		}
		var d victims.Decision
		if err := h.enforcer.Enforce(&d, q, h.now); err != nil {
			return err.Error()
		}
		return report(&d) + fmt.Sprint(h.cluster.Apply(&d))
	}
}

// drawVerb is something that becomes of an ask or a job, or of its victims.
func drawVerb(t *rapid.T) event {
	at, job := rapid.IntRange(0, 20).Draw(t, "victim"), jobName(rapid.IntRange(0, 2).Draw(t, "job"))
	kind := rapid.SampledFrom([]string{"gone", "gone", "gone", "start", "ready", "finish", "finish", "cancel", "drop", "minimum"}).Draw(t, "verb")
	return func(h *host) string {
		c, key := h.cluster, h.leaving(at)
		switch kind {
		case "gone":
			return fmt.Sprint(c.RemoveTask(key))
		case "start":
			return fmt.Sprint(c.Start(job, h.now))
		case "cancel":
			return fmt.Sprint(c.Cancel(job))
		case "drop":
			return fmt.Sprint(c.Drop(job))
		case "minimum":
			return fmt.Sprint(c.SetMinMembers(job, at%3))
		}
		text := ""
		for g := range c.Grants() {
			if kind == "ready" {
				break
			}
			for _, key := range g.Leaving {
				text += fmt.Sprint(c.RemoveTask(key))
			}
			break // it is another cluster now
		}
		return text + fmt.Sprint(c.StartReady(h.now, func(t *victims.Task) bool { return len(t.Key)%5 != at%5 }))
	}
}

// drawTaskEvent is something that happens to a task or grant, or a new one.
func drawTaskEvent(t *rapid.T) event {
	at, leaf, size := rapid.IntRange(0, 40).Draw(t, "task"), rapid.IntRange(0, 9).Draw(t, "leaf"), drawSize(t)
	number, node := rapid.Int64Range(-1, 3).Draw(t, "number"), rapid.SampledFrom([]string{"n1", "n2", "late"}).Draw(t, "node")
	state := rapid.SampledFrom([]victims.State{victims.Running, victims.Releasing, victims.Marked}).Draw(t, "state")
	kind := rapid.SampledFrom([]string{"remove", "remove", "set", "add", "state", "resize", "cost", "checkpoint", "start", "start", "drop"}).Draw(t, "what")
	return func(h *host) string {
		c, key := h.cluster, h.key(at)
		task := victims.Task{
			Key: key, Queue: h.leaf(leaf), NodeName: node, Size: size, Job: "j", Application: "a", Cost: number,
			Created: h.now, Scheduled: h.now.Add(-time.Hour), Tag: 7,
		}
		switch kind {
		case "remove":
			return fmt.Sprint(c.RemoveTask(key))
		case "set":
			return fmt.Sprint(c.SetTask(&task))
		case "add":
			task.Key = fmt.Sprint("new", at)
			return fmt.Sprint(c.AddTask(&task))
		case "state":
			return fmt.Sprint(c.SetState(key, state))
		case "resize":
			return fmt.Sprint(c.Resize(key, size))
		case "cost":
			return fmt.Sprint(c.SetCost(key, number))
		case "checkpoint":
			return fmt.Sprint(c.SetCheckpoint(key, h.now))
		}
		key = "none"
		for g := range c.Grants() {
			key = g.Ask
		}
		if kind == "drop" {
			return fmt.Sprint(c.Drop(key))
		}
		return fmt.Sprint(c.Start(key, h.now))
	}
}

func drawNodeEvent(t *rapid.T) event {
	at, capacity := rapid.IntRange(0, 5).Draw(t, "node"), rapid.SliceOfN(rapid.Int64Range(0, 30), 1, 2).Draw(t, "capacity")
	lost := resources.Vector{rapid.Int64Range(-1, 4).Draw(t, "lost")}
	rank, leaf := rapid.Int64Range(0, 2).Draw(t, "rank"), rapid.IntRange(0, 9).Draw(t, "leaf")
	kind := rapid.SampledFrom([]string{"add", "update", "remove", "vacate", "sync"}).Draw(t, "what")
	return func(h *host) string {
		c, name := h.cluster, fmt.Sprint("new", at)
		if list := slices.Collect(c.Nodes()); at < 3 && len(list) > 0 {
			name = c.NodeName(list[at%len(list)])
		}
		n := victims.Node{Name: name, Capacity: capacity, Penalty: rank, Domains: []string{"rack"}}
		switch kind {
		case "add":
			return fmt.Sprint(c.AddNode(&n))
		case "update":
			return fmt.Sprint(c.UpdateNode(&n))
		case "remove":
			return fmt.Sprint(c.RemoveNode(name))
		}
		if id, ok := c.LookupNode(name); ok && kind == "vacate" {
			for _, task := range slices.Collect(c.TasksOn(id)) {
				c.RemoveTask(c.Key(task)) // a grant stays
			}
			return fmt.Sprint(c.RemoveNode(name))
		}
		// One of them has no queue, so that what it uses is unknown: a
		// number, or not even that.
		return fmt.Sprint(c.SyncNode(name, []victims.Task{
			{Key: h.key(at), Queue: h.leaf(leaf), Size: resources.Vector{1}}, {Key: "lost", Queue: 0, Size: lost},
		}))
	}
}

func drawBudget(t *rapid.T) event {
	name, left := rapid.SampledFrom([]string{"web", "db", "b1"}).Draw(t, "budget"), rapid.Int64Range(0, 3).Draw(t, "left")
	hard, remove := rapid.Bool().Draw(t, "hard"), rapid.Bool().Draw(t, "remove")
	return func(h *host) string {
		if remove {
			return fmt.Sprint(h.cluster.RemoveBudget(name))
		}
		return fmt.Sprint(h.cluster.SetBudget(name, victims.Budget{Left: left, Hard: hard}))
	}
}

func drawTime(t *rapid.T) event {
	minutes := rapid.IntRange(0, 4).Draw(t, "minutes")
	return func(h *host) string {
		h.now = h.now.Add(time.Duration(minutes) * time.Minute)
		return "later"
	}
}

// leaf returns some leaf.
func (h *host) leaf(at int) queue.ID {
	leaves := slices.Collect(h.cluster.Tree().Leaves(queue.Root))
	return leaves[at%len(leaves)]
}

// key returns the key of some task or grant.
func (h *host) key(at int) string {
	ids := slices.Collect(h.cluster.Tasks())
	if len(ids) == 0 {
		return "nobody"
	}
	return h.cluster.Key(ids[at%len(ids)])
}

// leaving returns the key of some task that an ask waits for.
func (h *host) leaving(at int) string {
	var keys []string
	for g := range h.cluster.Grants() {
		keys = append(keys, g.Leaving...)
	}
	return append(keys, "nobody")[at%(len(keys)+1)]
}

func report(r any) string {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return string(text)
}
