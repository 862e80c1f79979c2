package jobs

import (
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

// A host is a node on which members may be placed. Hosts are in node order, so
// that a lower host comes first there.
type host struct {
	id   victims.NodeID
	only int32            // the member that it is reserved for, as an index of Job.Members, or -1
	now  resources.Vector // what is free at present
	free resources.Vector // what is free once what is leaving has gone
	all  resources.Vector // what is free once all of its candidates have gone, too

	first, end int32 // of decision.onHost: the units with a task on it
	// Over those units: row n has, per type, the most that n + 1 of them free
	// here, and least has levels that none of them goes below.
	most  []int64
	least cover.Levels
}

// findHosts finds the nodes that are schedulable and not reserved for others,
// and the members that some are reserved for. A node that is reserved for the
// job by its name takes all of its members.
func (d *decision) findHosts() {
	d.hosts, d.reservations = d.hosts[:0], d.reservations[:0]
	last := victims.NodeID(-1)
	for id := range d.c.Nodes() {
		last = max(last, id)
		n := d.c.NodeView(id)
		h := host{id: id, only: -1}
		if n.ReservedFor != "" && n.ReservedFor != d.job.Name {
			m, ok := d.byKey[n.ReservedFor]
			if !ok {
				continue
			}
			h.only = m
			d.reservations = append(d.reservations, m)
		}
		if !n.Unschedulable {
			d.hosts = append(d.hosts, h)
		}
	}
	d.hostOf = zeros(d.hostOf, int(last)+1)
	for n := range d.hostOf {
		d.hostOf[n] = -1
	}
	for i := range d.hosts {
		d.hostOf[d.hosts[i].id] = int32(i)
	}
}

// measureHosts finds out what is free on every host.
func (d *decision) measureHosts() {
	amounts := d.block(3 * len(d.hosts))
	for i := range d.hosts {
		h := &d.hosts[i]
		h.now = d.c.Free(d.row(amounts, 3*i), h.id)
		h.free = d.c.ComingFree(d.row(amounts, 3*i+1), h.id)
		h.all = resources.Copy(d.row(amounts, 3*i+2), h.free)
	}
}

// takes reports whether a host may take members of a kind at all.
func (h *host) takes(k *kind) bool { return h.only < 0 || h.only == k.only }

// A moment says which amounts count: those of now, or those that will be once
// what is already leaving has gone.
type moment uint8

const (
	present moment = 1 + iota
	coming
)

// freeAt returns what is free on a host at a moment.
func (h *host) freeAt(m moment) resources.Vector {
	if m == present {
		return h.now
	}
	return h.free
}

// usageAt returns what a queue uses of a type at a moment.
func (d *decision) usageAt(q queue.ID, t int, m moment) int64 {
	used := d.tree.Usage(q)[t]
	if m == coming {
		used -= d.tree.Preempting(q)[t]
	}
	return used
}
