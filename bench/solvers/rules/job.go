// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// A Class is required members that are alike.
type Class struct {
	Size    []int64
	Count   int
	Allowed []bool // by node
}

// A Job is a job as the model sees it. None of its members has a place yet.
type Job struct {
	Facts   *Facts
	Classes []Class
	ClassOf []int    // by required member
	Domains []string // by node, the domain of the depth that is asked for, or ""; nil: none is

	source *victims.Ask
}

// A Placed is a plan for a job.
type Placed struct {
	At      [][]int // by class and node: how many
	Victims []int
	Cost    Cost
}

// OfJob reads what there is for a job.
func OfJob(p *jobs.Planner, job *victims.Ask, now time.Time) (*Job, error) {
	if p.Admit != nil || p.Predicate != nil || job.NonPreemptible {
		return nil, fmt.Errorf("%w: an Admit, a predicate", ErrModel)
	}
	c := p.Cluster
	types := c.Schema().Len()
	need := len(job.Members)
	if job.MinMembers > 0 {
		need = min(need, job.MinMembers)
	}
	a := asked{
		leaf: job.Queue, priority: int64(job.Priority), application: job.Application, job: true, byPriority: p.ByPriority,
		sum: make([]int64, types), most: make([]int64, types),
	}
	for i := range need {
		for t, v := range job.Members[i].Size {
			a.sum[t] += v
			a.most[t] = max(a.most[t], v)
		}
	}
	facts, err := read(c, &p.Options, &a, now)
	if err != nil {
		return nil, err
	}
	j := &Job{Facts: facts, source: job}
	for i := range need {
		m := &job.Members[i]
		size := widened(m.Size, types)
		var allowed []bool
		for at, n := range facts.Nodes {
			allowed = append(allowed, facts.Open[at] && (p.Filter == nil || p.Filter(ofClass(p.Cluster, m.Class, n))))
		}
		k := slices.IndexFunc(j.Classes, func(c Class) bool { return slices.Equal(c.Size, size) && slices.Equal(c.Allowed, allowed) })
		if k < 0 {
			k = len(j.Classes)
			j.Classes = append(j.Classes, Class{Size: size, Allowed: allowed})
		}
		j.Classes[k].Count++
		j.ClassOf = append(j.ClassOf, k)
	}
	if job.DomainDepth > 0 {
		for _, n := range facts.Nodes {
			name := ""
			if d := c.Node(n).Domains; len(d) >= job.DomainDepth {
				name = fmt.Sprintf("%q", d[:job.DomainDepth])
			}
			j.Domains = append(j.Domains, name)
		}
	}
	return j, nil
}

// onNode returns what members take of a type on a node.
func (j *Job) onNode(at [][]int, n, t int) (sum int64) {
	for k := range j.Classes {
		sum += int64(at[k][n]) * j.Classes[k].Size[t]
	}
	return sum
}

// uses reports whether a member is on a node.
func uses(at [][]int, n int) bool {
	for k := range at {
		if at[k][n] > 0 {
			return true
		}
	}
	return false
}

// Price works out what a plan costs.
func (j *Job) Price(p *Placed) {
	f := j.Facts
	need := make([]int64, f.Types)
	for _, t := range f.Wanted {
		for n := range f.Free {
			if v := j.onNode(p.At, n, t); v > 0 {
				need[t] += max(0, v-f.Free[n][t])
			}
		}
	}
	p.Cost = f.costOf(p.Victims, need)
}

// Broken says what is wrong with a plan, or "".
func (j *Job) Broken(p *Placed) string {
	f := j.Facts
	for k := range j.Classes {
		sum := 0
		for n, many := range p.At[k] {
			sum += many
			if many > 0 && !j.Classes[k].Allowed[n] {
				return "node"
			}
		}
		if sum != j.Classes[k].Count {
			return "members"
		}
	}
	if why := f.brokenEach(p.Victims); why != "" {
		return why
	}
	freed := make([][]int64, len(f.Free))
	for n := range freed {
		freed[n] = slices.Clone(f.Free[n])
	}
	for _, i := range p.Victims {
		for t, v := range f.Tasks[i].Size {
			freed[f.Tasks[i].Node][t] += v
		}
	}
	domain := ""
	for n := range f.Free {
		if !uses(p.At, n) {
			continue
		}
		for _, t := range f.Wanted {
			if v := j.onNode(p.At, n, t); v > 0 && v > freed[n][t] {
				return "node short"
			}
		}
		if j.Domains != nil {
			if j.Domains[n] == "" || domain != "" && domain != j.Domains[n] {
				return "domain"
			}
			domain = j.Domains[n]
		}
	}
	return f.BrokenSum(p.Victims)
}

// Read reads a planner's plan. It says what is wrong with it, or "".
func (j *Job) Read(plan *victims.Plan) (p Placed, wrong string) {
	set, err := j.Facts.Find(plan.Victims)
	if err != nil {
		return p, err.Error()
	}
	p.Victims = set
	for range j.Classes {
		p.At = append(p.At, make([]int, len(j.Facts.Free)))
	}
	for _, x := range plan.Places {
		if x.Member < len(j.ClassOf) {
			p.At[j.ClassOf[x.Member]][j.Facts.At(x.Node)]++
		}
	}
	if wrong = j.Broken(&p); wrong != "" {
		wrong = "unlawful: " + wrong
	}
	j.Price(&p)
	return p, wrong
}

// Plan writes a plan as the library has it.
func (j *Job) Plan(c *victims.Cluster, p *Placed) victims.Plan {
	plan := victims.Plan{Ask: *j.source, Victims: j.Facts.Victims(c, p.Victims)}
	left := make([][]int, len(p.At))
	for k := range left {
		left[k] = slices.Clone(p.At[k])
	}
	for m, k := range j.ClassOf {
		n := slices.IndexFunc(left[k], func(many int) bool { return many > 0 })
		if n < 0 {
			continue
		}
		left[k][n]--
		id := j.Facts.Nodes[n]
		plan.Places = append(plan.Places, victims.Place{Member: m, Key: j.source.Members[m].Key, Node: id, NodeName: c.NodeName(id)})
	}
	return plan
}
