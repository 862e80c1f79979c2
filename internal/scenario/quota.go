package scenario

import "github.com/go-preempt/preempt/resources"

// A Quota is what a queue may use for jobs. Min is not compared with Max here.
type Quota struct {
	At      *Path
	Queue   string // inner queues included
	Min     resources.Limit
	Max     resources.Limit
	Waiting resources.Vector // non-preemptible requests that wait; nil: none
}

// quotas reads at most one quota for each queue.
func (d *decoder) quotas(v value) []Quota {
	queues := make(seen)
	return each(d, func(v value) Quota { return d.quota(v, queues) })(v)
}

// quota reads the quota of a queue that is not among those seen.
func (d *decoder) quota(v value, queues seen) Quota {
	o := d.object(v, "queue", "min", "max", "waitingNonPreemptible")
	q := Quota{
		At:      v.at,
		Queue:   required(o, "queue", d.unique(queues)),
		Min:     optional(o, "min", d.limit, resources.Limit{}),
		Max:     optional(o, "max", d.limit, resources.Limit{}),
		Waiting: optional(o, "waitingNonPreemptible", d.vector, nil),
	}
	d.queueRef(o.find("queue"))
	return q
}
