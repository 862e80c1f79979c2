// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-preempt/preempt/bench/solvers/draws"
	"github.com/go-preempt/preempt/bench/solvers/rules"
	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// unlawful returns what an auditor found, but for victims too many or better ones: the
// say of a set whether it is lawful, and not whether it is the best.
func unlawful(list []victims.Violation) []victims.Violation {
	return slices.DeleteFunc(list, func(v victims.Violation) bool {
		return v.Law == "minimal" || v.Law == "helpful" || v.Law == "opted-out"
	})
}

// verdicts counts plans by what the rules say.
type verdicts map[string]int

// check holds the auditor to the rules.
func (v verdicts) check(t *testing.T, name, broken string, found []victims.Violation) {
	t.Helper()
	v[cmp.Or(broken, "lawful")]++
	if (broken == "") != (len(found) == 0) {
		t.Errorf("%s: the rules say %q, the auditor %v", name, broken, found)
	}
}

// atLeast says what must have come up, and how often.
func (v verdicts) atLeast(t *testing.T, n int, words ...string) {
	t.Helper()
	for _, w := range words {
		if v[w] < n {
			t.Errorf("%q came up %d times only: %v", w, v[w], v)
		}
	}
}

// add adds a task to a set, perhaps with its gang.
func add(f *rules.Facts, set []int, i int, r *rand.Rand) []int {
	list := []int{i}
	if g := f.Tasks[i].Gang; g != rules.NoGang && r.IntN(4) > 0 {
		list = f.Gangs[g].Members
	}
	for _, m := range list {
		if !slices.Contains(set, m) {
			set = append(set, m)
		}
	}
	return set
}

// drawSet draws victims for an ask on a node. Half of the sets are enough as a rule.
func drawSet(f *rules.Facts, node int, r *rand.Rand) (set []int) {
	on := slices.Clone(f.On[node])
	r.Shuffle(len(on), func(i, j int) { on[i], on[j] = on[j], on[i] })
	set = append(set, f.Blockers[node]...)
	for _, i := range on {
		if why := f.Broken(node, set); why != "node short" && why != "part of a gang" {
			break
		}
		if f.Tasks[i].Eligible || r.IntN(10) == 0 {
			set = add(f, set, i, r)
		}
	}
	for range len(f.Tasks) {
		if f.BrokenSum(set) != rules.HeadShort {
			break
		}
		if i := r.IntN(len(f.Tasks)); f.Tasks[i].Eligible {
			set = add(f, set, i, r)
		}
	}
	switch r.IntN(4) {
	case 0:
		if len(set) > 0 {
			i := r.IntN(len(set))
			set = slices.Delete(set, i, i+1)
		}
	case 1:
		set = add(f, set, r.IntN(len(f.Tasks)), r)
	}
	slices.Sort(set)
	return set
}

// twist guarantees queues of the path and others about what they use, so that law 4 may fail,
// the needy queue may lie further up, and law 2 may bind anywhere.
func twist(t *testing.T, c *victims.Cluster, r *rand.Rand) {
	t.Helper()
	tree := c.Tree()
	for q := range queue.ID(tree.Len()) {
		onPath := tree.Contains(q, workload.Leaf0(tree))
		if !onPath && r.IntN(3) > 0 {
			continue
		}
		used := tree.Usage(q)
		l := resources.Limit{Value: make(resources.Vector, len(used))}
		for k := range used {
			if r.IntN(2) == 0 {
				l.Defined |= 1 << k
				l.Value[k] = max(0, used[k]+r.Int64N(8000)-4000)
				if onPath {
					l.Value[k] += r.Int64N(60000) // it may be the needy one
				}
				if m, ok := tree.Max(q).Bound(k); ok {
					l.Value[k] = min(l.Value[k], m)
				}
			}
		}
		if err := c.SetGuaranteed(q, l); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRules_Asks: the rules and the library's auditor, which share no code, agree on plans
// for asks, lawful or not.
func TestRules_Asks(t *testing.T) {
	seen := make(verdicts)
	for _, family := range draws.AskFamilies() {
		for i := range 10 {
			d, err := draws.OfAsks(family, i, 5, 6)
			if err != nil {
				t.Fatal(err)
			}
			s := d.Subject
			r := rand.New(rand.NewPCG(uint64(i), 1))
			if i%2 == 1 {
				twist(t, s.Planner.Cluster, r)
			}
			f, err := rules.OfAsk(&s.Planner, &s.Ask, workload.Now)
			if errors.Is(err, rules.ErrModel) && s.Planner.WithinQueue != "" && s.Planner.WithinQueue != queue.Never {
				continue // it is entitled, and may take of its own leaf besides
			}
			if err != nil {
				t.Fatal(d.Name, err)
			}
			a := victims.Auditor{Cluster: s.Planner.Cluster, Options: s.Planner.Options}
			for range 40 {
				node := r.IntN(len(f.Free))
				set := drawSet(f, node, r)
				plan := planOf(s, f, node, set)
				if f.Refused != "" {
					seen.check(t, d.Name, f.Refused, unlawful(a.Audit(nil, &victims.Decision{Plan: plan}, workload.Now)))
					continue
				}
				seen.check(t, d.Name, f.Broken(node, set), unlawful(a.Audit(nil, &victims.Decision{Plan: plan}, workload.Now)))
				c, told := f.CostOf(node, set), a.Cost(&victims.Decision{Plan: plan}, workload.Now)
				if why := c.Differs(&told); why != "" {
					t.Errorf("%s: %v: %s", d.Name, set, why)
				}
			}
		}
	}
	seen.atLeast(t, 10, "lawful", "node", "node short", rules.HeadShort, "law 2", "part of a gang", "hard budget", "not eligible", "blocker", "law 4")
}

// TestRules_Jobs is the same for plans for jobs.
func TestRules_Jobs(t *testing.T) {
	seen := make(verdicts)
	for _, family := range draws.JobFamilies {
		for i := range 16 {
			d, err := draws.OfJobs(family, i, draws.Size{})
			if err != nil {
				t.Fatal(err)
			}
			if i >= 8 {
				twist(t, d.Planner.Cluster, rand.New(rand.NewPCG(uint64(i), 3)))
			}
			dec, _, err := decide(&d.Planner, &d.Job)
			if err != nil {
				t.Fatal(d.Name, err)
			}
			j, err := rules.OfJob(&d.Planner, &d.Job, workload.Now)
			if err != nil {
				t.Fatal(d.Name, err)
			}
			gate := dec.Outcome == victims.Refused && slices.Contains([]string{"not-guaranteed", "over-guarantee", "headroom-inside"}, dec.Refusal.Reason)
			if gate != (j.Facts.Refused != "") {
				t.Errorf("%s: the rules say %q, the planner %v %v", d.Name, j.Facts.Refused, dec.Outcome, dec.Refusal.Reason)
			}
			if gate {
				seen[j.Facts.Refused]++
			}
			if dec.Outcome != victims.Preempts {
				continue
			}
			placed, wrong := j.Read(&dec.Plan)
			if wrong != "" || j.Facts.Refused != "" {
				t.Fatalf("%s: %s %s", d.Name, wrong, j.Facts.Refused)
			}
			if why := placed.Cost.Differs(&dec.Plan.Cost); why != "" {
				t.Errorf("%s: %s", d.Name, why)
			}
			r := rand.New(rand.NewPCG(uint64(i), 2))
			a := victims.Auditor{Cluster: d.Planner.Cluster, Options: d.Planner.Options}
			for range 20 {
				changed := change(j, &placed, r)
				plan := j.Plan(d.Planner.Cluster, &changed)
				seen.check(t, d.Name, j.Broken(&changed), unlawful(a.Audit(nil, &victims.Decision{Plan: plan}, workload.Now)))
			}
		}
	}
	seen.atLeast(t, 2, "lawful", "node short", rules.HeadShort, "law 2", "part of a gang", "hard budget", "not eligible", "domain", "law 4")
}

// change changes a plan a little, or not at all.
func change(j *rules.Job, p *rules.Placed, r *rand.Rand) rules.Placed {
	c := rules.Placed{Victims: slices.Clone(p.Victims)}
	for k := range p.At {
		c.At = append(c.At, slices.Clone(p.At[k]))
	}
	switch r.IntN(4) {
	case 0:
		if len(c.Victims) > 0 {
			i := r.IntN(len(c.Victims))
			c.Victims = slices.Delete(c.Victims, i, i+1)
		}
	case 1:
		for range 1 + r.IntN(3) {
			c.Victims = add(j.Facts, c.Victims, r.IntN(len(j.Facts.Tasks)), r)
		}
		slices.Sort(c.Victims)
	case 2:
		k := r.IntN(len(c.At))
		from := slices.IndexFunc(c.At[k], func(many int) bool { return many > 0 })
		to := r.IntN(len(c.At[k]))
		c.At[k][from]--
		c.At[k][to]++
		for _, i := range j.Facts.On[to] { // room enough, or nearly
			if j.Facts.Tasks[i].Eligible && r.IntN(3) > 0 {
				c.Victims = add(j.Facts, c.Victims, i, r)
			}
		}
		slices.Sort(c.Victims)
	}
	return c
}
