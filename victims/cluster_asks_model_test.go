// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"maps"
	"math"
	"math/big"
	"slices"
	"time"
)

// What the slow twin of a cluster knows of asks, plans and grants.

// modelGrant is a grant, its ask, who moves there, and the victims that it waits for.
type modelGrant struct {
	key, ask, mover string
	wait            int
}

type modelAsk struct {
	since time.Time
	needs int
}

type modelVictim struct {
	key  string
	must bool
}

// askPicture is what can be seen of an ask that holds grants.
type askPicture struct {
	ask                       string
	places, leaving, returned []string
	since                     time.Time
	ready                     bool
}

// of returns the places of an ask's grants in the order of giving.
func (m *clusterModel) of(ask string) (list []int) {
	for i, g := range m.grants {
		if g.ask == ask {
			list = append(list, i)
		}
	}
	return list
}

// badName returns what is wrong with the name of an ask, or of a job, that is to hold a grant.
func (m *clusterModel) badName(name string, job bool) []error {
	if a, holds := m.asks[name]; holds && job != (a.needs > 0) {
		return []error{ErrDuplicate}
	}
	return nil
}

// victimsOf returns the victims of the plans for an ask.
func (m *clusterModel) victimsOf(ask string) (all []modelVictim) {
	for _, i := range m.of(ask) {
		for _, v := range m.waits[m.grants[i].wait] {
			if !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	return all
}

func (m *clusterModel) runs(key string) bool {
	t, ok := m.tasks[key]
	return ok && t.State != Granted
}

// held is what an ask holds.
func (m *clusterModel) held(ask string) askPicture {
	p := askPicture{ask: ask, since: m.asks[ask].since, ready: m.ready(ask)}
	for _, i := range m.of(ask) {
		p.places = append(p.places, m.grants[i].key)
		if mover := m.grants[i].mover; m.runs(mover) && m.tasks[mover].State.leaving() {
			p.leaving = append(p.leaving, mover)
		} else if m.runs(mover) {
			p.returned = append(p.returned, mover)
		}
		for key, t := range m.tasks {
			if m.grants[i].wait == 0 && !p.ready && t.State.leaving() && t.node == m.tasks[m.grants[i].key].node && m.short(m.tasks[m.grants[i].key], t) {
				p.leaving = append(p.leaving, key)
			}
		}
	}
	for _, v := range m.victimsOf(ask) {
		if m.tasks[v.key].State.leaving() {
			p.leaving = append(p.leaving, v.key)
		} else {
			p.returned = append(p.returned, v.key)
		}
	}
	slices.Sort(p.leaving)
	p.leaving = slices.Compact(p.leaving)
	slices.Sort(p.returned)
	return p
}

// short reports whether a node is over in a type that a grant there and another task have.
func (m *clusterModel) short(grant, other modelTask) bool {
	for i := range m.types() {
		on := m.sum(i, func(o modelTask) bool { return o.node == grant.node })
		on.Add(on, big.NewInt(m.unknown[grant.node].At(i)))
		if on.Cmp(big.NewInt(m.nodes[grant.node].Capacity.At(i))) > 0 && grant.Size.At(i) > 0 && other.Size.At(i) > 0 {
			return true
		}
	}
	return false
}

// ready takes off all grants of an ask, and those that others were given on its nodes later,
// and looks whether all of its fit then.
func (m *clusterModel) ready(ask string) bool {
	own := m.of(ask)
	members := 0
	for _, t := range m.tasks {
		if job := m.tasks[m.grants[own[0]].key].Job; job != "" && t.Job == job && !t.State.leaving() {
			members++
		}
	}
	if members < m.asks[ask].needs || slices.ContainsFunc(m.victimsOf(ask), func(v modelVictim) bool { return v.must }) {
		return false
	}
	first := map[string]int{} // by node
	for _, i := range slices.Backward(own) {
		if m.runs(m.grants[i].mover) {
			return false
		}
		first[m.tasks[m.grants[i].key].node] = i
	}
	mine := func(t modelTask) bool {
		return t.State == Granted && slices.ContainsFunc(own, func(i int) bool { return m.grants[i].key == t.Key })
	}
	stays := func(t modelTask) bool {
		from, there := first[t.node]
		at := slices.IndexFunc(m.grants, func(g modelGrant) bool { return g.key == t.Key })
		return !mine(t) && !(t.State == Granted && there && at > from)
	}
	for _, k := range own {
		t := m.tasks[m.grants[k].key]
		if m.closed(t.node) {
			return false
		}
		for i := range m.types() {
			if t.Size[i] == 0 {
				continue
			}
			on := m.sum(i, func(o modelTask) bool { return o.node == t.node && (mine(o) || stays(o)) })
			on.Add(on, big.NewInt(m.unknown[t.node].At(i)))
			if on.Cmp(big.NewInt(m.nodes[t.node].Capacity.At(i))) > 0 {
				return false
			}
			for q := range m.tree.Ancestors(t.Queue) {
				below := m.sum(i, func(o modelTask) bool { return m.below(o.Queue, q) && (mine(o) || stays(o)) })
				if bound, ok := m.max[q].Bound(i); ok && below.Cmp(big.NewInt(bound)) > 0 {
					return false
				}
			}
		}
	}
	return true
}

// give notes a grant, which is the last in order.
func (m *clusterModel) give(g modelGrant, since time.Time) {
	m.ungive(g.key)
	m.grants = append(slices.Clone(m.grants), g)
	if a, ok := m.asks[g.ask]; !ok {
		a.since = since
		m.asks[g.ask] = a
	}
}

func (m *clusterModel) ungive(key string) {
	m.grants = slices.DeleteFunc(slices.Clone(m.grants), func(g modelGrant) bool { return g.key == key })
	for ask := range m.asks {
		if len(m.of(ask)) == 0 {
			delete(m.asks, ask)
		}
	}
	for w := range m.waits {
		if !slices.ContainsFunc(m.grants, func(g modelGrant) bool { return g.wait == w }) {
			delete(m.waits, w)
		}
	}
}

// unwait notes that a task is no victim of a plan any more.
func (m *clusterModel) unwait(key string) {
	for w, all := range m.waits {
		m.waits[w] = slices.DeleteFunc(slices.Clone(all), func(v modelVictim) bool { return v.key == key })
	}
}

// forget forgets the minimums of jobs that were placed and have gone.
func (m *clusterModel) forget() {
	for job := range m.placed {
		if !slices.ContainsFunc(slices.Collect(maps.Values(m.tasks)), func(t modelTask) bool { return t.Job == job }) {
			delete(m.placed, job)
		}
	}
}

// minimum is how many members a job needs.
func (m *clusterModel) minimum(job string) int {
	if n, ok := m.minimums[job]; ok {
		return n
	}
	return m.placed[job]
}

// needs reports whether some of the grants needs the room that a victim is to leave.
func (m *clusterModel) needs(victim string, grants ...modelGrant) bool {
	v := m.tasks[victim]
	stays := func(t modelTask) bool { return !t.State.leaving() }
	for i := range m.types() {
		short := func(most int64, in func(modelTask) bool) bool {
			sum := m.sum(i, func(t modelTask) bool { return stays(t) && in(t) })
			return sum.Add(sum, big.NewInt(v.Size[i])).Cmp(big.NewInt(most)) > 0
		}
		wanted := func(in func(modelTask) bool) bool {
			for _, g := range grants {
				if t := m.tasks[g.key]; t.Size[i] > 0 && in(t) {
					return true
				}
			}
			return false
		}
		if v.Size[i] == 0 {
			continue
		}
		there := func(t modelTask) bool { return t.node == v.node }
		if short(m.nodes[v.node].Capacity.At(i)-m.unknown[v.node].At(i), there) && wanted(there) {
			return true
		}
		for q := range m.tree.Ancestors(v.Queue) {
			below := func(t modelTask) bool { return m.below(t.Queue, q) }
			if bound, ok := m.max[q].Bound(i); ok && short(bound, below) && wanted(below) {
				return true
			}
		}
	}
	return false
}

// cancel takes back what is left of the plans for an ask, and returns who runs on.
func (m *clusterModel) cancel(ask string) (unmarked, gone []string) {
	told := m.victimsOf(ask)
	drop := func(key string) {
		gone = append(gone, key)
		m.ungive(key)
		delete(m.tasks, key)
	}
	for _, g := range slices.Clone(m.grants) {
		if g.ask == ask {
			drop(g.key)
		}
	}
	slices.SortFunc(told, func(a, b modelVictim) int { return slices.Compare([]string{a.key}, []string{b.key}) })
	for _, v := range told {
		t := m.tasks[v.key]
		if t.State == Releasing {
			continue
		}
		if t.State == Marked {
			waited := slices.ContainsFunc(slices.Collect(maps.Values(m.waits)), func(all []modelVictim) bool { return slices.Contains(all, v) })
			if waited || m.leaveTo(v.key) {
				continue
			}
			m.unmark(v.key)
			unmarked = append(unmarked, v.key)
		}
		for _, g := range m.grants {
			if g.mover == v.key {
				drop(g.key)
				break
			}
		}
	}
	return unmarked, gone
}

// leaveTo makes a victim one of the oldest grant that needs it, and reports whether any does. That of
// a mover waits for nobody else.
func (m *clusterModel) leaveTo(key string) bool {
	for i, g := range m.grants {
		if g.mover == "" && m.needs(key, g) {
			if g.wait == 0 {
				m.lastWait++
				g.wait = m.lastWait
				m.grants = slices.Clone(m.grants)
				m.grants[i] = g
			}
			m.waits[g.wait] = append(slices.Clone(m.waits[g.wait]), modelVictim{key: key})
			return true
		}
	}
	return m.needs(key, m.grants...)
}

// unmark has a victim run on, and gives it back to its budgets.
func (m *clusterModel) unmark(key string) {
	t := m.tasks[key]
	t.State, t.told = Running, time.Time{}
	m.tasks[key] = t
	for _, name := range t.Budgets {
		b := m.budgets[name]
		if b.Left < math.MaxInt64 {
			b.Left++
		}
		m.budgets[name] = b
	}
}
