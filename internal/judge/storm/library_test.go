// SPDX-License-Identifier: Apache-2.0

package storm

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// The laws of this package are those of the library: in a random state of a
// random universe, the plans that are lawful here are those that the auditor
// finds nothing to say against.
func TestLawsOfTheLibrary(t *testing.T) { rapid.Check(t, propertyLaws) }

func FuzzLawsOfTheLibrary(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertyLaws)) }

func propertyLaws(t *rapid.T) {
	u := drawUniverse(t)
	u.drawIgnored(t)
	u.drawOwnLeaves(t)
	w := u.world()
	valid := func(state int) bool { return w.set(state) }
	state := rapid.IntRange(0, w.states()-1).Filter(valid).Draw(t, "state")
	w.set(state)
	ask := slices.Index(w.place, -1)
	if ask < 0 {
		return
	}
	c := clusterOf(t, w)
	for _, second := range []bool{false, true} {
		if second && w.own[w.Tasks[ask].Leaf] == Never {
			continue
		}
		q := w.ask(1 << ask)
		q.second = second
		for node := range u.Nodes {
			var got []string
			q.there = where{}
			q.there[node] = 1 << ask
			if !q.refused() {
				for _, p := range q.plans(nil) {
					got = append(got, fmt.Sprintf("%b", p.victims))
				}
			}
			want := c.lawful(t, w, ask, node, second)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%+v: state %v, task %d on node %d, second %t: lawful plans (-library +here):\n%s",
					*u, w.place, ask, node, second, diff)
			}
		}
	}
}

// So are those about jobs whose members start together, by guarantee and by priority: for
// every way to place the members that the job needs.
func TestLawsOfTheLibrary_Jobs(t *testing.T) { law.Check3000(t, propertyJobLaws) }

func FuzzLawsOfTheLibrary_Jobs(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertyJobLaws)) }

func propertyJobLaws(t *rapid.T) {
	u := drawUniverse(t)
	u.drawIgnored(t)
	u.drawJob(t)
	u.drawTogether(t)
	u.drawOwnLeaves(t)
	w := u.world()
	w.drawFull(t, w.jobs[1])
	members := w.required(1)
	if members == 0 {
		return
	}
	c := clusterOf(t, w)
	q := w.jobAsk(members)
	stages := []bool{false, true}
	if q.own == Never {
		stages = stages[:1]
	}
	if q.byPriority {
		stages = []bool{q.second} // there is one only
	}
	for _, q.second = range stages {
		q.everywhere(members, func() {
			var got []string
			if !q.refused() && q.oneRack(q.job) {
				for _, p := range q.plans(nil) {
					got = append(got, fmt.Sprintf("%b", p.victims))
				}
			}
			want := c.lawfulForJob(t, &q)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%+v: state %v, job 1 at %v, second %t: lawful plans (-library +here):\n%s",
					*u, w.place, q.there, q.second, diff)
			}
		})
	}
}

// drawJob makes job 1 one whose members start together, and returns these.
func (u *Universe) drawJob(t *rapid.T) (members uint64) {
	u.Rules.Strict = false // an option of the planner of asks
	u.Minimum[1] = rapid.IntRange(1, 3).Draw(t, "needs")
	for i := range u.Tasks {
		if i < u.Minimum[1] {
			u.Tasks[i].Job = 1
		}
		if u.Tasks[i].Job == 1 {
			members |= 1 << i
		}
	}
	u.together(1)
	return members
}

// drawFull sets a state in which most tasks run that have room, but for some of which
// most wait.
func (w *world) drawFull(t *rapid.T, wait uint64) {
	w.set(0) // nobody runs
	for i := range w.Tasks {
		waits := wait>>i&1 == 1
		if lot := rapid.IntRange(0, 7).Draw(t, "other"); waits == (lot > 0) {
			continue
		}
		before := w.after(&plan{})
		w.place[i] = rapid.IntRange(0, len(w.Nodes)-1).Draw(t, "node")
		if !w.set(w.after(&plan{})) {
			w.set(before)
		}
	}
}

// everywhere is places without racks.
func (a *question) everywhere(members uint64, do func()) {
	if members == 0 {
		do()
		return
	}
	first := members & -members
	for n := range a.Nodes {
		a.there[n] |= first
		a.everywhere(members&^first, do)
		a.there[n] &^= first
	}
}

// lawfulForJob returns the lawful plans with victims for a job, as sets of tasks.
func (l *library) lawfulForJob(t *rapid.T, q *question) (sets []string) {
	c := l.auditor.Cluster
	a := victims.Auditor{Cluster: c, Options: victims.Options{ByPriority: q.byPriority}}
	a.Scarce = q.scarce()
	if q.second {
		a.WithinQueue = q.own.ofLibrary()
	}
	plan := l.jobPlan(q)
	for set := uint64(1); set < 1<<len(q.Tasks); set++ {
		if set&^q.running != 0 {
			continue
		}
		plan.Victims = l.victims(t, set)
		if a.Audit(nil, &victims.Decision{Plan: plan}, time.Unix(0, 0)) == nil {
			sets = append(sets, fmt.Sprintf("%b", set))
		}
	}
	return sets
}

// jobPlan returns the plan of a question without victims.
func (l *library) jobPlan(q *question) victims.Plan {
	plan := victims.Plan{Ask: l.job(q)}
	for member, i := range numbers(q.jobs[q.job]) {
		for n, there := range q.there {
			if there>>i&1 == 1 {
				plan.Places = append(plan.Places, victims.Place{Member: member, Node: victims.NodeID(1 + n)})
			}
		}
	}
	return plan
}

// job returns the job of a question.
func (l *library) job(q *question) victims.Ask {
	job := victims.Ask{
		Key: strconv.Itoa(q.job), Queue: leafOf(q.world, l.auditor.Cluster.Tree(), q.Tasks[q.ask].Leaf),
		Priority: int32(q.Tasks[q.ask].Priority), MinMembers: q.Minimum[q.job],
	}
	if len(q.Racks) > 0 {
		job.DomainDepth = 1
	}
	for _, i := range numbers(q.jobs[q.job]) {
		job.Members = append(job.Members, victims.Member{Key: strconv.Itoa(i), Size: amountsOf(q.Tasks[i].Size)})
	}
	return job
}

// victims returns a set of tasks as the victims of a plan.
func (l *library) victims(t *rapid.T, set uint64) (list []victims.Victim) {
	for _, i := range numbers(set) {
		list = append(list, victims.Victim{Task: l.task(t, i), Key: strconv.Itoa(i)})
	}
	return list
}

// task returns a task that runs.
func (l *library) task(t *rapid.T, i int) victims.TaskID {
	id, ok := l.auditor.Cluster.Lookup(strconv.Itoa(i))
	if !ok {
		t.Fatalf("no task %d", i)
	}
	return id
}

func (o OwnLeaf) ofLibrary() queue.WithinQueue {
	return [...]queue.WithinQueue{Never: queue.Never, Met: queue.Met, Branch: queue.Branch}[o]
}

// scarce returns the types whose guarantees count as the library has them.
func (w *world) scarce() *resources.Mask {
	if w.Rules.Ignored == 0 {
		return nil
	}
	return new((resources.Mask(1)<<w.types - 1) &^ resources.Mask(w.Rules.Ignored))
}

// drawUniverse draws a universe with a little of everything.
func drawUniverse(t *rapid.T) *Universe {
	few := func(label string, least, most int) int { return rapid.IntRange(least, most).Draw(t, label) }
	types := few("types", 1, 2)
	bounds := func(label string, least, most int) (list []int) {
		for range types {
			list = append(list, few(label, least, most))
		}
		return list
	}
	u := &Universe{
		Queues: []Queue{{}, {}, {Parent: 1}, {Parent: 1}, {}},
		Rules:  Rules{OwnLeaf: OwnLeaf(few("own leaf", 0, 2)), Strict: few("strict", 0, 3) == 0},
	}
	for q := range u.Queues {
		u.Queues[q].Guaranteed = bounds("guaranteed", -2, 5)
		if few("bounded", 0, 2) == 0 {
			u.Queues[q].Max = bounds("max", 3, 9)
			for i, m := range u.Queues[q].Max { // the library takes no larger guarantee
				u.Queues[q].Guaranteed[i] = min(u.Queues[q].Guaranteed[i], m)
			}
		}
		u.Queues[q].Fence = few("fence", 0, 3) == 0
		u.Queues[q].Offset = few("offset", -1, 1)
		u.Queues[q].Keeps = q > 0 && few("preemption fence", 0, 5) == 0
		u.Queues[q].Disabled = q > 1 && !u.Queues[q].Keeps && few("disabled", 0, 5) == 0
	}
	for range few("nodes", 1, 2) {
		u.Nodes = append(u.Nodes, bounds("capacity", 1, 8))
	}
	for range few("tasks", 2, 6) {
		u.Tasks = append(u.Tasks, Task{
			Leaf: few("leaf", 2, 4), Size: bounds("size", 0, 3), Priority: few("priority", 0, 2),
			Job: max(0, few("job", -2, 2)),
		})
	}
	u.Minimum = []int{0, few("minimum", 0, 3), few("minimum", 0, 3)}
	u.Together = make([]bool, 3)
	return u
}

// drawIgnored has guarantees of some types not count, in some universes.
func (u *Universe) drawIgnored(t *rapid.T) {
	if rapid.IntRange(0, 2).Draw(t, "some types do not count") == 2 {
		u.Rules.Ignored = rapid.UintRange(0, 1<<len(u.Nodes[0])-1).Draw(t, "ignored")
	}
}

// drawOwnLeaves has some queues say what their asks may take of their own leaf.
func (u *Universe) drawOwnLeaves(t *rapid.T) {
	for q := range u.Queues {
		u.Queues[q].Own = OwnLeaf(max(0, rapid.IntRange(-2, 3).Draw(t, "own leaf of the queue")))
	}
}

// drawLowered lets the max of a queue be lowered, or of two.
func (u *Universe) drawLowered(t *rapid.T) {
	for range rapid.IntRange(0, 2).Draw(t, "quotas") {
		q := &u.Queues[rapid.IntRange(0, len(u.Queues)-1).Draw(t, "lowered queue")]
		q.Lowered = nil
		for i := range u.Tasks[0].Size {
			q.Lowered = append(q.Lowered, max(0, amount(q.Guaranteed, i, 0), rapid.IntRange(-1, 4).Draw(t, "lowered to")))
		}
	}
}

// drawTogether makes none, one or both of the jobs start together, in racks or not, by
// guarantee or by priority.
func (u *Universe) drawTogether(t *rapid.T) {
	for job := range rapid.IntRange(0, 2).Draw(t, "together") {
		u.together(job + 1)
	}
	u.Rules.ByPriority = rapid.Bool().Draw(t, "by priority")
	u.drawRacks(t)
}

func (u *Universe) drawRacks(t *rapid.T) {
	if rapid.Bool().Draw(t, "racks") {
		for range u.Nodes {
			u.Racks = append(u.Racks, rapid.IntRange(0, 1).Draw(t, "rack"))
		}
	}
}

// together makes a job one whose members start together: of one leaf and one priority.
func (u *Universe) together(job int) {
	u.Together[job] = true
	for i := range u.Tasks {
		for j := range i {
			if u.Tasks[i].Job == job && u.Tasks[j].Job == job {
				u.Tasks[i].Leaf, u.Tasks[i].Priority = u.Tasks[j].Leaf, u.Tasks[j].Priority
			}
		}
	}
}

// library is a state of a universe as a cluster.
type library struct{ auditor victims.Auditor }

// treeOf returns the queues of a universe as the library has them. Weights are by
// queue; nil: all are 1.
func treeOf(t *rapid.T, u *Universe, weights []int) *queue.Tree {
	schema, err := resources.NewSchema([]string{"a", "b"}[:max(1, len(u.Nodes[0]))]...)
	if err != nil {
		t.Fatal(err)
	}
	limit := func(list []int) (l resources.Limit) {
		l.Value = make(resources.Vector, schema.Len())
		for i, v := range list {
			if v >= 0 {
				l.Value[i], l.Defined = int64(v), l.Defined|1<<i
			}
		}
		return l
	}
	var config func(q int) queue.Config
	config = func(q int) queue.Config {
		of := &u.Queues[q]
		c := queue.Config{
			Name: strconv.Itoa(q), Guaranteed: limit(of.Guaranteed), Max: limit(of.Max),
			Properties: map[string]string{"priority.offset": strconv.Itoa(of.Offset)},
		}
		if of.Fence {
			c.Properties["priority.policy"] = "fence"
		}
		switch {
		case of.Keeps:
			c.Properties["preemption.policy"] = "fence"
		case of.Disabled:
			c.Properties["preemption.policy"] = "disabled"
		}
		if weights != nil {
			c.Properties["fair.weight"] = strconv.Itoa(weights[q])
		}
		for child := q + 1; child < len(u.Queues); child++ {
			if u.Queues[child].Parent == q {
				c.Children = append(c.Children, config(child))
			}
		}
		if q == 0 {
			c.Name = "root"
		}
		return c
	}
	tree, err := queue.NewLenient(schema, config(0))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func clusterOf(t *rapid.T, w *world) *library {
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	tree := treeOf(t, w.Universe, nil)
	c := victims.NewCluster(tree)
	for n, capacity := range w.Nodes {
		_, err := c.AddNode(&victims.Node{Name: strconv.Itoa(n), Capacity: amountsOf(capacity), Domains: w.rackOf(n)})
		must(err)
	}
	for i, task := range w.Tasks {
		if n := w.place[i]; n >= 0 {
			_, err := c.AddTask(&victims.Task{
				Key: strconv.Itoa(i), Queue: leafOf(w, tree, task.Leaf), Node: victims.NodeID(1 + n), Size: amountsOf(task.Size),
				Priority: int32(task.Priority), Job: jobOf(task.Job), Movable: true,
			})
			must(err)
		}
	}
	for n, minimum := range w.Minimum {
		if n > 0 {
			must(c.SetMinMembers(strconv.Itoa(n), minimum))
		}
	}
	return &library{victims.Auditor{Cluster: c, Options: victims.Options{StrictPriority: w.Rules.Strict}}}
}

// rackOf returns the domains of a node.
func (w *world) rackOf(n int) []string {
	if len(w.Racks) == 0 {
		return nil
	}
	return []string{strconv.Itoa(w.Racks[n])}
}

func jobOf(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func amountsOf(list []int) (v resources.Vector) {
	for _, n := range list {
		v = append(v, int64(n))
	}
	return v
}

func leafOf(w *world, tree *queue.Tree, q int) queue.ID {
	path := ""
	for _, up := range w.above[q] {
		if up > 0 {
			path = "." + strconv.Itoa(up) + path
		}
	}
	id, _ := tree.Lookup("root" + path)
	return id
}

// lawful returns the lawful plans with victims, as sets of tasks.
func (l *library) lawful(t *rapid.T, w *world, ask, node int, second bool) (sets []string) {
	l.auditor.WithinQueue, l.auditor.Scarce = queue.Never, w.scarce()
	if second {
		l.auditor.WithinQueue = w.own[w.Tasks[ask].Leaf].ofLibrary()
	}
	for set := uint64(1); set < 1<<len(w.Tasks); set++ {
		if set&^w.running != 0 {
			continue
		}
		p := &victims.Plan{Places: []victims.Place{{Node: victims.NodeID(1 + node)}}, Ask: l.ask(w, ask), Victims: l.victims(t, set)}
		if l.auditor.Audit(nil, &victims.Decision{Plan: *p}, time.Unix(0, 0)) == nil {
			sets = append(sets, fmt.Sprintf("%b", set))
		}
	}
	return sets
}

// ask returns a task as an ask.
func (l *library) ask(w *world, i int) victims.Ask {
	task := &w.Tasks[i]
	return victims.Ask{
		Key: strconv.Itoa(i), Queue: leafOf(w, l.auditor.Cluster.Tree(), task.Leaf), Size: amountsOf(task.Size),
		Priority: int32(task.Priority),
	}
}
