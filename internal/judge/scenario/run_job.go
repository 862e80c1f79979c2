// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/jobs/koordinator"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Placed is the decision about a job, with what a reader wants to know of the
// victims, who may be gone by now.
type Placed struct {
	Decision victims.Decision
	Victims  []victims.Task // in the order of Decision.Plan.Victims; they own their sizes
	Bounds   []JobBound     // from the leaf upwards

	// Explanation is of the cluster before anything follows the decision, if that is explained.
	Explanation *victims.Explanation

	// Kept has, of each running task that is no victim, the first law that keeps
	// it, if the decision is explained; a task that no law keeps is not there.
	Kept []victims.Violation

	// Law4 is what guarantees say to the job if it has no room, type by type, and Needy
	// is E, the lowest queue there, if the decision is explained and by guarantee.
	Law4  []Governed
	Needy queue.ID
}

// Governed is a type that a job wants, and the queue that is guaranteed some of it: as it
// was when the job was decided.
type Governed struct {
	Type  int
	Queue queue.ID
	// Before is what the members ask for before the last one, the largest. The job is
	// entitled if Used with that is less than what is Guaranteed.
	Guaranteed, Used, Before int64
}

// Met reports whether the queue has its guarantee, or would before the last member.
func (g *Governed) Met() bool { return g.Used+g.Before >= g.Guaranteed }

// JobBound is a queue of the path of a job that bounds it, as it was when the
// job was decided, once what was leaving has gone.
type JobBound struct {
	Queue                queue.ID
	Max                  resources.Limit
	Quota                *koordinator.ElasticQuota // nil: bounds nothing
	Used, NonPreemptible resources.Vector          // of the latter only where there is a quota
}

// job decides the job of a request, and does what follows. Members that run
// already are added first.
func (r *runner) job(i int, q *Request) error {
	job := r.jobOf(q.Job)
	if err := r.instant(q.Job.At, "age", q.Job.Age, job.PendingSince); err != nil {
		return err
	}
	if err := r.addMembers(q.Job, &job); err != nil {
		return err
	}
	if err := r.share(q.At, &job); err != nil {
		return err
	}
	planner := r.jobPlanner(q.Job)
	if err := r.show(i, Moment{JobPlanner: &planner, Job: &job}); err != nil {
		return err
	}
	placed := &Placed{Bounds: r.jobBounds(job.Queue)}
	if r.explained() {
		placed.Explanation = new(victims.Explanation)
		if err := planner.Explain(placed.Explanation, &job, r.now); err != nil {
			return r.jobError(q.Job, err)
		}
	}
	if placed.Explanation != nil && planner.Moves == "" {
		placed.Decision = placed.Explanation.Decision
	} else {
		if err := planner.Decide(&placed.Decision, &job, r.now); err != nil {
			return r.jobError(q.Job, err)
		}
		if err := placed.Decision.Count(); err != nil {
			return err
		}
	}
	for _, v := range placed.Decision.Plan.Victims {
		placed.Victims = append(placed.Victims, r.task(v.Task))
	}
	if r.explained() {
		placed.Kept = r.keptFrom(&planner, placed)
		if !planner.ByPriority {
			r.law4(placed)
		}
	}
	held := r.heldBy(&job)
	result := r.jobResult(i, &placed.Decision)
	if placed.Decision.Outcome == victims.Fits {
		for _, id := range held {
			t := r.cluster.Task(id)
			result.Placements[t.Key] = r.cluster.Node(t.Node).Name
		}
	}
	step := Step{Request: i, Now: r.now, Result: &result, Placed: placed, Aside: r.asideOfJob(q.Job, placed.Victims)}
	if err := r.judgeJob(&step, q); err != nil {
		return err
	}
	r.steps = append(r.steps, step)
	err := r.followJob(placed, q.Then)
	if err == nil && placed.Decision.Outcome == victims.Fits && q.Then != ThenNothing {
		err = r.startHeld(held)
	}
	if err != nil {
		return r.jobError(q.Job, err)
	}
	return nil
}

// jobPlanner returns the planner for a job of the document: members run on nodes
// that have all the labels which they select.
func (r *runner) jobPlanner(j *Job) jobs.Planner {
	p := jobs.Planner{
		Cluster: r.cluster,
		Options: victims.Options{
			Admit: r.admit(), ByPriority: r.doc.Options.JobTrigger == byPriority,
			WithinQueue: ownLeafOf[r.doc.Options.OwnLeaf], Exempt: r.planner.Exempt, Scarce: r.scarce(), Levels: r.doc.Options.levels(),
			Filter: func(q *victims.Question) bool { return r.selects(j.Members[q.Member.Class].NodeSelector, q.Node) },
		},
	}
	r.doc.Options.Set(&p.Options)
	p.VictimsOnNode = false // which documents have for asks alone
	if p.Moves, p.MaxMoved = r.doc.Options.movesFor(), r.doc.Options.MaxMoved; p.Moves != "" {
		p.Filter = r.filterMovers(p.Filter)
	}
	return p
}

// heldBy returns the grants that members of a job hold.
func (r *runner) heldBy(job *victims.Ask) (held []victims.TaskID) {
	for i := range job.Members {
		if id, ok := r.cluster.LookupGrant(job.Members[i].Key); ok {
			held = append(held, id)
		}
	}
	return held
}

// startHeld starts the members of a job that hold grants: it fits now.
func (r *runner) startHeld(held []victims.TaskID) error {
	for _, id := range held {
		if err := r.startGrant(r.cluster.Key(id)); err != nil {
			return err
		}
	}
	return nil
}

// jobOf returns the job of a document as package jobs wants it.
func (r *runner) jobOf(j *Job) victims.Ask {
	job := victims.Ask{
		Key: j.Name, Application: j.Application, Queue: r.queue(j.Queue), Priority: j.Priority,
		NonPreemptible: r.nonPreemptible(j.Preemptible), MinMembers: j.MinMembers,
		MayNotPreempt: j.PreemptionPolicy == "Never", DomainDepth: j.Domain, PendingSince: r.now.Add(-j.Age),
	}
	for i := range j.Members {
		m := &j.Members[i]
		job.Members = append(job.Members, victims.Member{Key: m.Key, Size: m.Resources, Class: j.class(i)})
	}
	return job
}

// class returns the class of member i: the place of the first member that
// selects the same nodes.
func (j *Job) class(i int) int {
	return slices.IndexFunc(j.Members, func(m Member) bool { return maps.Equal(m.NodeSelector, j.Members[i].NodeSelector) })
}

// nonPreemptible says what a document does not: without the option silence
// means preemptible.
func (r *runner) nonPreemptible(preemptible *bool) bool {
	if preemptible == nil {
		return r.doc.Options.JobsNeedPreemptibleLabel
	}
	return !*preemptible
}

// addMembers adds the members that run already, as tasks of the default age. A
// member of the same job that an earlier request has placed is there; one that
// the document has among its tasks must not be said to run once more.
func (r *runner) addMembers(j *Job, job *victims.Ask) error {
	for i := range j.Members {
		m := &j.Members[i]
		repeated := m.Node != "" && r.listed[m.Key]
		if !repeated && r.placed(job, m.Key) {
			continue
		}
		_, taken := r.cluster.Lookup(m.Key)
		if _, granted := r.cluster.LookupGrant(m.Key); taken || granted {
			return r.taskError(m.At, m.Key, m.Resources, fmt.Errorf("member of job %q: %w", j.Name, victims.ErrDuplicate))
		}
		if m.Node == "" {
			continue
		}
		since := r.now.Add(-defaultAge)
		err := r.addPlaced(job, victims.Place{Member: i, Node: r.node(m.Node)}, since)
		if err != nil {
			return r.taskError(m.At, m.Key, m.Resources, err)
		}
	}
	return nil
}

// placed reports whether the key is that of a task or a grant of the job.
func (r *runner) placed(job *victims.Ask, key string) bool {
	id, ok := r.cluster.Lookup(key)
	if !ok {
		id, ok = r.cluster.LookupGrant(key)
	}
	if !ok {
		return false
	}
	t := r.cluster.Task(id)
	return t.Job == job.Key && t.Queue == job.Queue
}

// addPlaced adds a member as a task that runs since some instant.
func (r *runner) addPlaced(job *victims.Ask, at victims.Place, since time.Time) error {
	m := &job.Members[at.Member]
	_, err := r.cluster.AddTask(&victims.Task{
		Key: m.Key, Application: job.Application, Queue: job.Queue, Node: at.Node, Size: m.Size,
		Priority: job.Priority, Created: since, Scheduled: since,
		Job: job.Key, NonPreemptible: job.NonPreemptible,
	})
	return err
}

// setQuotas reads the quotas of the document. What waits counts in the queues above as well.
func (r *runner) setQuotas() error {
	tree, schema := r.cluster.Tree(), r.cluster.Schema()
	r.quotas = make(map[string]*koordinator.ElasticQuota)
	var problems []error
	for i := range r.doc.Quotas {
		q := &r.doc.Quotas[i]
		r.quotas[tree.Path(r.queue(q.Queue))] = &koordinator.ElasticQuota{Min: q.Min, Max: q.Max, Waiting: q.Waiting}
		for t := range (q.Min.Defined & q.Max.Defined).All() {
			least, _ := q.Min.Bound(t)
			most, _ := q.Max.Bound(t)
			if least <= most {
				continue
			}
			err := fmt.Errorf("min above max: %s: min %s, max %s", schema.Name(t), vectors.Text(schema, t, least), vectors.Text(schema, t, most))
			if r.doc.Strict {
				problems = append(problems, r.doc.Fail(q.At, strconv.Quote(q.Queue), err))
			} else {
				r.warnings = append(r.warnings, fmt.Errorf("quota of %s: %w", plain.Name(q.Queue), err))
			}
		}
	}
	AddWaiting(tree, r.quotas)
	return errors.Join(problems...)
}

// AddWaiting adds to what waits in each queue with a quota what waits below it.
func AddWaiting(tree *queue.Tree, quotas map[string]*koordinator.ElasticQuota) {
	for q := queue.ID(tree.Len() - 1); q > queue.Root; q-- { // queues come before those below
		of := quotas[tree.Path(q)]
		for above := range tree.Ancestors(q) {
			if x := quotas[tree.Path(above)]; of != nil && x != nil && x != of {
				x.Waiting = resources.Add(nil, x.Waiting, of.Waiting)
				break
			}
		}
	}
}

// admit returns the function of the document's quotas, or nil if it has none.
func (r *runner) admit() func(resources.Vector, *victims.Admission) (resources.Vector, bool) {
	if len(r.quotas) == 0 {
		return nil
	}
	return func(dst resources.Vector, a *victims.Admission) (resources.Vector, bool) {
		return r.quotas[a.Queue].Admit(dst, a)
	}
}

// jobBounds returns the queues from a leaf upwards that bound jobs.
func (r *runner) jobBounds(leaf queue.ID) (bounds []JobBound) {
	tree := r.cluster.Tree()
	for q := range tree.Ancestors(leaf) {
		b := JobBound{Queue: q, Quota: r.quotas[tree.Path(q)], Used: tree.Effective(nil, q)}
		b.Max = resources.AddOnlyExisting(resources.Limit{}, tree.Max(q), nil)
		if b.Quota != nil {
			b.NonPreemptible = r.nonPreemptibleBelow(q)
		}
		if b.Quota != nil || b.Max.Defined != 0 {
			bounds = append(bounds, b)
		}
	}
	return bounds
}

// nonPreemptibleBelow returns what the non-preemptible use below a queue, without what is
// leaving.
func (r *runner) nonPreemptibleBelow(q queue.ID) resources.Vector {
	sum := make(resources.Vector, r.cluster.Schema().Len())
	for id := range r.cluster.Tasks() {
		t := r.cluster.TaskView(id)
		if t.NonPreemptible && r.cluster.Tree().Contains(q, t.Queue) && t.State != victims.Releasing && t.State != victims.Marked {
			sum = resources.Add(sum, sum, t.Size)
		}
	}
	return sum
}

// jobError gives what is wrong with a job its place.
func (r *runner) jobError(j *Job, err error) error {
	return r.doc.Fail(j.At, strconv.Quote(j.Name), err)
}

// followJob does what a document says shall follow a decision about a job.
func (r *runner) followJob(placed *Placed, then Then) error {
	d := &placed.Decision
	if then == ThenNothing || d.Outcome == victims.Refused {
		return nil
	}
	p := &d.Plan
	if d.Outcome == victims.Fits {
		for _, at := range p.Places {
			if err := r.addPlaced(&p.Ask, at, r.now); err != nil {
				return err
			}
		}
		return nil
	}
	err := r.cluster.Apply(d)
	if err == nil { // the document says what a job needs
		err = r.cluster.SetMinMembers(p.Ask.Key, r.doc.jobMinimum(p.Ask.Key))
	}
	if err != nil || d.Outcome == victims.Waits || then == ThenLeave {
		return err
	}
	if err := r.startMoved(p); err != nil {
		return err
	}
	for _, v := range p.Victims {
		if err := r.remove(v.Key); err != nil {
			return err
		}
	}
	for _, at := range p.Places {
		if err := r.startGrant(p.Ask.Members[at.Member].Key); err != nil {
			return err
		}
	}
	return nil
}

// jobResult returns what the result document says of a decision about a job.
func (r *runner) jobResult(i int, d *victims.Decision) Result {
	p := &d.Plan
	result := Result{Request: i, Key: p.Ask.Key, Outcome: Outcome(d.Outcome.String()), Victims: []string{}}
	if d.Outcome == victims.Refused {
		result.Reason = d.Refusal.Reason
		result.RetryAt = d.Refusal.RetryAt
		result.Proven = &d.Refusal.Proven
		result.Counts = counts(d.Refusal.Counts)
		result.ProtectedBy = r.protectedBy(&d.Refusal)
		result.Cause = r.cause(&d.Refusal.Cause)
		return result
	}
	proven := p.Proof == victims.ProofCost
	result.Proven, result.Proof = &proven, Proof(p.Proof.String())
	result.Overrun, result.OwnLeaf, result.Moves = p.Cost.Overrun, p.WithinQueue, movesOf(p)
	result.Placements = make(map[string]string)
	for _, at := range p.Places {
		result.Placements[p.Ask.Members[at.Member].Key] = r.cluster.Node(at.Node).Name
	}
	for _, v := range p.Victims {
		result.Victims = append(result.Victims, v.Key)
	}
	return result
}
