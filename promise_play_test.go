// SPDX-License-Identifier: Apache-2.0

package preempt_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A played is a cluster in which a scheduler was at work, and what was taken.
type played struct {
	*rapid.T
	w       *world.World
	o       *world.Options
	queues  []world.Place
	cluster *victims.Cluster
	asks    *jobs.Planner
	gangs   jobs.Planner
	moves   jobs.Planner

	pending []victims.Ask
	jobs    []*victims.Ask
	ports   map[string][]string // by key
	names   int                 // given to those who come back

	taken []*taking
	seen  map[string]int // how many plans were of a kind
}

// promiseFeatures are what the worlds have.
const promiseFeatures = world.WithGangs | world.WithBudgets | world.WithPorts | world.WithOwnLeaf | world.WithDomains

// play lets a scheduler work for a while.
func play(t *rapid.T) *played {
	load := world.Workloads(world.Crowded.With(promiseFeatures)).Draw(t, "workload")
	cluster, err := world.Build(&load.World)
	if err != nil {
		t.Fatal(err)
	}
	p := &played{
		T: t, w: &load.World, o: &load.Options, queues: load.World.Queues(), cluster: cluster,
		asks: world.PlannerOf(cluster, &load.Options), ports: make(map[string][]string), seen: make(map[string]int),
	}
	p.enter(load.Asks)
	for _, j := range p.jobs {
		p.must(cluster.SetMinMembers(j.Key, max(j.MinMembers, 1)))
	}
	p.asks.Blockers = p.blockers
	p.gangs = jobs.Planner{Cluster: cluster, Options: p.asks.Options}
	p.moves = jobs.Planner{Cluster: cluster, Options: p.asks.Options}
	p.moves.Moves = victims.MovesAny
	world.LetMove(cluster, 0, func(key string) bool { id, _ := cluster.Lookup(key); return id%3 > 0 })
	events := []func(){p.decideAsk, p.decideJob, p.decideTogether, p.lower, p.finish, p.start}
	for range 40 {
		events[rapid.IntRange(0, len(events)-1).Draw(t, "event")]()
	}
	return p
}

// enter makes asks wait, some of them as jobs of members like them.
func (p *played) enter(asks []world.Ask) {
	for _, t := range p.w.Tasks {
		p.ports[t.Key] = t.Ports
	}
	for _, g := range p.w.Grants {
		p.ports[g.Ask.Key] = g.Ask.Ports
	}
	for i := range asks {
		a := &asks[i]
		ask, err := world.AskOf(p.cluster, a)
		p.must(err)
		p.ports[a.Key] = a.Ports
		if rapid.IntRange(0, 3).Draw(p.T, "job") > 0 {
			p.pending = append(p.pending, ask)
			continue
		}
		j := &victims.Ask{
			Key: "job-" + a.Key, Application: ask.Application, Queue: ask.Queue, Priority: ask.Priority,
			MinMembers: rapid.IntRange(1, 3).Draw(p.T, "minimum"), PendingSince: ask.PendingSince,
		}
		for m := range rapid.IntRange(1, 3).Draw(p.T, "members") {
			j.Members = append(j.Members, victims.Member{Key: fmt.Sprintf("%s-%d", a.Key, m), Size: slices.Clone(ask.Size)})
		}
		j.MinMembers = min(j.MinMembers, len(j.Members))
		p.jobs = append(p.jobs, j)
	}
}

// blockers names those on a node that hold a port of an ask.
func (p *played) blockers(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
	for id := range p.cluster.TasksOn(q.Node) {
		if slices.ContainsFunc(p.ports[p.cluster.Key(id)], func(port string) bool { return slices.Contains(p.ports[q.Ask.Key], port) }) {
			dst = append(dst, id)
		}
	}
	return dst
}

// usage returns what each queue uses: what runs and is not leaving, and grants.
func (p *played) usage() map[string]world.Amounts {
	w := world.World{Root: p.w.Root}
	for leaf := range p.cluster.Tree().Leaves(queue.Root) {
		for id := range p.cluster.TasksIn(leaf) {
			if t := p.cluster.TaskView(id); t.State == victims.Running || t.State == victims.Granted {
				w.Tasks = append(w.Tasks, world.Task{Queue: p.cluster.Tree().Path(leaf), Size: world.AmountsOf(p.cluster, t.Size)})
			}
		}
	}
	return w.Usage(true)
}

func (p *played) decideAsk() {
	if len(p.pending) == 0 {
		return
	}
	i := rapid.IntRange(0, len(p.pending)-1).Draw(p.T, "ask")
	a := p.pending[i]
	if rapid.IntRange(0, 7).Draw(p.T, "requires a node") == 0 {
		a.RequiredNode = rapid.SampledFrom(p.w.Nodes).Draw(p.T, "node").Name
	}
	var d victims.Decision
	if rapid.IntRange(0, 2).Draw(p.T, "moves") > 0 {
		p.must(p.asks.Decide(&d, &a, p.o.Now))
	} else {
		p.must(p.moves.Decide(&d, &a, p.o.Now))
	}
	if d.Outcome == victims.Refused {
		return
	}
	p.pending = slices.Delete(p.pending, i, i+1)
	x := p.taking(a.Queue, a.Priority)
	x.required = a.RequiredNode != ""
	x.bring(p, a.Size)
	for _, m := range d.Plan.Moves {
		p.ports[m.Grant] = p.ports[m.Key]
		x.kinds["moves"] = true
	}
	p.take(x, &d)
}

func (p *played) decideJob() {
	if len(p.jobs) == 0 {
		return
	}
	j := rapid.SampledFrom(p.jobs).Draw(p.T, "job")
	p.gangs.ByPriority = rapid.IntRange(0, 2).Draw(p.T, "by priority") == 0
	var d victims.Decision
	p.must(p.gangs.Decide(&d, j, p.o.Now))
	if d.Outcome == victims.Refused || len(d.Plan.Places) == 0 {
		return
	}
	x := p.taking(j.Queue, j.Priority)
	x.byPriority = p.gangs.ByPriority
	for _, at := range d.Plan.Places {
		if !at.Extra {
			x.bring(p, j.Members[at.Member].Size)
		}
	}
	x.kinds["job by guarantee"] = !x.byPriority
	p.take(x, &d)
}

// decideTogether decides all that wait at once, alike ones next to each other.
func (p *played) decideTogether() {
	asks := slices.Clone(p.pending)
	slices.SortStableFunc(asks, func(a, b victims.Ask) int { return int(a.Queue - b.Queue) })
	for i := range asks {
		asks[i].Application, asks[i].Priority, asks[i].RequiredNode = "together", asks[0].Priority, ""
	}
	p.gangs.ByPriority = false
	all, err := p.gangs.DecideAll(nil, asks, p.o.Now)
	p.must(err)
	for _, d := range all {
		if d.Outcome == victims.Refused {
			continue
		}
		x := p.taking(d.Plan.Ask.Queue, d.Plan.Ask.Priority)
		for _, at := range d.Plan.Places {
			x.bring(p, d.Plan.Ask.Member(at.Member).Size)
			p.pending = slices.DeleteFunc(p.pending, func(a victims.Ask) bool { return a.Key == at.Key })
		}
		x.kinds["together"] = len(d.SharedBy) > 1
		d.Plan.Version = p.cluster.Version()
		p.take(x, &d)
	}
}

// lower lowers the max of a queue, and enforces it.
func (p *played) lower() {
	used := p.usage()
	q := rapid.SampledFrom(p.queues).Draw(p.T, "lowered")
	limit := make(world.Amounts)
	for _, t := range p.w.Types {
		if rapid.Bool().Draw(p.T, "limited") {
			limit[t] = max(q.Guaranteed[t], used[q.Path][t]-rapid.Int64Range(0, 6).Draw(p.T, "less"), 0)
		}
	}
	id, _ := p.cluster.Tree().Lookup(q.Path)
	if p.cluster.SetMax(id, world.LimitOf(p.cluster, limit)) != nil {
		return // below what children are guaranteed
	}
	e := quota.Enforcer{Cluster: p.cluster}
	var d victims.Decision
	p.must(e.Enforce(&d, id, p.o.Now))
	x := &taking{counts: func(string) bool { return true }, kinds: make(map[string]bool)}
	if d.Outcome == victims.Preempts {
		p.take(x, &d)
	}
	p.must(p.cluster.SetMax(id, world.LimitOf(p.cluster, q.Max))) // it is raised again
}

// taking begins to note what a plan for a leaf takes.
func (p *played) taking(leaf queue.ID, priority int32) *taking {
	path := p.cluster.Tree().Path(leaf)
	own := p.w.OwnLeaf(path, p.o.OwnLeaf)
	return &taking{
		leaf: path, priority: priority, own: own, counts: p.o.Counts, brought: make(world.Amounts), most: make(world.Amounts),
		kinds: map[string]bool{
			"scarce": p.o.Scarce != nil, "own leaf " + cmp.Or(own, "never"): true,
			"said by the option": own != "" && p.w.OwnLeaf(path, "") != own, "said by a queue": own != "" && own != p.o.OwnLeaf,
		},
	}
}

// bring notes an ask or a member.
func (x *taking) bring(p *played, size resources.Vector) {
	for t, v := range world.AmountsOf(p.cluster, size) {
		x.brought[t] += v
		x.most[t] = max(x.most[t], v)
	}
}

// take carries a plan out and notes what it took. Victims come back as asks.
func (p *played) take(x *taking, d *victims.Decision) {
	stopped := d.Plan.Victims
	x.before = p.usage()
	for i := range stopped {
		id, ok := p.cluster.Lookup(stopped[i].Key)
		if !ok {
			p.Fatalf("no task %s", stopped[i].Key)
		}
		t := p.cluster.TaskView(id)
		x.stopped = append(x.stopped, world.Task{
			Key: t.Key, Queue: p.cluster.Tree().Path(t.Queue), Size: world.AmountsOf(p.cluster, t.Size), Priority: t.Priority,
		})
		x.kinds["blocker"] = x.kinds["blocker"] || stopped[i].Blocks
		x.kinds["gang"] = x.kinds["gang"] || p.cluster.MinMembers(t.Job) > 1
		p.comeBack(&t)
	}
	p.must(p.cluster.Apply(d))
	x.after = p.usage()
	if len(stopped) == 0 && !x.kinds["moves"] {
		return
	}
	p.taken = append(p.taken, x)
	for _, kind := range kinds {
		if x.kinds[kind] {
			p.seen[kind]++
		}
	}
}

// kinds of plans that stop or move somebody, which must all occur.
var kinds = []string{
	"job by guarantee", "together", "moves", "blocker", "gang", "scarce",
	"own leaf never", "own leaf met", "own leaf branch", "said by the option", "said by a queue",
}

// comeBack has a victim ask again, by a new key.
func (p *played) comeBack(t *victims.Task) {
	p.names++
	first, _, _ := strings.Cut(t.Key, "+")
	key := fmt.Sprintf("%s+%d", first, p.names)
	p.ports[key] = p.ports[t.Key]
	p.pending = append(p.pending, victims.Ask{
		Key: key, Application: t.Application, Queue: t.Queue, Size: slices.Clone(t.Size), Priority: t.Priority,
		OptedOut: t.OptedOut, Budgets: slices.Clone(t.Budgets),
	})
}

// finish lets all that leave go.
func (p *played) finish() {
	for _, key := range p.keys(victims.Marked, victims.Releasing) {
		p.must(p.cluster.RemoveTask(key))
	}
}

// start starts all grants that have room.
func (p *played) start() {
	_, err := p.cluster.StartReady(p.o.Now, nil)
	p.must(err)
}

func (p *played) keys(states ...victims.State) (keys []string) {
	for leaf := range p.cluster.Tree().Leaves(queue.Root) {
		for id := range p.cluster.TasksIn(leaf) {
			if t := p.cluster.TaskView(id); slices.Contains(states, t.State) {
				keys = append(keys, t.Key)
			}
		}
	}
	slices.Sort(keys)
	return keys
}

func (p *played) must(err error) {
	if err != nil {
		p.Fatalf("%v\n%v", err, p)
	}
}

// String tells what was in the beginning and what was taken since.
func (p *played) String() string {
	var b strings.Builder
	b.WriteString(p.w.String())
	for _, x := range p.taken {
		fmt.Fprintf(&b, "%s takes %v\n", x.leaf, x.stopped)
	}
	return b.String()
}
