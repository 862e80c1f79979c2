package jobs

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A roster is the members of the job by what the cluster says of them.
type roster struct {
	byKey    map[string]int32 // indices of Job.Members
	unplaced []int            // those of the minimum without a place
	further  []int            // those beyond it
	held     []victims.TaskID // the grants of members
	leaving  bool             // a member that is leaving is missing from the minimum
}

// check reports what is wrong with the job, and else finds out which members
// have no place yet.
func (r *roster) check(c *jobCase) error {
	job := c.job
	fail := func(err error) error { return fmt.Errorf("jobs: job %q: %w", job.Name, err) }
	// In the order in which one would read the job: its name, its queue, its
	// numbers.
	switch {
	case job.Name == "":
		return fail(victims.ErrEmpty)
	case job.Queue < 0 || int(job.Queue) >= c.tree.Len():
		return fail(fmt.Errorf("queue %d: %w", job.Queue, victims.ErrUnknown))
	case !c.tree.IsLeaf(job.Queue):
		return fail(fmt.Errorf("queue %s: %w", c.tree.Path(job.Queue), victims.ErrQueue))
	case job.MinMembers < 0 || job.MinMembers > len(job.Members):
		return fail(fmt.Errorf("minimum %d of %d members: %w", job.MinMembers, len(job.Members), victims.ErrRange))
	case job.Domain < 0:
		return fail(fmt.Errorf("domain of depth %d: %w", job.Domain, victims.ErrRange))
	case len(job.Members) == 0:
		return fail(fmt.Errorf("no members: %w", victims.ErrEmpty))
	case !holdable(c.now):
		return fail(fmt.Errorf("now %v: %w", c.now, victims.ErrRange))
	case !job.PendingSince.IsZero() && !holdable(job.PendingSince):
		return fail(fmt.Errorf("pending since %v: %w", job.PendingSince, victims.ErrRange))
	case !job.LastAttempt.IsZero() && !holdable(job.LastAttempt):
		return fail(fmt.Errorf("last attempt %v: %w", job.LastAttempt, victims.ErrRange))
	}
	if err := r.checkMembers(c); err != nil {
		return fail(err)
	}
	r.split(c)
	return nil
}

// holdable reports whether a cluster could hold the instant: it is in the years
// that 64 bits of nanoseconds reach.
func holdable(t time.Time) bool {
	const most = math.MaxInt64/int64(time.Second) - 1
	return -most <= t.Unix() && t.Unix() <= most
}

// checkMembers reports a member without a key of its own, and amounts with which
// the usage of the cluster would leave the range of int64.
func (r *roster) checkMembers(c *jobCase) error {
	if r.byKey == nil {
		r.byKey = make(map[string]int32)
	}
	clear(r.byKey)
	// Sums of this decision are sums of sizes of tasks and members, so if all of
	// them together are in range every one is, and nothing after this checks.
	c.rem = resources.Copy(c.rem, c.tree.Usage(0)) // what is used with the members so far
	for i := range c.job.Members {
		m := &c.job.Members[i]
		if m.Key == "" {
			return fmt.Errorf("member %d: %w", i, victims.ErrEmpty)
		}
		// Keys are those of tasks later on, of which there is one each.
		if _, ok := r.byKey[m.Key]; ok {
			return fmt.Errorf("member %q: %w", m.Key, victims.ErrDuplicate)
		}
		r.byKey[m.Key] = int32(i)
		if err := r.checkMember(c, m); err != nil {
			return fmt.Errorf("member %q: %w", m.Key, err)
		}
	}
	return nil
}

// checkMember checks a member and adds it to what is used.
func (r *roster) checkMember(c *jobCase, m *Member) error {
	if id, ok := lookup(c.c, m.Key); ok {
		// A member that has a place already must be of this job. Another's task
		// of the same key is a mistake, and no member.
		if t := c.c.TaskView(id); t.Queue != c.job.Queue || t.Job != "" && t.Job != c.job.Name {
			return fmt.Errorf("a task of queue %s and job %q has the key: %w", c.tree.Path(t.Queue), t.Job, victims.ErrDuplicate)
		}
		return nil // the cluster has checked its size, and counts it
	}
	if m.Cost < 0 {
		return fmt.Errorf("cost %d: %w", m.Cost, victims.ErrAmount)
	}
	for i, name := range m.Budgets {
		if _, ok := c.c.Budget(name); !ok {
			return fmt.Errorf("budget %q: %w", name, victims.ErrUnknown)
		}
		if slices.Contains(m.Budgets[:i], name) {
			return fmt.Errorf("budget %q: %w", name, victims.ErrDuplicate)
		}
	}
	schema := c.c.Schema()
	for t, v := range m.Size {
		switch {
		// A vector may be longer than the schema by zeros.
		case t >= c.types && v != 0:
			return fmt.Errorf("%d of type %d of %d: %w", v, t, c.types, victims.ErrAmount)
		case v < 0:
			return fmt.Errorf("%s %s: %w", schema.Name(t), schema.Amount(t, v), victims.ErrAmount)
		case t < c.types && v > math.MaxInt64-c.rem[t]:
			return fmt.Errorf("%s %s and %s in use or asked for: %w",
				schema.Name(t), schema.Amount(t, v), schema.Amount(t, c.rem[t]), victims.ErrRange)
		case t < c.types:
			c.rem[t] += v
		}
	}
	return nil
}

// lookup returns the task or the grant of a member, by its key.
func lookup(c *victims.Cluster, key string) (victims.TaskID, bool) {
	if id, ok := c.Lookup(key); ok {
		return id, true
	}
	return c.LookupGrant(key)
}

// split finds the members without a place. The first of them make up the
// minimum, together with those that have one. A member that is leaving has no
// place, and can get none.
func (r *roster) split(c *jobCase) {
	r.unplaced, r.further, r.held, r.leaving = r.unplaced[:0], r.further[:0], r.held[:0], false
	// 0 stands for all of them: a gang in the strict sense.
	missing := c.job.MinMembers
	if missing == 0 {
		missing = len(c.job.Members)
	}
	for i := range c.job.Members {
		id, placed := lookup(c.c, c.job.Members[i].Key)
		if !placed {
			r.unplaced = append(r.unplaced, i)
			continue
		}
		switch state := c.c.TaskView(id).State; {
		// It holds its key until it has gone, so nobody can take its place
		// before that.
		case isLeaving(state):
			r.leaving = true
			continue
		case state == victims.Granted:
			r.held = append(r.held, id)
		}
		missing--
	}
	missing = max(missing, 0)
	// The first ones by the caller's order make up the minimum. Which ones
	// never depends on what they need.
	if missing < len(r.unplaced) {
		r.further = append(r.further, r.unplaced[missing:]...)
		r.unplaced = r.unplaced[:missing]
	}
	// What is leaving matters only if the minimum is not reached without it. Then
	// there is nothing to decide before it has gone and may be placed anew.
	r.leaving = r.leaving && missing > len(r.unplaced)
}

func isLeaving(s victims.State) bool { return s == victims.Releasing || s == victims.Preempting }
