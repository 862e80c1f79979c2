package jobs

import (
	"slices"

	"github.com/go-preempt/preempt/internal/sat"
	"github.com/go-preempt/preempt/resources"
)

// listOnHosts lists, host by host, the units with a task on it.
func (d *decision) listOnHosts() {
	for h := range d.hosts {
		d.hosts[h].end = 0
	}
	d.eachOnHost(func(h *host, _ int32) { h.end++ })
	at := int32(0)
	for h := range d.hosts {
		host := &d.hosts[h]
		host.first, host.end, at = at, at, at+host.end
	}
	d.onHost = zeros(d.onHost, int(at))
	d.eachOnHost(func(h *host, u int32) {
		d.onHost[h.end] = u
		h.end++
	})
}

// eachOnHost calls f with every unit and each host that it has a task on, once.
func (d *decision) eachOnHost(f func(h *host, u int32)) {
	for u := range d.units {
		falls := d.fallsOf(int32(u))
		for n, i := range falls {
			if h := d.cands[i].host; h >= 0 && !d.runsOn(falls[:n], h) {
				f(&d.hosts[h], int32(u))
			}
		}
	}
}

// runsOn reports whether any of some candidates runs on a host.
func (d *decision) runsOn(falls []int32, h int32) bool {
	for _, i := range falls {
		if d.cands[i].host == h {
			return true
		}
	}
	return false
}

// unitsOn returns the units with a task on a host.
func (d *decision) unitsOn(h int32) []int32 {
	return d.onHost[d.hosts[h].first:d.hosts[h].end]
}

// measureUnits works out what the units of each host could free.
func (d *decision) measureUnits() {
	d.pose.hosts = d.pose.hosts[:0]
	d.pose.needOf = zeros(d.pose.needOf, len(d.hosts))
	for h := range d.pose.needOf {
		d.pose.needOf[h] = -1
	}
	d.falling = zeros(d.falling, len(d.cands))
	for u := range d.units {
		for _, i := range d.fallsOf(int32(u)) {
			c := &d.cands[i]
			if !d.falling[i] && c.host >= 0 {
				all := d.hosts[c.host].all
				resources.Add(all, all, c.size)
			}
			d.falling[i] = true
		}
	}
	d.listOnHosts()
	d.freed = zeros(d.freed, len(d.onHost)*d.types)
	for h := range d.hosts {
		host := &d.hosts[h]
		host.most = d.freed[int(host.first)*d.types : int(host.end)*d.types]
		for n, u := range d.unitsOn(int32(h)) {
			d.measureUnit(host, int32(h), u, d.row(host.most, n), n == 0)
		}
		d.addUp(host.most)
	}
}

// measureUnit counts what a unit frees on a host in here.
func (d *decision) measureUnit(host *host, h, u int32, here resources.Vector, first bool) {
	for _, i := range d.fallsOf(u) {
		c := &d.cands[i]
		if c.host != h {
			continue
		}
		resources.Add(here, here, c.size)
		for l, v := range c.levels {
			if first || v < host.least[l] {
				host.least[l] = v
			}
		}
		first = false
	}
}

// addUp sorts the amounts of each type, the largest first, and adds to each
// those before it.
func (d *decision) addUp(rows []int64) {
	for t := range d.types {
		d.column = d.column[:0]
		for i := t; i < len(rows); i += d.types {
			d.column = append(d.column, rows[i])
		}
		slices.Sort(d.column)
		var sum int64
		for n := range d.column {
			sum = sat.Add(sum, d.column[len(d.column)-1-n])
			rows[n*d.types+t] = sum
		}
	}
}
