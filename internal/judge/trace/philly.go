// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Batch is a workload of jobs in virtual clusters, as the Philly trace has them:
// Microsoft's GPU cluster in the autumn of 2017 (public data set philly-traces,
// "Analysis of Large-Scale Multi-Tenant GPU Clusters for DNN Training Workloads",
// USENIX ATC '19). It says nothing of the hosts, so their number is chosen.
type Batch struct {
	Hosts int // of HostGPUs each
	VCs   []VC
	Jobs  []Job // by time of submission
}

// HostGPUs is how many GPUs a host of a batch has. A job that wants more is a gang
// of several members.
const HostGPUs = 8

// A VC is a virtual cluster, which is a queue. The GPUs of the cluster are guaranteed
// to all of them in proportion to their weights.
type VC struct {
	Name   string
	Weight int64
}

// A Job is work that runs on all of its GPUs at once, or not at all.
type Job struct {
	Name     string
	VC       int   // its place in the list of virtual clusters
	GPUs     int64 // at least 1
	Submit   int64 // seconds
	Duration int64 // of work, in seconds
}

// Members returns how many GPUs each member of the job has: those of a host, and the
// last one what is left.
func (j *Job) Members() (gpus []int64) {
	for left := j.GPUs; left > 0; left -= HostGPUs {
		gpus = append(gpus, min(left, HostGPUs))
	}
	return gpus
}

// phillyHosts keep the trace as full as clusters get: more is wanted than there is
// for weeks.
const phillyHosts = 56

const (
	hour = 60 * 60
	day  = 24 * hour
	// mostDuration bounds the work of a job, so that sums over jobs stay in range.
	mostDuration = 1 << 31
)

var (
	jobColumns = []string{"submit", "duration", "gpus", "vc"}
	vcColumns  = []string{"vc", "nodes"}
)

// ReadPhilly reads the two files of the Philly trace: jobs with the columns submit,
// duration, gpus and vc, and virtual clusters with the columns vc and nodes, which is
// their weight. Errors are as those of [Read].
func ReadPhilly(jobs, vcs string) (*Batch, error) {
	b := &Batch{Hosts: phillyHosts}
	err := open(vcs, func(f io.Reader) error { return b.readVCs(f, vcs) })
	if err == nil {
		err = open(jobs, func(f io.Reader) error { return b.readJobs(f, jobs) })
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

func (b *Batch) readVCs(r io.Reader, file string) error {
	t, err := openTable(r, file, vcColumns)
	if err != nil {
		return err
	}
	for t.next() {
		vc := VC{Name: t.name("vc"), Weight: t.number("nodes", maxGPUs)}
		if vc.Weight == 0 {
			t.fail("nodes", fmt.Errorf("%w: want 1 or more", errNumber))
		}
		b.VCs = append(b.VCs, vc)
	}
	return t.err
}

func (b *Batch) readJobs(r io.Reader, file string) error {
	t, err := openTable(r, file, jobColumns)
	if err != nil {
		return err
	}
	for t.next() {
		j := Job{
			Name:     fmt.Sprintf("job-%05d", len(b.Jobs)),
			VC:       slices.IndexFunc(b.VCs, func(vc VC) bool { return vc.Name == t.text("vc") }),
			GPUs:     t.number("gpus", int64(b.Hosts)*HostGPUs),
			Submit:   t.number("submit", MaxTime),
			Duration: t.number("duration", mostDuration),
		}
		if j.VC < 0 {
			t.fail("vc", errVC)
		}
		if j.GPUs == 0 {
			t.fail("gpus", fmt.Errorf("%w: want 1 or more", errNumber))
		}
		b.Jobs = append(b.Jobs, j)
	}
	slices.SortStableFunc(b.Jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
	return t.err
}

// Window keeps the jobs that are submitted in some days, the first of which is that
// many days after the beginning of the trace. Time begins with them.
func (b *Batch) Window(first, days int) {
	from, to := int64(first)*day, int64(first+days)*day
	b.Jobs = slices.DeleteFunc(b.Jobs, func(j Job) bool { return j.Submit < from || j.Submit >= to })
	for i := range b.Jobs {
		b.Jobs[i].Submit -= from
	}
}

// PhillyTwin returns a batch that resembles a part of the Philly trace and needs no
// files: more is wanted than there is for most of the time, nearly all jobs want one
// GPU for less than an hour, a few run for days, and some are gangs of several hosts.
// It is the same every time.
func PhillyTwin() *Batch {
	b := &Batch{Hosts: 12, VCs: []VC{{"vision", 4}, {"speech", 4}, {"search", 2}, {"ads", 1}, {"games", 1}}}
	// The source alone is random, for its numbers are specified.
	random := rand.NewPCG(2017, 1)
	below := func(n int64) int64 { return int64(random.Uint64() % uint64(n)) }
	for _, kind := range twinJobs {
		for range kind.count {
			b.Jobs = append(b.Jobs, Job{
				VC: kind.vcs[below(int64(len(kind.vcs)))], GPUs: kind.gpus, Submit: below(twinDays * day),
				Duration: kind.least + below(kind.most-kind.least),
			})
		}
	}
	slices.SortStableFunc(b.Jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
	for i := range b.Jobs {
		b.Jobs[i].Name = fmt.Sprintf("job-%05d", i)
	}
	return b
}

// twinDays is how long jobs of the twin are submitted.
const twinDays = 10

// twinJobs are the kinds of jobs of the twin, with the number of each.
var twinJobs = []struct {
	gpus        int64
	least, most int64 // duration
	vcs         []int
	count       int
}{
	{1, 60, hour, []int{0, 1, 2, 3, 4}, 1000},
	{1, 4 * hour, 40 * hour, []int{2, 3, 4}, 300},
	{4, 2 * hour, 30 * hour, []int{0, 1, 2, 3}, 60},
	{8, 4 * hour, 72 * hour, []int{0, 1, 2}, 25},
	{16, 6 * hour, 24 * hour, []int{0, 1, 2}, 20},
	{32, 6 * hour, 20 * hour, []int{0, 1}, 6},
}

// Leaf returns the queue of a virtual cluster in a tree of [Batch.NewCluster].
func (b *Batch) Leaf(vc int) queue.ID { return 1 + queue.ID(vc) }

// NewCluster returns a cluster of the hosts, whose GPUs are guaranteed to the virtual
// clusters by their weights, in whole GPUs that sum to all. The weights are those of
// fair shares as well. Nobody has to wait for a delay. Errors are as those of
// [Workload.NewCluster].
func (b *Batch) NewCluster() (*victims.Cluster, error) {
	schema, err := resources.NewSchema("gpu")
	if err != nil {
		return nil, err
	}
	var weights []int64
	for _, vc := range b.VCs {
		weights = append(weights, vc.Weight)
	}
	root := queue.Config{Name: "root", Properties: map[string]string{"preemption.delay": "0"}}
	for i, part := range parts(resources.Vector{int64(b.Hosts) * HostGPUs}, weights) {
		root.Children = append(root.Children, queue.Config{
			Name: b.VCs[i].Name, Guaranteed: guarantee(part),
			Properties: map[string]string{"fair.weight": strconv.FormatInt(b.VCs[i].Weight, 10)},
		})
	}
	tree, err := queue.New(schema, root)
	if err != nil {
		return nil, err
	}
	c := victims.NewCluster(tree)
	for i := range b.Hosts {
		host := victims.Node{Name: fmt.Sprintf("host-%02d", i), Capacity: resources.Vector{HostGPUs}}
		if _, err := c.AddNode(&host); err != nil {
			return nil, err
		}
	}
	return c, nil
}
