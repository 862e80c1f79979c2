package victims

import (
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// lanes is countRules and findClosest in one pass over the digests, for
// callers who exempt nobody. It reads rows of tasks only if the ask's application
// has tasks in the cluster. A node whose digest shows that one rule keeps all
// tasks that their leaves do not keep is counted without reading its lanes.
func (s *survey) lanes(r *Refusal) {
	d := s.d
	s.least = d.eligible.leastRoom(d.scratch.least)
	d.scratch.least = s.least
	// With an application, an own leaf or a max that is short tasks differ by
	// more than the digest knows.
	s.even = !d.eligible.hasApp && !d.eligible.who.OwnLeaf && !d.needs.open()
	if 2*r.Filtered > len(d.nodes) {
		s.same = RuleNotHelping // as on most nodes
	}
	for _, n := range d.c.order {
		s.node(r, n)
	}
	if d.c.hasClosed() {
		for n := range d.c.nodes {
			// Nobody can run there, but who runs there counts.
			if d.c.nodes[n].live && d.c.nodes[n].closed() {
				s.node(r, NodeID(n))
			}
		}
	}
	if s.alike > 0 {
		s.addAlike(r)
	}
}

// node counts the tasks of a node, and compares it with the closest one.
//
// Most refused asks are refused for one reason on nearly all nodes. Those nodes are
// summed up and not looked into. If another node has another rule, its lanes are
// read.
func (s *survey) node(r *Refusal, n NodeID) {
	d := s.d
	gauge := &d.c.digest.gauges[n]
	r.Counts[RuleLeaving] += int(gauge.leaving)
	r.Counts[RuleRequiredNode] += int(gauge.required)
	usable := d.usable(n) && d.passes(n)
	rule := s.ruleForAll(n, usable)
	if s.same == 0 {
		s.same = rule
	}
	if gauge.evictable == 0 || rule != 0 && rule == s.same {
		s.alike += int(gauge.evictable)
		if usable && !s.isFar(n) {
			s.closer(r, n, d.siteOf(n).short)
		}
		return
	}
	at := d.siteIfOpen(n)
	short := at.short
	s.countLanes(r, n, &at)
	if usable {
		s.closer(r, n, short)
	}
}

// ruleForAll returns the rule that keeps every evictable task of a node whose
// leaf no rule keeps, or 0 if its digest does not tell.
func (s *survey) ruleForAll(n NodeID, usable bool) Rule {
	d, e := s.d, &s.d.eligible
	gauge := &d.c.digest.gauges[n]
	switch {
	case !s.even:
		return 0
	// If the lowest task is too high in the leaf that ranks lowest, every task
	// is.
	case e.leastRank(gauge.minPriority) > e.ceiling:
		return RulePriority
	case !e.evenRanks || e.leastLift+int64(gauge.maxPriority) > e.ceiling:
		return 0
	// No rule up to here keeps any. Nobody helps where the ask cannot run.
	case !usable:
		return RuleNotHelping
	}
	// If the smallest amounts are too large for every bound, so is every task. If
	// they help, so does every task.
	free, least := d.c.row(d.c.coming, n), d.c.row(d.c.digest.least, n)
	for _, t := range d.types {
		if least[t] > 0 && free[t] < d.size[t] {
			if d.eligible.tooLarge(least) {
				return RuleGuarantee
			}
			break
		}
	}
	return 0
}

// isFar reports whether a node lacks so much of some type, with nobody gone, that
// it is not the closest.
func (s *survey) isFar(n NodeID) bool {
	d := s.d
	if len(s.asMuch) == 0 {
		return false // it is the first one
	}
	free := d.c.row(d.c.coming, n)
	for _, t := range d.types {
		if most := s.asMuch[t]; max(d.size[t]-free[t], 0) >= most && most < noLimit {
			return true
		}
	}
	return false
}

// addAlike counts the tasks of which one rule keeps all whom their leaves do not:
// what leaves keep, and was not counted yet, is among them.
func (s *survey) addAlike(r *Refusal) {
	d := s.d
	var kept [NumRules]int
	for w := range d.tree.Leaves(queue.Root) {
		// A leaf's veto comes before any rule of a lane, and the cluster counts
		// each leaf's evictable tasks anyway.
		if veto := d.eligible.leaves[w].veto; veto != 0 {
			kept[veto] += int(d.c.evictable[w])
		}
	}
	for rule, n := range kept {
		if n > 0 {
			// Some of them were counted when lanes were read, and are not among
			// those that were summed up.
			s.alike -= n - r.Counts[rule]
			r.Counts[rule] = n
		}
	}
	r.Counts[s.same] += s.alike
}

// countLanes counts the tasks of a node lane by lane, each at the first rule that keeps
// it, and takes what its candidates would free off what the node is short of.
func (s *survey) countLanes(r *Refusal, n NodeID, at *site) {
	d, e := s.d, &s.d.eligible
	digest := &d.c.digest.nodes[n]
	// Of a required node only the tasks on it make headroom.
	headroom := d.needs.open() && (d.usable(n) || !d.required())
	for i := range digest.lanes {
		l, size := &digest.lanes[i], digest.size(i, d.c.types)
		// Most sizes fit what any leaf has to give, and then none of the leaves is asked.
		types, ample := resources.Positive(size), resources.Fits(size, s.least)
		candidates := int64(0)
		for j := l.first; j < l.end; j++ {
			leaf := &e.leaves[digest.leaves[j]]
			helps := types & at.mask
			if headroom {
				helps |= types & d.needs.masks[leaf.level]
			}
			switch {
			// The order of rules is that of Veto, and a test holds the two
			// together.
			case e.hasApp && d.c.tasks[digest.ids[j]].app == e.app:
				r.Counts[RuleApplication]++
			case leaf.veto != 0:
				r.Counts[leaf.veto]++
			case leaf.rank.Of(l.priority) > leaf.ceiling:
				r.Counts[RulePriority]++
			case helps == 0:
				r.Counts[RuleNotHelping]++
			case !ample && !resources.Fits(size, leaf.room):
				r.Counts[RuleGuarantee]++
			default:
				candidates++
			}
		}
		r.Candidates += int(candidates)
		if candidates == 0 || at.node < 0 {
			continue // what it frees is of no use there
		}
		for t, v := range size {
			at.short[t] -= candidates * v
		}
	}
}
