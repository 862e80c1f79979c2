// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

const (
	waitingAsks  = 3900
	waitingGangs = 550
)

// A load is a cluster, and what happens to it: tasks end, asks and gangs come. What happens
// depends on the answers only by what runs.
type load struct {
	c       *victims.Cluster
	planner jobs.Planner
	leaves  []queue.ID
	random  *rand.Rand
	names   int
	running []string
	leaving []string
	last    time.Duration
	result  result
}

func newLoad(nodes int, within queue.WithinQueue) *load {
	schema, err := resources.NewSchema("gpu")
	must(err)
	gpus := int64(nodes) * 8
	root := queue.Config{Name: "root"}
	for i := range 4 {
		org := queue.Config{Name: fmt.Sprint("org", i)}
		for j := range 4 {
			org.Children = append(org.Children, queue.Config{Name: fmt.Sprint("team", j), Guaranteed: resources.Limit{
				Value: resources.Vector{gpus * int64(2+i+j) / 90}, Defined: 1, // 80 of 90 are promised
			}})
		}
		root.Children = append(root.Children, org)
	}
	tree, err := queue.New(schema, root)
	must(err)
	l := &load{c: victims.NewCluster(tree), random: rand.New(rand.NewPCG(1, 2))}
	l.planner.Cluster, l.planner.WithinQueue = l.c, within
	l.leaves = slices.Collect(tree.Leaves(queue.Root))
	for n := range nodes {
		_, err := l.c.AddNode(&victims.Node{Name: fmt.Sprint("n", n), Capacity: resources.Vector{8}})
		must(err)
	}
	return l
}

// size draws a number of GPUs.
func (l *load) size() resources.Vector {
	return resources.Vector{[]int64{1, 1, 1, 1, 2, 2, 4, 8}[l.random.IntN(8)]}
}

// leaf draws a queue: half of all work is of four of them.
func (l *load) leaf() queue.ID {
	if l.random.IntN(2) == 0 {
		return l.leaves[l.random.IntN(4)*4]
	}
	return l.leaves[l.random.IntN(len(l.leaves))]
}

func (l *load) name() string {
	l.names++
	return strconv.Itoa(l.names)
}

func (l *load) newAsk(now time.Time) victims.Ask {
	key := "t" + l.name()
	return victims.Ask{Key: key, Application: key, Queue: l.leaf(), Size: l.size(), Priority: int32(l.random.IntN(3)), PendingSince: now}
}

func (l *load) newJob(now time.Time) victims.Ask {
	name := "g" + l.name()
	j := victims.Ask{Key: name, Application: name, Queue: l.leaf(), Priority: int32(l.random.IntN(3)), PendingSince: now}
	size := l.size()
	for i := range []int{2, 4, 8}[l.random.IntN(3)] {
		j.Members = append(j.Members, victims.Member{Key: fmt.Sprint(name, "-", i), Size: size})
	}
	return j
}

// run lets events happen, and has the decider look at what waits every so often.
func (l *load) run(d decider, events, every int) result {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	fill := func() {
		asks, gangs := 0, 0
		for a := range d.all() {
			if _, holds := l.c.LookupGrant(first(a)); holds {
				continue
			}
			if len(a.Members) > 0 {
				gangs++
			} else {
				asks++
			}
		}
		for ; asks < waitingAsks; asks++ {
			d.add(l.newAsk(now))
		}
		for ; gangs < waitingGangs; gangs++ {
			d.add(l.newJob(now))
		}
	}
	look := func() {
		l.start(now)
		d.look(now)
	}
	fill()
	now = now.Add(time.Hour)
	look() // the cluster is filled: not measured
	l.result = result{}
	for n := 1; n <= events; n++ {
		now = now.Add(time.Second)
		l.event()
		if n%every == 0 {
			fill()
			l.last = cpu()
			look()
			l.result.cpu += cpu() - l.last
		}
	}
	return l.result
}

// start starts what has its room.
func (l *load) start(now time.Time) {
	started, err := l.c.StartReady(now, nil)
	must(err)
	l.running = append(l.running, started...)
}

// event lets a task end: one that was told to stop, if there is one, or any.
func (l *load) event() {
	from := &l.running
	if len(l.leaving) > 0 && l.random.IntN(2) == 0 {
		from = &l.leaving
	}
	if len(*from) == 0 {
		return
	}
	i := l.random.IntN(len(*from))
	must(l.c.RemoveTask((*from)[i]))
	*from = slices.Delete(*from, i, i+1)
}

// answer carries out what was decided.
func (l *load) answer(d *victims.Decision) {
	l.result.decided++
	if d.Outcome == victims.Refused {
		return
	}
	places := ""
	for _, at := range d.Plan.Places {
		places += " " + at.NodeName
	}
	l.note(d.Plan.Ask.Key, d.Outcome, places, d.Plan.Victims)
	must(l.c.Apply(d))
}

// note adds an answer to the digest of all.
func (l *load) note(key string, o victims.Outcome, place string, all []victims.Victim) {
	h := fnv.New64a()
	fmt.Fprint(h, l.result.answers, key, o, place)
	for i := range all {
		fmt.Fprint(h, " ", all[i].Key)
		at := slices.Index(l.running, all[i].Key)
		l.running = slices.Delete(l.running, at, at+1)
		l.leaving = append(l.leaving, all[i].Key)
	}
	l.result.answers = h.Sum64()
	l.result.plans++
}
