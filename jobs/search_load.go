package jobs

import (
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// A load is what members that have places ask for, on each host.
type load struct {
	*jobCase
	amounts []int64 // a row per host
}

// clear takes all members away.
func (l *load) clear() { l.amounts = rows.Zeros(l.amounts, len(l.hosts)*l.types) }

// of returns what members ask for on a host.
func (l *load) of(h int32) resources.Vector { return l.row(l.amounts, int(h)) }

// put places a member on a host, and take takes it away again.
func (l *load) put(m, h int32) {
	load := l.of(h)
	resources.Add(load, load, l.kindAt(m).size)
}

func (l *load) take(m, h int32) {
	load := l.of(h)
	resources.Sub(load, load, l.kindAt(m).size)
}

// set places every member of todo, on the hosts at.
func (l *load) set(at []int32) {
	l.clear()
	for m, h := range at {
		l.put(int32(m), h)
	}
}

// short sets dst to what a host lacks for the members on it, in types that they
// want, and reports whether that is anything.
func (l *load) short(dst resources.Vector, h int32) (any bool) {
	for t, v := range l.of(h) {
		dst[t] = 0
		// A type that no member there wants may be over-committed: that is no lack.
		if lack := v - l.hosts[h].free[t]; v > 0 && lack > 0 {
			dst[t] = lack
			any = true
		}
	}
	return any
}

// mayHost reports whether a host has room for one more member of a kind with
// all of its candidates gone.
func (l *load) mayHost(h int32, k *kind) bool {
	host := &l.hosts[h]
	if !l.takes(h, k) {
		return false
	}
	load := l.of(h)
	for _, t := range k.types {
		if load[t]+k.size[t] > host.all[t] {
			return false
		}
	}
	return true
}
