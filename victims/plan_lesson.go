package victims

import (
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// A search on a node costs much more than a bound. Before it, weights of the types are
// sought that show that it would be in vain. Nodes are alike, and so those weights are
// tried on the nodes that come after it.

// mostLessons is how many mixtures are tried on a node. It was measured once: with
// 4 or 16 of them as many nodes are searched.
const mostLessons = 2

// lessonRounds is how often weights are changed until they tell, or are given up.
const lessonRounds = 12

// lessons are the mixtures that have told.
type lessons struct {
	n, next int
	rows    [mostLessons]mixture
	draft   mixture
	tried   attempts // of lessons on nodes
	sought  attempts // of others on a node itself
	sets    attempts // of looks at sets of a few tasks
}

func (l *lessons) reset() {
	l.n, l.next, l.tried, l.sought, l.sets = 0, 0, attempts{}, attempts{}, attempts{}
}

// attempts counts how often weights were sought with success, and how often in vain.
type attempts struct{ told, missed int }

// mostInVain is by how many more attempts may be in vain before they are given up: a
// search costs more than they do, but not more than all of them.
const mostInVain = 16

// vain reports whether attempts are given up.
func (a *attempts) vain() bool { return a.missed > a.told+mostInVain }

// note counts an attempt.
func (a *attempts) note(told bool) {
	if told {
		a.told++
	} else {
		a.missed++
	}
}

// keep keeps the draft, in place of the oldest if there are many.
func (l *lessons) keep() {
	l.rows[l.next], l.draft = l.draft, l.rows[l.next]
	l.next = (l.next + 1) % mostLessons
	l.n = min(l.n+1, mostLessons)
}

// refuted reports whether some lesson shows that a node has no plan of lesser
// levels than the best.
func (d bounder) refuted(p *prospect) bool {
	l := &d.problem.lessons
	in, ok := d.cheapLanes(p)
	if !ok || l.n == 0 || l.tried.vain() {
		return false
	}
	lacks, told := d.scratch.short, false
	d.nodeNeed(lacks, p.node)
	if own := (priceBounder{d}); own.ownFirst(p) {
		told = own.lessonPrices(in, lacks)
	} else {
		told = d.lessonTells(p, in, lacks)
	}
	l.tried.note(told)
	return told
}

// lessonTells is refuted for the lanes of a node.
func (d bounder) lessonTells(p *prospect, in laneSet, lacks resources.Vector) bool {
	for k := range d.problem.lessons.n {
		mix := &d.problem.lessons.rows[k]
		d.trial.pay(int64(len(in.lanes) * len(mix.rows)))
		most := d.best.total.Levels[LevelVictims]
		if count, _ := d.fewestOfAll(mix, in, lackOfAll{lacks, most}); d.tooMany(p, count) {
			return true
		}
	}
	return false
}

// cheapLanes returns the lanes of which a plan of lesser levels has its victims.
// It reports false if lesser levels need not be own costs or those after them.
func (d bounder) cheapLanes(p *prospect) (in laneSet, ok bool) {
	best := &d.best.total.Levels
	if !d.best.found || len(d.types) < 2 || slices.Compare(p.levels[:LevelVictims], best[:LevelVictims]) < 0 && !(priceBounder{d}).ownFirst(p) {
		return in, false
	}
	in = laneSet{p.node, d.digestOf(p.node).lanes}
	if best[LevelOptedOut] == 0 && best[LevelOriginators] == 0 {
		n := slices.IndexFunc(in.lanes, func(l lane) bool { return l.flags != 0 || int64(l.priority) > best[LevelPriority] })
		if n >= 0 {
			in.lanes = in.lanes[:n]
		}
	}
	return in, true
}

// tooMany reports whether so many victims on a node are no less than the best
// plan has.
func (d bounder) tooMany(p *prospect, count int64) bool {
	levels, gauge := p.levels, &d.c.digest.gauges[p.node]
	levels[LevelVictims] = count
	levels[LevelSumRanks] = count * d.eligible.leastRank(gauge.minPriority)
	levels[LevelSumPriorities] = count * int64(gauge.minPriority)
	return slices.Compare(levels[:], d.best.total.Levels[:]) >= 0
}

// learn looks for weights that show that a node has no plan of lesser levels than the
// best, and reports whether it has found some. It raises the weights of types of which
// the tasks that have most of all have too little.
func (d bounder) learn(p *prospect) (told bool) {
	l := &d.problem.lessons
	in, ok := d.cheapLanes(p)
	if !ok || l.sought.vain() {
		return false
	}
	lacks := d.scratch.short
	d.nodeNeed(lacks, p.node)
	if own := (priceBounder{d}); own.ownFirst(p) {
		told = own.seekPrices(in, lacks)
		l.sought.note(told)
		return told
	}
	most, ok := d.mostOfLesser(p)
	if !ok {
		return false
	}
	told = d.seek(in, lackOfAll{lacks, most})
	l.sought.note(told)
	return told
}

// mostOfLesser returns how many victims a plan of lesser levels than the best has at most.
// It reports false if that tells of no number, or if a node that lacks anything needs more.
func (d bounder) mostOfLesser(p *prospect) (most int64, ok bool) {
	// Whoever has as many victims as the best may still be less in sums.
	if most = d.best.total.Levels[LevelVictims] - 1; !d.tooMany(p, most+1) {
		most++
	}
	return most, most > 0 && d.tooMany(p, most+1)
}

// seek looks for weights that show that as many tasks of some lanes as are of interest
// do not give what is lacking.
func (d bounder) seek(in laneSet, lacks lackOfAll) bool {
	draft := &d.problem.lessons.draft
	draft.reset(d.decision)
	for range lessonRounds {
		d.trial.pay(int64(2 * len(in.lanes) * len(draft.rows)))
		rest, reach := d.weigh(draft, in, lacks)
		if reach < rest {
			d.problem.lessons.keep()
			return true
		}
		left := lacks.most
		given := rows.Zeros(d.scratch.sum, d.c.types)
		for _, s := range d.largestShares(in, lacks.most) {
			take := min(s.tasks, left)
			left -= take
			rest -= take * s.share
			draft.cut = s.share
			d.give(given, laneOf{in.node, s.lane, take}, lacks.amounts)
		}
		if d.scratch.sum = given; rest > 0 {
			d.problem.lessons.keep()
			return true
		}
		draft.turn(given)
	}
	return false
}

// laneOf is a number of tasks of a lane.
type laneOf struct {
	node  NodeID
	lane  int32
	tasks int64
}

// give adds what tasks of a lane have to a sum, each no more than is lacking.
func (d bounder) give(sum resources.Vector, of laneOf, lacks resources.Vector) {
	for t, v := range d.digestOf(of.node).size(int(of.lane), d.c.types) {
		sum[t] += of.tasks * min(v, lacks[t])
	}
}

// heaviest is the most that what an ask wants of a type weighs, so that sums of all
// types and many tasks stay in range.
const heaviest = 1 << 44

// turn raises the weights of types that were given too little, and lowers the
// others, by up to twice the part that is missing or too much.
func (m *mixture) turn(given resources.Vector) {
	for i := range m.rows {
		r := &m.rows[i]
		if lack := r.open >> r.shift; lack > 0 {
			missing := max(lack-given[r.typ]>>r.shift, -lack/4)
			w := r.weight + 2*r.weight*missing/lack
			r.weight = min(max(w, 1), heaviest/r.whole)
		}
	}
}
