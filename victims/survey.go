package victims

import "github.com/go-preempt/preempt/resources"

// surveyLanes is countRules and findClosest in one pass over the digests, for
// callers who exempt nobody. It reads no row of a task but where the ask's
// application has tasks.
func (d *decision) surveyLanes(r *Refusal) {
	for _, n := range d.c.order {
		d.c.refresh(n)
		digest := &d.c.digest.nodes[n]
		r.Counts[RuleLeaving] += int(digest.leaving)
		r.Counts[RuleRequiredNode] += int(digest.required)
		usable := d.usable(n)
		s := laneSurvey{
			digest: digest,
			short:  d.shortOf(n),
			// Of a required node only the tasks on it make headroom.
			headroom: d.needs.open() && (usable || !d.required()),
		}
		for i := range digest.lanes {
			candidates := d.surveyLane(r, i, &s)
			r.Candidates += int(candidates)
			if candidates == 0 || !usable {
				continue
			}
			for t, v := range digest.size(i, d.c.types) {
				d.nodeShort[t] -= candidates * v
			}
		}
		if usable {
			d.closer(r, n)
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
	if types&s.short != 0 && !d.hasApp && d.evenRanks && d.leastLift+int64(l.priority) <= ceiling && d.tooLarge(size) {
		// The common case of a refusal: the leaf alone decides.
		for _, w := range s.digest.leaves[l.first:l.end] {
			if veto := d.leaves[w].veto; veto != 0 {
				r.Counts[veto]++
			} else {
				r.Counts[RuleGuarantee]++
			}
		}
		return 0
	}
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
