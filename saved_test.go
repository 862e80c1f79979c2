// SPDX-License-Identifier: Apache-2.0

package preempt_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// The files of testdata/saved are frozen: the library has once written them, and every
// later version must read them. They are never made anew, whatever becomes of the code
// below that has made them. -freeze writes a file that is not there yet, for a new format.
var freeze = flag.Bool("freeze", false, "write saved files that are not there")

// frozen reads a file of testdata/saved.
func frozen(t *testing.T, name string, save func(*bytes.Buffer) error) string {
	t.Helper()
	path := filepath.Join("testdata", "saved", name)
	if _, err := os.Stat(path); *freeze && os.IsNotExist(err) {
		var b bytes.Buffer
		require.NoError(t, save(&b))
		require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return ofMember.ReplaceAllString(string(text), `"application":"app-$1"`)
}

// ofMember are the applications of members of jobs in these files: each had its own once.
var ofMember = regexp.MustCompile(`"application":"app-(done|llm|long)-\d"`)

// TestSaved_Versions: there is a file of each version up to that of today, and it can be read. A
// text of a later one cannot, and the error says what can. (docs/production.md, An upgrade.)
func TestSaved_Versions(t *testing.T) {
	var today bytes.Buffer
	require.NoError(t, savedCluster(t).Save(&today))
	var last int
	_, err := fmt.Sscanf(today.String(), "preempt cluster %d\n", &last)
	require.NoError(t, err)
	require.GreaterOrEqual(t, last, 3)
	for version := 1; version <= last; version++ {
		text, err := os.ReadFile(filepath.Join("testdata", "saved", fmt.Sprintf("host-%d.txt", version)))
		require.NoError(t, err, "write it by -freeze, before the format changes again")
		require.True(t, strings.HasPrefix(string(text), fmt.Sprintf("preempt cluster %d\n", version)))
		file := bufio.NewReader(bytes.NewReader(text))
		c, err := victims.Load(file)
		require.NoError(t, err)
		require.NoError(t, (&quota.Timing{Cluster: c}).Load(file))
		require.NotZero(t, c.TaskLen())
	}
	_, err = victims.Load(strings.NewReader(fmt.Sprintf("preempt cluster %d\n", last+1)))
	require.ErrorContains(t, err, fmt.Sprintf(`"preempt cluster %d", want "preempt cluster %d" or less`, last+1, last))
}

// TestSaved_Host reads a scheduler with all that there can be. It is what its steps build
// today; what it is asked it answers alike, and it can go on.
func TestSaved_Host(t *testing.T) {
	for _, name := range []string{"host-2.txt", "host-3.txt"} {
		readsHost(t, name)
	}
}

func readsHost(t *testing.T, name string) {
	built := savedHost(t)
	text := frozen(t, name, func(b *bytes.Buffer) error { return built.save(b) })
	loaded, err := loadHost(strings.NewReader(text))
	require.NoError(t, err)
	loaded.now = built.now
	world.SetMinimums(loaded.cluster, hostMinimums) // which version 2 did not save
	require.Equal(t, built.unversioned(), loaded.unversioned())
	answers := savedAnswers(built)
	require.Equal(t, answers, savedAnswers(loaded))
	all := strings.Join(answers, "\n")
	for _, word := range []string{"fits", "waits", "plan", "refused"} {
		require.Contains(t, all, `"outcome":"`+word+`"`)
	}
	require.Equal(t, savedDays(built), savedDays(loaded))
	require.Equal(t, built.unversioned(), loaded.unversioned())
}

// unversioned is the picture of a host without the number of its version: version 2 had other
// steps.
func (h *host) unversioned() string {
	_, rest, _ := strings.Cut(h.picture(), " ")
	return rest
}

// TestSaved_First reads what version 0.1.0 has written: the cluster, its rounds, the clocks, and
// what is the caller's own.
func TestSaved_First(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "saved", "host-1.txt"))
	require.NoError(t, err)
	file := bufio.NewReader(strings.NewReader(string(text) + "own\n"))
	c, err := victims.Load(file)
	require.NoError(t, err)
	timing := quota.Timing{Cluster: c}
	require.NoError(t, timing.Load(file))
	own, err := file.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "own\n", own)

	noon := world.Epoch
	n0, _ := c.LookupNode("n0")
	require.EqualValues(t, 1, n0, "rows began with 0")
	var told []string
	for g := range c.Grants() {
		var places []string
		for _, id := range g.Places {
			places = append(places, c.Key(id)+" on "+c.NodeName(c.NodeOf(id)))
		}
		told = append(told, fmt.Sprintf("%s holds %q since %v, leaving %v returned %v ready %v", g.Ask, places, g.Since.Sub(noon), g.Leaving, g.Returned, g.Ready))
	}
	require.Equal(t, []string{
		`llm holds ["llm-0 on n0" "llm-1 on n1"] since 0s, leaving [] returned [b2] ready false`,
		`solo holds ["solo on n2"] since 1m0s, leaving [b4] returned [] ready true`,
	}, told[:2])
	require.Equal(t, `done holds ["done-0 on n2"]`, told[2][:len(`done holds ["done-0 on n2"]`)])
	require.NoError(t, c.SetState("b2", victims.Marked))
	require.NoError(t, c.RemoveTask("b2"))
	require.NoError(t, c.RemoveTask("b4"))
	started, err := c.StartReady(noon, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"llm-0", "llm-1", "solo", "done-0"}, started)

	// Saved again it needs no rounds.
	var again bytes.Buffer
	require.NoError(t, c.Save(&again))
	require.NotContains(t, again.String(), "rounds")
	_, err = victims.Load(&again)
	require.NoError(t, err)

	// A text that is spoiled gives no cluster.
	for _, test := range [][2]string{
		{`"job":"llm","began"`, `"job":"","began"`},
		{`"job":"solo","began"`, `"job":"llm","began"`},
		{`"gone":["b0"]`, `"gone":["b0"],"quota":["b9"]`},
		{`"job":"done","grants"`, `"job":"llm-0","grants"`},
		{`round {"job":"llm"`, `lap {"job":"llm"`},
		{`"began":"2026-01-01T12:01`, `"began":"9026-01-01T12:01`},
		{"end 3\n", "end 4\n"},
	} {
		spoiled := strings.Replace(string(text), test[0], test[1], 1)
		require.NotEqual(t, string(text), spoiled)
		_, err := victims.Load(bufio.NewReader(strings.NewReader(spoiled)))
		require.ErrorContains(t, err, "victims: load: line 3", test[1])
	}
}

// TestSaved_Copy reads a copy that has not changed since: its version is the original's.
func TestSaved_Copy(t *testing.T) {
	built := savedHost(t).cluster.Clone()
	for _, name := range []string{"copy-2.txt", "copy-3.txt"} {
		text := frozen(t, name, func(b *bytes.Buffer) error { return built.Save(b) })
		require.Contains(t, text, `"foreign":true`)
		// The rounds of version 2 were in another file.
		host, err := os.ReadFile(filepath.Join("testdata", "saved", "host-2.txt"))
		require.NoError(t, err)
		_, rounds, _ := strings.Cut(string(host), "preempt rounds 2\n")
		r := io.MultiReader(strings.NewReader(text), strings.NewReader("preempt rounds 2\n"+rounds))
		loaded, err := victims.Load(r)
		require.NoError(t, err)
		world.SetMinimums(loaded, hostMinimums)
		require.Equal(t, newHost(built.Clone()).unversioned(), newHost(loaded).unversioned())
	}
}

// TestSaved_Closed reads grants on a node that was removed after they had been given. No
// steps are compared with them: what becomes of such grants is not for a file to say.
func TestSaved_Closed(t *testing.T) {
	text := frozen(t, "closed-2.txt", func(b *bytes.Buffer) error {
		h := savedHost(t)
		h.do(law.ErrOf(h.cluster.RemoveNode("n5")))
		return h.save(b)
	})
	h, err := loadHost(strings.NewReader(text))
	require.NoError(t, err)
	node, _ := h.cluster.LookupNode("n5")
	require.True(t, h.cluster.Closed(node))
	g, held := h.cluster.Grant("llm")
	require.True(t, held)
	require.Len(t, g.Places, 3)
	require.Equal(t, []string{"b11", "train-7", "train-8"}, g.Leaving)
	require.Equal(t, node, h.cluster.NodeOf(g.Places[0]))
	require.ErrorIs(t, h.cluster.Start("llm", h.now), victims.ErrRoom)
	require.NoError(t, h.cluster.Drop("llm"))
}

// savedHost builds a scheduler by changes that no planner has a say in.
func savedHost(t *testing.T) *host {
	h := newHost(savedCluster(t))
	world.SetMinimums(h.cluster, hostMinimums)
	c, begin := h.cluster, world.Epoch
	ask := func(key, path string, cpu int64) *victims.Ask {
		return &victims.Ask{
			Key: key, Name: "an ask", Tag: 5, Application: "app-" + key, Queue: h.queue(path), Size: resources.Vector{cpu, cpu, 0},
			Priority: 3, PendingSince: begin.Add(-time.Hour), Job: strings.TrimRight(key, "-0123456789"), Cost: 2, Budgets: []string{"web"},
		}
	}
	apply := func(a *victims.Ask, node string, marked ...string) {
		id, _ := c.LookupNode(node)
		d := victims.Decision{Outcome: victims.Preempts, Plan: victims.Plan{Ask: *a, Version: c.Version(), At: begin.Add(time.Minute)}}
		for _, key := range marked {
			task, _ := c.Lookup(key)
			d.Plan.Victims = append(d.Plan.Victims, victims.Victim{Task: task, Key: key})
		}
		for m := range max(1, len(a.Members)) {
			d.Plan.Places = append(d.Plan.Places, victims.Place{Member: m, Node: id})
		}
		h.do(c.Apply(&d))
		h.do(c.SetMinMembers(a.Job, 0)) // nobody knew it in version 2
	}
	job := func(name, path string, sizes ...int64) *victims.Ask {
		job := ask(name, path, 0)
		for i, cpu := range sizes {
			m := ask(fmt.Sprintf("%s-%d", name, i), path, cpu)
			job.Members = append(job.Members, victims.Member{Key: m.Key, Name: m.Name, Tag: m.Tag, Size: m.Size, Cost: m.Cost, Budgets: m.Budgets})
		}
		return job
	}
	// Jobs whose victims have gone, or not, grants that nobody waits for, and two decisions for
	// one grant.
	apply(job("done", "root.prod.api", 1, 2), "n6", "b12")
	h.do(c.RemoveTask("b12"))
	apply(job("llm", "root.prod.web", 2, 2, 1), "n5", "train-7", "train-8", "b10", "b11")
	h.do(c.RemoveTask("b10"))
	apply(job("long", "root.prod.api", 1), "n1", "b2")
	apply(ask("solo", "root.prod.web", 3), "n3", "b6")
	apply(ask("solo", "root.prod.web", 3), "n3", "b7")
	apply(ask("b8+", "root.batch.low", 1), "n4", "b8") // a place for one that moves
	n2, _ := c.LookupNode("n2")
	_, err := c.GrantPlace(ask("placed", "root.prod.web", 1), n2, time.Time{})
	h.do(err)
	h.do(c.SetState("b13", victims.Releasing))
	savedClocks(h)
	h.now = begin.Add(10 * time.Minute)
	return h
}

// savedClocks brings clocks to every stage.
func savedClocks(h *host) {
	tell := func(path string, most int64, delay time.Duration, at time.Duration) {
		h.do(h.cluster.SetMax(h.queue(path), resources.Limit{Value: resources.Vector{most}, Defined: 1}))
		h.delay(h.queue(path), delay)
		h.timing.Observe(world.Epoch.Add(at))
	}
	tell("root.batch", 20, time.Minute, 0)
	h.now = world.Epoch.Add(2 * time.Minute)
	if q, due := h.begin(); !due || q != h.queue("root.batch") {
		panic("a quota is due")
	}
	tell("root.batch.low", 5, time.Minute, 2*time.Minute)
	h.now = world.Epoch.Add(4 * time.Minute)
	if _, due := h.begin(); due {
		panic("a run above does not hinder")
	}
	tell("root.prod.web", 90, 1<<63-1, 6*time.Minute)
	tell("root.prod.api", 50, time.Hour, 6*time.Minute)
	tell("root.prod.api", 60, time.Hour, 7*time.Minute)
	for _, path := range []string{"root.batch.low", "root.prod.web", "root.prod.api"} {
		h.delay(h.queue(path), 0) // as the tree of the files has it: a host told its clocks of delays once
	}
}

// savedCluster has queues, nodes, tasks and budgets of every kind.
func savedCluster(t *testing.T) *victims.Cluster {
	schema, err := resources.NewSchema("cpu", "memory", "example.com/gpu")
	require.NoError(t, err)
	limit := func(v ...int64) resources.Limit {
		return resources.Limit{Value: v, Defined: 1<<len(v) - 1}
	}
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Max: limit(400), Children: []queue.Config{
		{
			Name: "prod", Guaranteed: limit(60, 60), Properties: map[string]string{"preemption.delay": "0s", "priority.offset": "10"},
			Template: &queue.Config{Guaranteed: limit(4), Properties: map[string]string{"fair.weight": "3"}},
			Children: []queue.Config{
				{Name: "web", Guaranteed: limit(50, 50), Max: limit(100)},
				{Name: "api", Guaranteed: limit(16, 8), Properties: map[string]string{"preemption.policy": "fence"}}, // over-committed
			},
		},
		{
			Name: "batch", Properties: map[string]string{"quota.preemption.delay": "1m", "priority.policy": "fence", "priority.offset": "-5"},
			Children: []queue.Config{
				{Name: "low", Properties: map[string]string{"preemption.delay": "soon"}}, // a bad value
				{Name: "high", Guaranteed: limit(3)},
				{Name: "kept", Properties: map[string]string{"preemption.policy": "disabled"}},
				{Name: "made", Policies: queue.Policies{Dynamic: true}},
			},
		},
	}})
	require.NoError(t, err)
	c := victims.NewCluster(tree)
	h := host{cluster: c}
	h.do(c.SetBudget("web", victims.Budget{Left: 2, Hard: true}))
	h.do(c.SetBudget("soft", victims.Budget{Left: -1}))
	for i := range 10 {
		_, err := c.AddNode(&victims.Node{
			Name: fmt.Sprint("n", i), Capacity: resources.Vector{16, 16, int64(i % 3)}, Penalty: int64(i % 2), Tag: uint64(i),
			Domains: []string{fmt.Sprint("block", i/4), fmt.Sprint("räck", i/2)}, Unschedulable: i == 7, ReservedFor: []string{"", "kept-for"}[i/8%2],
		})
		h.do(err)
	}
	savedTasks(&h)
	// What is there no more leaves rows that are free, and lists out of order.
	for _, key := range []string{"b0", "b5", "b15"} {
		h.do(c.RemoveTask(key))
	}
	h.do(law.ErrOf(c.RemoveNode("n9")))
	h.do(law.ErrOf(c.RemoveNode("n7"))) // with tasks
	_, err = c.SyncNode("n0", []victims.Task{
		{Key: "synced", Queue: h.queue("root.batch.low"), Size: resources.Vector{1, 1}}, {Key: "lost", Size: resources.Vector{2}},
	})
	h.do(err)
	_, err = c.SyncNode("n8", []victims.Task{{Key: "lost", Size: resources.Vector{-1}}})
	h.do(err)
	_, err = c.AddTask(&victims.Task{Key: "early", Queue: h.queue("root.batch.made"), NodeName: "n99", Size: resources.Vector{1}})
	h.do(err)
	return c
}

// savedTasks adds gangs, and tasks by themselves.
func savedTasks(h *host) {
	begin := world.Epoch
	for i := range 40 {
		task := victims.Task{
			Key: fmt.Sprint("b", i), Application: fmt.Sprint("app-", i%7), NodeName: fmt.Sprint("n", i/2%8),
			Queue: h.queue([]string{"root.batch.low", "root.batch.low", "root.batch.high", "root.batch.kept", "root.prod.web"}[i/2%5]),
			Size:  resources.Vector{1 + int64(i%3), 1, int64(i % 2)}, Priority: int32(i%4 - 1), Created: begin.Add(time.Duration(-i) * time.Hour),
			Scheduled: begin.Add(time.Duration(-i) * time.Minute), Tag: uint64(i), Originator: i%7 == 0, OptedOut: i%5 == 2,
			RequiredNode: i%11 == 10, NonPreemptible: i%13 == 12, Cost: int64(i % 3),
		}
		switch i % 4 {
		case 1:
			task.Checkpoint, task.Name = task.Scheduled.Add(time.Second), `"Name" <é>`
		case 2:
			task.Scheduled = time.Time{}
		case 3:
			task.Budgets = []string{"soft", "web"}[i/4%2:]
		}
		_, err := h.cluster.AddTask(&task)
		h.do(err)
	}
	for i := range 9 {
		_, err := h.cluster.AddTask(&victims.Task{
			Key: fmt.Sprint("train-", i), Job: []string{"jj", "jj", "train"}[i/3], Application: "train", NodeName: fmt.Sprint("n", i%6),
			Queue: h.queue("root.batch.low"), Size: resources.Vector{2, 2}, Scheduled: begin.Add(-time.Hour),
		})
		h.do(err)
	}
}

// savedAnswers asks a host for everything.
func savedAnswers(h *host) (answers []string) {
	c := h.cluster
	add := func(r any, err error) {
		answers = append(answers, fmt.Sprint(report(r), err))
	}
	for q := range c.Tree().Leaves(queue.Root) {
		for size := int64(1); size <= 20; size += 3 {
			for _, key := range []string{"new", "solo", "placed", "kept-for"} {
				ask := victims.Ask{Key: key, Queue: q, Size: resources.Vector{size, size / 2, size % 2}, Priority: 5}
				if id, held := c.LookupGrant(key); held {
					ask.Queue, ask.Size = c.Task(id).Queue, c.Task(id).Size
				}
				var d victims.Decision
				err := h.planner.Decide(&d, &ask, h.now)
				add(&d, err)
			}
		}
		for _, name := range []string{"new", "llm", "long", "jj"} {
			job := victims.Ask{Key: name, Queue: q, Priority: 20}
			for i := range 3 {
				job.Members = append(job.Members, victims.Member{Key: fmt.Sprint(name, "-", i), Size: resources.Vector{4, 4}})
			}
			var d victims.Decision
			err := h.gangs.Decide(&d, &job, h.now)
			add(&d, err)
		}
	}
	for q := range queue.ID(c.Tree().Len()) {
		for most := range int64(12) {
			if err := c.SetMax(q, resources.Limit{Value: resources.Vector{most}, Defined: 1}); err != nil {
				add(nil, err)
				continue
			}
			var d victims.Decision
			err := h.enforcer.Enforce(&d, q, h.now)
			add(&d, err)
		}
	}
	return answers
}

// savedDays goes on with a host, and tells.
func savedDays(h *host) (told []string) {
	add := func(v ...any) { told = append(told, fmt.Sprint(v...)) }
	add(h.cluster.RemoveTask("b11"), h.cluster.Start("llm", h.now))
	for g := range h.cluster.Grants() {
		add(g)
	}
	add(h.cluster.Cancel("long"))
	add(h.cluster.AddTask(&victims.Task{Key: "more", Queue: h.queue("root.batch.low"), NodeName: "n1", Size: resources.Vector{1}}))
	add(h.cluster.AddNode(&victims.Node{Name: "more", Capacity: resources.Vector{4}}))
	add(h.cluster.Start("solo", h.now), h.cluster.Start("placed", h.now))
	add(h.cluster.StartReady(h.now, nil))
	for range 40 {
		h.now = h.now.Add(5 * time.Minute)
		q, due := h.begin()
		add(q, due)
		if due {
			add(h.timing.End(q, h.now))
		}
	}
	return told
}

// do panics if a step of a history fails.
func (h *host) do(err error) {
	if err != nil {
		panic(err)
	}
}

// queue returns the queue of a path.
func (h *host) queue(path string) queue.ID {
	q, ok := h.cluster.Tree().Lookup(path)
	if !ok {
		panic(path)
	}
	return q
}
