package jobs

import (
	"fmt"
	"math"
	"time"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// reset checks the job and finds out which members have no place yet.
func (d *decision) reset(p *Planner, job *Job, now time.Time) error {
	c := p.Cluster
	d.p, d.c, d.tree, d.job, d.now, d.horizon = p, c, c.Tree(), job, now, now
	d.types = c.Schema().Len()
	fail := func(err error) error { return fmt.Errorf("jobs: job %q: %w", job.Name, err) }
	switch {
	case job.Name == "":
		return fail(victims.ErrEmpty)
	case job.Queue < 0 || int(job.Queue) >= d.tree.Len():
		return fail(fmt.Errorf("queue %d: %w", job.Queue, victims.ErrUnknown))
	case !d.tree.IsLeaf(job.Queue):
		return fail(fmt.Errorf("queue %s: %w", d.tree.Path(job.Queue), victims.ErrQueue))
	case job.MinMembers < 0 || job.MinMembers > len(job.Members):
		return fail(fmt.Errorf("minimum %d of %d members: %w", job.MinMembers, len(job.Members), victims.ErrRange))
	case len(job.Members) == 0:
		return fail(fmt.Errorf("no members: %w", victims.ErrEmpty))
	case !holdable(now):
		return fail(fmt.Errorf("now %v: %w", now, victims.ErrRange))
	}
	if err := d.checkMembers(); err != nil {
		return fail(err)
	}
	d.splitMembers()
	return nil
}

// holdable reports whether a cluster could hold the instant: it is in the years
// that 64 bits of nanoseconds reach.
func holdable(t time.Time) bool {
	const most = math.MaxInt64/int64(time.Second) - 1
	return -most <= t.Unix() && t.Unix() <= most
}

// checkMembers reports a member that is none, and amounts with which the usage
// of the cluster would leave the range of int64.
func (d *decision) checkMembers() error {
	if d.byKey == nil {
		d.byKey = make(map[string]int32)
	}
	clear(d.byKey)
	d.rem = resources.Copy(d.rem, d.tree.Usage(0))
	for i := range d.job.Members {
		m := &d.job.Members[i]
		if m.Key == "" {
			return fmt.Errorf("member %d: %w", i, victims.ErrEmpty)
		}
		if _, ok := d.byKey[m.Key]; ok {
			return fmt.Errorf("member %q: %w", m.Key, victims.ErrDuplicate)
		}
		d.byKey[m.Key] = int32(i)
		if err := d.checkMember(m); err != nil {
			return fmt.Errorf("member %q: %w", m.Key, err)
		}
	}
	return nil
}

// checkMember checks a member and adds it to what is used.
func (d *decision) checkMember(m *Member) error {
	if id, ok := d.lookup(m.Key); ok {
		if t := d.c.TaskView(id); t.Queue != d.job.Queue || t.Job != "" && t.Job != d.job.Name {
			return fmt.Errorf("a task of queue %s and job %q has the key: %w", d.tree.Path(t.Queue), t.Job, victims.ErrDuplicate)
		}
		return nil
	}
	schema := d.c.Schema()
	for t, v := range m.Size {
		switch {
		case t >= d.types && v != 0:
			return fmt.Errorf("%d of type %d of %d: %w", v, t, d.types, victims.ErrAmount)
		case v < 0:
			return fmt.Errorf("%s %s: %w", schema.Name(t), schema.Amount(t, v), victims.ErrAmount)
		case t < d.types && v > math.MaxInt64-d.rem[t]:
			return fmt.Errorf("%s %s and %s in use or asked for: %w",
				schema.Name(t), schema.Amount(t, v), schema.Amount(t, d.rem[t]), victims.ErrRange)
		case t < d.types:
			d.rem[t] += v
		}
	}
	return nil
}

// lookup returns the task or the grant of a key.
func (d *decision) lookup(key string) (victims.TaskID, bool) {
	if id, ok := d.c.Lookup(key); ok {
		return id, true
	}
	return d.c.LookupGrant(key)
}

// splitMembers finds the members without a place: the first of them are the
// minimum, with those that have one. A member that is leaving has no place,
// and can get none.
func (d *decision) splitMembers() {
	d.unplaced, d.further, d.held, d.leaving = d.unplaced[:0], d.further[:0], d.held[:0], false
	missing := d.job.MinMembers
	if missing == 0 {
		missing = len(d.job.Members)
	}
	for i := range d.job.Members {
		id, placed := d.lookup(d.job.Members[i].Key)
		if !placed {
			d.unplaced = append(d.unplaced, i)
			continue
		}
		switch state := d.c.TaskView(id).State; {
		case isLeaving(state):
			d.leaving = true
			continue
		case state == victims.Granted:
			d.held = append(d.held, id)
		}
		missing--
	}
	missing = max(missing, 0)
	if missing < len(d.unplaced) {
		d.further = append(d.further, d.unplaced[missing:]...)
		d.unplaced = d.unplaced[:missing]
	}
	d.leaving = d.leaving && missing > len(d.unplaced)
}

func isLeaving(s victims.State) bool { return s == victims.Releasing || s == victims.Preempting }
