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
	// Most refused asks are refused for one reason on nearly all nodes. Those
	// nodes are summed up and not looked into.
	var same sameRule
	for _, n := range d.c.order {
		gauge := &d.c.digest.gauges[n]
		r.Counts[RuleLeaving] += int(gauge.leaving)
		r.Counts[RuleRequiredNode] += int(gauge.required)
		usable := d.usable(n)
		rule, far := s.ruleForAll(r, n, usable)
		// Only one rule is summed up in this way. If another node has another
		// rule, its lanes are read.
		told := rule != 0 && (same.rule == 0 || same.rule == rule)
		if told {
			same.rule = rule
			same.tasks += int(gauge.evictable)
		}
		if told && (far || !usable) {
			continue
		}
		at := d.siteIfOpen(n)
		short := at.short
		if !told {
			s.node(r, n, &at)
		}
		if usable {
			s.closer(r, n, short)
		}
	}
	if same.rule != 0 {
		d.addSame(r, &same)
	}
}

// sameRule counts evictable tasks on nodes on which one rule keeps every task
// that its leaf does not keep.
type sameRule struct {
	rule  Rule
	tasks int
}

// ruleForAll returns the rule that keeps every evictable task of a node whose
// leaf no rule keeps, or 0 if its digest does not tell. It also reports whether
// the node lacks so much that with none of them gone it is not the closest.
func (s *survey) ruleForAll(r *Refusal, n NodeID, usable bool) (rule Rule, far bool) {
	d, e := s.d, &s.d.eligible
	// With an application, an own leaf or a max that is short tasks differ by
	// more than the digest knows.
	if e.hasApp || e.who.OwnLeaf || d.needs.open() {
		return 0, false
	}
	free, least := d.c.row(d.c.coming, n), d.c.row(d.c.digest.least, n)
	helps := false
	for _, t := range d.types {
		lack := max(d.size[t]-free[t], 0)
		helps = helps || usable && lack > 0 && least[t] > 0
		far = far || r.HasClosest && lack >= s.asMuch[t] && s.asMuch[t] < noLimit
	}
	gauge := &d.c.digest.gauges[n]
	switch {
	// If the lowest task is too high in the leaf that ranks lowest, every task
	// is.
	case e.leastRank(gauge.minPriority) > e.ceiling:
		rule = RulePriority
	// If the smallest amounts are too large for every bound, so is every task.
	// They all help, and no rule before that one keeps any.
	case helps && e.evenRanks && e.leastLift+int64(gauge.maxPriority) <= e.ceiling && d.bounds.tooLarge(least):
		rule = RuleGuarantee
	}
	return rule, far
}

// addSame counts the tasks of which one rule keeps all whom their leaves do not:
// what leaves keep, and was not counted yet, is among them.
func (d refuser) addSame(r *Refusal, same *sameRule) {
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
			same.tasks -= n - r.Counts[rule]
			r.Counts[rule] = n
		}
	}
	r.Counts[same.rule] += same.tasks
}

// node surveys the lanes of a node, and takes what its candidates would free off
// what it is short of.
func (s *survey) node(r *Refusal, n NodeID, at *site) {
	d := s.d
	usable := d.usable(n)
	l := laneSurvey{
		digest: &d.c.digest.nodes[n],
		short:  at.mask,
		// Of a required node only the tasks on it make headroom.
		headroom: d.needs.open() && (usable || !d.required()),
	}
	for i := range l.digest.lanes {
		candidates := d.surveyLane(r, i, &l)
		r.Candidates += int(candidates)
		if candidates == 0 || !usable {
			continue
		}
		for t, v := range l.digest.size(i, d.c.types) {
			at.short[t] -= candidates * v
		}
	}
}

// laneSurvey is what the lanes of a node have in common.
type laneSurvey struct {
	digest   *nodeDigest
	short    resources.Mask // the types that the node is short of
	headroom bool           // tasks of the node may make headroom
}

// surveyLane counts the tasks of a lane, each at the first rule that keeps it,
// and returns how many are candidates.
func (d refuser) surveyLane(r *Refusal, i int, s *laneSurvey) (candidates int64) {
	e := &d.eligible
	l, size := &s.digest.lanes[i], s.digest.size(i, d.c.types)
	types := resources.Positive(size)
	for j := l.first; j < l.end; j++ {
		leaf := &e.leaves[s.digest.leaves[j]]
		helps := types & s.short
		if s.headroom {
			helps |= types & d.needs.masks[leaf.level]
		}
		switch {
		// The order of rules is that of Veto, and a test holds the two
		// together.
		case e.hasApp && d.c.tasks[s.digest.ids[j]].app == e.app:
			r.Counts[RuleApplication]++
		case leaf.veto != 0:
			r.Counts[leaf.veto]++
		case leaf.rank.Of(l.priority) > leaf.ceiling:
			r.Counts[RulePriority]++
		case helps == 0:
			r.Counts[RuleNotHelping]++
		case !resources.Fits(size, leaf.room):
			r.Counts[RuleGuarantee]++
		default:
			candidates++
		}
	}
	return candidates
}
