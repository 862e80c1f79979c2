package jobs

import "github.com/go-preempt/preempt/resources"

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
	amounts := d.block(2 * len(d.hosts))
	for h := range d.hosts {
		host := &d.hosts[h]
		host.largest = d.row(amounts, 2*h)
		for n, u := range d.unitsOn(int32(h)) {
			d.measureUnit(host, int32(h), u, d.row(amounts, 2*h+1), n == 0)
		}
	}
}

// measureUnit counts what a unit frees on a host.
func (d *decision) measureUnit(host *host, h, u int32, here resources.Vector, first bool) {
	clear(here)
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
	resources.Max(host.largest, host.largest, here)
}
