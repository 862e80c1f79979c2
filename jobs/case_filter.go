package jobs

import (
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/victims"
)

// A filter remembers what the caller says of nodes and classes of members, so
// that each is asked about once in a decision.
type filter struct {
	caller  func(job *Job, class int, node victims.NodeID) bool // Planner.Filter
	classes []int                                               // different ones, in the order of members
	classOf []int32                                             // by member, an index of classes
	answers []answer                                            // of a class about all hosts, class by class
	hosts   int
}

type answer uint8

const (
	notAsked answer = iota
	accepted
	refused
)

// begin forgets all answers, and finds the classes of the members of a job.
func (f *filter) begin(job *Job, hosts int) {
	f.classes, f.classOf = f.classes[:0], f.classOf[:0]
	if f.caller == nil {
		return
	}
	for i := range job.Members {
		f.classOf = append(f.classOf, f.find(job.Members[i].Class))
	}
	f.hosts = hosts
	// A byte per class and host: jobs have few classes, mostly one.
	f.answers = rows.Zeros(f.answers, len(f.classes)*hosts)
}

// find returns the index of a class, which it adds if it is new.
func (f *filter) find(class int) int32 {
	// There are few classes, for which a list is faster than a map.
	for i, c := range f.classes {
		if c == class {
			return int32(i)
		}
	}
	f.classes = append(f.classes, class)
	return int32(len(f.classes) - 1)
}

// of returns the class of a member; without a filter all are alike.
func (f *filter) of(member int) int32 {
	if f.caller == nil {
		return 0
	}
	return f.classOf[member]
}

// lets reports whether members of a class may ever run on a host.
func (c *jobCase) lets(class, h int32) bool {
	f := &c.filter
	if f.caller == nil {
		return true
	}
	// By the row in the full case: a host of one domain is known by the answers
	// that were given before.
	at := &f.answers[int(class)*f.hosts+int(c.hosts[h].row)]
	if *at == notAsked {
		*at = refused
		if f.caller(c.job, f.classes[class], c.hosts[h].id) {
			*at = accepted
		}
	}
	return *at == accepted
}

// takes reports whether a host may take members of a kind at all.
func (c *jobCase) takes(h int32, k *kind) bool {
	only := c.hosts[h].only
	return (only < 0 || only == k.only) && c.lets(k.class, h)
}

// takesMember reports whether a host may take a member, by its index in the job.
func (c *jobCase) takesMember(h int32, member int) bool {
	only := c.hosts[h].only
	return (only < 0 || only == int32(member)) && c.lets(c.filter.of(member), h)
}

// takesAny reports whether a host may take any member of the job.
func (c *jobCase) takesAny(h int32) bool {
	if c.filter.caller == nil {
		return true // hosts that are reserved are so for a member
	}
	// A host that is reserved for a member takes no other, so its class alone
	// is asked.
	if only := c.hosts[h].only; only >= 0 {
		return c.lets(c.filter.of(int(only)), h)
	}
	for class := range c.filter.classes {
		if c.lets(int32(class), h) {
			return true
		}
	}
	return false
}

// filtered counts the hosts that the filter refuses to every member of todo.
func (c *jobCase) filtered() (n int) {
	if c.filter.caller == nil {
		return 0
	}
	for h := range c.hosts {
		// Counted by kinds, since members of a kind are alike to the filter.
		some := false
		for i := range c.kinds {
			some = some || c.lets(c.kinds[i].class, int32(h))
		}
		if !some {
			n++
		}
	}
	return n
}
