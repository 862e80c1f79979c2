// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/go-preempt/preempt/internal/judge/trace"
)

// A dice throws what a load leaves to chance. Only the source of the package is used, for
// its numbers are specified.
type dice struct{ source *rand.PCG }

func newDice(seed, load uint64) dice { return dice{rand.NewPCG(seed, load)} }

// upTo returns a number from least to most.
func (d dice) upTo(least, most int64) int64 {
	return least + int64(d.source.Uint64()%uint64(most-least+1))
}

// chance is true so many times of a hundred.
func (d dice) chance(percent int64) bool { return d.upTo(1, 100) <= percent }

// of returns one of some values.
func of[T any](d dice, values ...T) T { return values[d.upTo(0, int64(len(values))-1)] }

// queueOf adds a queue to a world and returns its number. Parents have to come first,
// and each be followed by all that is below.
func (w *world) queueOf(name string, parent int, guaranteed ...int64) int {
	w.queues = append(w.queues, row{name: name, parent: parent, guaranteed: guaranteed, usage: make([]int64, len(guaranteed))})
	return len(w.queues) - 1
}

// nodesOf adds nodes to a world. Every poolth is in pool 1.
func (w *world) nodesOf(count, poolth int, capacity ...int64) {
	for i := range count {
		n := node{free: slices.Clone(capacity)}
		if poolth > 0 && i%poolth == 0 {
			n.pool = 1
		}
		w.nodes = append(w.nodes, n)
	}
}

// budgetOf adds a budget of a service with so many replicas.
func (w *world) budgetOf(name string, replicas int) int {
	w.budgets = append(w.budgets, budget{name: name, floor: replicas - max(1, replicas/10)})
	return len(w.budgets) - 1
}

// clock gives arrivals their times: so many an hour, at random. A queue is busy for two days and
// quiet for one, each at another time, so that others have grown into what it is guaranteed
// when it comes back.
type clock struct {
	dice
	now  int64
	rate int64 // arrivals an hour
}

func (c *clock) next() int64 {
	c.now += c.upTo(0, 2*hour/c.rate)
	return c.now
}

func (c *clock) quiet(queue, queues int) bool {
	return (c.now/hour+int64(queue)*72/int64(queues))%72 < 24
}

// busy returns a queue at random of those that are not quiet.
func (c *clock) busy(queues []int) int {
	for {
		if i := int(c.upTo(0, int64(len(queues))-1)); !c.quiet(i, len(queues)) {
			return queues[i]
		}
	}
}

// gpuLoad is a GPU cluster: 200 nodes of 8 GPUs, every fourth of a better kind. Three
// tenants have a queue for training, where gangs run, and one for development, where single
// tasks and services run. Three gangs in ten can do
// with half of their members. More is wanted than there is.
func gpuLoad(seed uint64, arrivals int) *load {
	w := &world{unit: 1}
	root := w.queueOf("root", -1, undefined, undefined)
	var train, dev []int
	for i := range 3 {
		tenant := w.queueOf(fmt.Sprintf("tenant-%d", i), root, 500, undefined)
		w.queues[tenant].fence = i == 2 // it takes nothing from the others
		train = append(train, w.queueOf("train", tenant, 320, undefined))
		dev = append(dev, w.queueOf("dev", tenant, 140, undefined))
	}
	system := w.queueOf("system", root, 80, undefined)
	w.nodesOf(200, 4, 8, 96)
	for i, leaf := range dev {
		for k := range 10 {
			w.budgetOf(fmt.Sprintf("service-%d-%d", leaf, k), 5+i)
		}
	}
	c := clock{dice: newDice(seed, 1), rate: 26}
	l := &load{name: "GPU cluster", types: []string{"gpu", "cpu"}, world: w,
		what: "200 nodes of 8 GPUs, 3 tenants with 2 queues each and a system queue; gangs as victims and asks, 30 disruption budgets, a selector, own costs, checkpoints"}
	for len(l.work) < arrivals {
		a := &work{name: fmt.Sprintf("w%05d", len(l.work)), arrives: c.next(), budget: -1, priority: of[int32](c.dice, 0, 0, 10, 20)}
		a.app, a.saves, a.left = a.name, c.chance(50), c.upTo(1*hour, 8*hour)
		if c.chance(20) {
			a.cost = c.upTo(1, 10)
		}
		if c.chance(15) {
			a.pool = 1
		}
		gpus, members := of[int64](c.dice, 1, 1, 2, 2, 4, 8), 1
		switch kind := c.upTo(1, 100); {
		case kind <= 3:
			a.leaf, a.priority, gpus = system, 100, 1
		case kind <= 15: // a gang
			a.leaf, gpus, members = c.busy(train), of[int64](c.dice, 4, 8), of(c.dice, 2, 2, 4, 4, 8, 16)
			a.left, a.minimum = c.upTo(4*hour, 24*hour), members
			if c.chance(30) { // elastic
				a.minimum = members / 2
			}
		case kind <= 40: // a replica of a service
			a.leaf, gpus = c.busy(dev), c.upTo(1, 2)
			a.budget = 10*slices.Index(dev, a.leaf) + int(c.upTo(0, 9))
			a.app, a.priority, a.left = w.budgets[a.budget].name, 20, c.upTo(10*hour, 60*hour)
		default:
			a.leaf = c.busy(dev)
			a.optedOut = c.chance(10)
		}
		for range members {
			a.sizes = append(a.sizes, []int64{gpus, gpus * c.upTo(2, 8)})
		}
		if members > 1 { // members of a gang are alike
			for i := range a.sizes {
				a.sizes[i] = a.sizes[0]
			}
		}
		l.work = append(l.work, a)
	}
	return l
}

// serviceLoad is a cluster of services: 100 nodes, many small tasks. A service comes with
// all of its replicas at once, and its budget lets one in ten of them be stopped. Batch
// tasks fill what is left.
func serviceLoad(seed uint64, arrivals int) *load {
	const cpu, memory = 100 * 32_000, 100 * 128 // thousandths, GiB
	w := &world{unit: 1000}
	root := w.queueOf("root", -1, undefined, undefined)
	var leaves []int
	for i, name := range []string{"shop", "search", "mail"} {
		team := w.queueOf(name, root, cpu*30/100, memory*30/100)
		leaves = append(leaves, w.queueOf("web", team, cpu*int64(18-i)/100, memory*18/100), w.queueOf("jobs", team, cpu*8/100, memory*8/100))
	}
	batch := w.queueOf("batch", root, undefined, undefined)
	w.nodesOf(100, 0, 32_000, 128)
	c := clock{dice: newDice(seed, 2), rate: 30} // services and tasks of the batch
	l := &load{name: "service cluster", types: []string{"cpu", "memory"}, world: w,
		what: "100 nodes, cpu and memory, 3 teams with 2 queues each and a batch queue; close to 2,000 small tasks, a disruption budget for every service, three priorities, one task in ten opted out"}
	for len(l.work) < arrivals {
		at := c.next()
		leaf, replicas, name, floor := batch, 1, fmt.Sprintf("b%05d", len(l.work)), -1
		a := work{priority: 0, left: c.upTo(30*minute, 6*hour), arrives: at, sizes: [][]int64{{500 * c.upTo(1, 8), c.upTo(1, 16)}}}
		if c.chance(35) {
			leaf, replicas = c.busy(leaves), int(c.upTo(4, 24))
			name = fmt.Sprintf("s%05d", len(l.work))
			floor = w.budgetOf(name, replicas)
			a.priority, a.left = of[int32](c.dice, 0, 100, 100, 200), c.upTo(6*hour, 20*hour)
			a.sizes = [][]int64{{250 * c.upTo(1, 12), c.upTo(1, 12)}}
		}
		for k := range replicas {
			r := a
			r.name, r.app, r.leaf, r.budget = fmt.Sprintf("%s-%d", name, k), name, leaf, floor
			r.optedOut = c.chance(10)
			l.work = append(l.work, &r)
		}
	}
	l.work = l.work[:arrivals]
	return l
}

// phillyLoad is a part of the Philly trace, if its files are in a folder. What the trace
// does not say is chosen: 56 hosts of 8 GPUs keep it full, a job of more than 8 GPUs is a
// gang, guarantees are in proportion to the weights of the virtual clusters, all jobs have
// one priority, none writes checkpoints. The files may be missing: that is fs.ErrNotExist.
func phillyLoad(folder string, arrivals int) (*load, error) {
	b, err := trace.ReadPhilly(filepath.Join(folder, "philly_jobs.csv"), filepath.Join(folder, "philly_vcs.csv"))
	if err != nil {
		return nil, err
	}
	const firstDay = 40 // the cluster is full from then on
	b.Window(firstDay, 1000)
	w := &world{unit: 1}
	root := w.queueOf("root", -1, undefined)
	all := int64(0)
	for _, vc := range b.VCs {
		all += vc.Weight
	}
	for _, vc := range b.VCs {
		w.queueOf(vc.Name, root, int64(b.Hosts)*trace.HostGPUs*vc.Weight/all)
	}
	w.nodesOf(b.Hosts, 0, trace.HostGPUs)
	l := &load{name: "Philly trace", types: []string{"gpu"}, world: w,
		what: fmt.Sprintf("%d hosts of %d GPUs, %d virtual clusters with guarantees by weight; from day %d on; one priority, no checkpoints, jobs of more than a host are gangs", b.Hosts, trace.HostGPUs, len(b.VCs), firstDay)}
	for i := range b.Jobs[:min(arrivals, len(b.Jobs))] {
		j := &b.Jobs[i]
		a := &work{name: j.Name, app: j.Name, leaf: 1 + j.VC, arrives: j.Submit, left: j.Duration, budget: -1}
		for _, gpus := range j.Members() {
			a.sizes = append(a.sizes, []int64{gpus})
		}
		if len(a.sizes) > 1 {
			a.minimum = len(a.sizes)
		}
		l.work = append(l.work, a)
	}
	slices.SortStableFunc(l.work, func(a, b *work) int { return cmp.Compare(a.arrives, b.arrives) })
	return l, nil
}

// missing reports whether an error says that the files of a trace are not there.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
