package victims

import (
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// surveyLanes is countRules and findClosest in one pass over the digests, for
// callers who exempt nobody. It reads no row of a task but where the ask's
// application has tasks, and no lane of nodes where one rule keeps all whom
// their leaves do not.
func (d *decision) surveyLanes(r *Refusal) {
	var same sameRule
	for _, n := range d.c.order {
		gauge := &d.c.digest.gauges[n]
		if !gauge.fresh {
			d.c.refresh(n)
		}
		r.Counts[RuleLeaving] += int(gauge.leaving)
		r.Counts[RuleRequiredNode] += int(gauge.required)
		usable := d.usable(n)
		rule, far := d.ruleForAll(r, n, usable)
		told := rule != 0 && (same.rule == 0 || same.rule == rule)
		if told {
			same.rule = rule
			same.tasks += int(gauge.evictable)
		}
		if told && (far || !usable) {
			continue
		}
		short := d.shortOf(n)
		if !told {
			d.surveyNode(r, n, short)
		}
		if usable {
			d.closer(r, n)
		}
	}
	if same.rule != 0 {
		d.addSame(r, &same)
	}
}

// sameRule is the evictable tasks of nodes where one rule keeps all whom their
// leaves do not.
type sameRule struct {
	rule  Rule
	tasks int
}

// ruleForAll returns the rule that keeps every evictable task of a node whose
// leaf no rule keeps, or 0 where its digest does not tell; and whether the node
// lacks so much that with none of them gone it is not the closest.
func (d *decision) ruleForAll(r *Refusal, n NodeID, usable bool) (rule Rule, far bool) {
	if d.hasApp || d.needs.open() {
		return 0, false
	}
	free, least := d.c.row(d.c.coming, n), d.c.row(d.c.digest.least, n)
	helps := false
	for _, t := range d.types {
		lack := max(d.size[t]-free[t], 0)
		helps = helps || usable && lack > 0 && least[t] > 0
		far = far || r.HasClosest && lack >= d.asMuch[t] && d.asMuch[t] < noLimit
	}
	gauge := &d.c.digest.gauges[n]
	switch {
	case d.leastRank(gauge.minPriority) > d.ceiling():
		rule = RulePriority
	case helps && d.evenRanks && d.leastLift+int64(gauge.maxPriority) <= d.ceiling() && d.tooLarge(least):
		rule = RuleGuarantee
	}
	return rule, far
}

// addSame counts the tasks of which one rule keeps all whom their leaves do not:
// what leaves keep, and was not counted yet, is among them.
func (d *decision) addSame(r *Refusal, same *sameRule) {
	var kept [NumRules]int
	for w := range d.tree.Leaves(queue.Root) {
		if veto := d.leaves[w].veto; veto != 0 {
			kept[veto] += int(d.c.evictable[w])
		}
	}
	for rule, n := range kept {
		if n > 0 {
			same.tasks -= n - r.Counts[rule]
			r.Counts[rule] = n
		}
	}
	r.Counts[same.rule] += same.tasks
}

// surveyNode surveys the lanes of a node, and takes what its candidates would
// free off d.nodeShort.
func (d *decision) surveyNode(r *Refusal, n NodeID, short resources.Mask) {
	usable := d.usable(n)
	s := laneSurvey{
		digest: &d.c.digest.nodes[n],
		short:  short,
		// Of a required node only the tasks on it make headroom.
		headroom: d.needs.open() && (usable || !d.required()),
	}
	for i := range s.digest.lanes {
		candidates := d.surveyLane(r, i, &s)
		r.Candidates += int(candidates)
		if candidates == 0 || !usable {
			continue
		}
		for t, v := range s.digest.size(i, d.c.types) {
			d.nodeShort[t] -= candidates * v
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
func (d *decision) surveyLane(r *Refusal, i int, s *laneSurvey) (candidates int64) {
	l, size := &s.digest.lanes[i], s.digest.size(i, d.c.types)
	types := resources.Positive(size)
	ceiling := d.ceiling()
	for j := l.first; j < l.end; j++ {
		leaf := &d.leaves[s.digest.leaves[j]]
		helps := types & s.short
		if s.headroom {
			helps |= types & d.needs.masks[leaf.level]
		}
		switch {
		case d.hasApp && d.c.tasks[s.digest.ids[j]].app == d.app:
			r.Counts[RuleApplication]++
		case leaf.veto != 0:
			r.Counts[leaf.veto]++
		case leaf.rank.Of(l.priority) > ceiling:
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
