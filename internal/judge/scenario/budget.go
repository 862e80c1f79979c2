// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"math"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/resources"
)

// A Budget says how many of its tasks may still be stopped.
type Budget struct {
	At   *Path
	Name string
	Left int64 // below 0 counts as 0
	Hard bool
}

// budgets reads budgets by name, and sorts them: the order of an object's
// fields means nothing.
func (d *decoder) budgets(v value) []Budget {
	if !d.want(v, object) {
		return nil
	}
	var all []Budget
	for _, f := range v.items {
		if f.at.name == "" {
			d.fail(f, "%w: a name must not be empty", ErrValue)
		}
		d.known.budgets[f.at.name] = true
		o := d.object(f, "left", "hard")
		all = append(all, Budget{
			At:   f.at,
			Name: f.at.name,
			Left: required(o, "left", d.whole(math.MinInt64, math.MaxInt64)),
			Hard: optional(o, "hard", d.boolean, false),
		})
	}
	slices.SortFunc(all, func(x, y Budget) int { return strings.Compare(x.Name, y.Name) })
	return all
}

// budgetRefs reads the names of budgets, each of them once.
func (d *decoder) budgetRefs(v value) []string {
	name := d.unique(make(seen))
	return each(d, func(v value) string {
		if name(v); v.text != "" && !d.known.budgets[v.text] {
			d.refer(v, d.known.doubt.budgets, "no budget of this name")
		}
		return v.text
	})(v)
}

// ports reads names of ports, each of them once.
func (d *decoder) ports(v value) []string { return each(d, d.unique(make(seen)))(v) }

// A Pending is what else waits in a leaf. It is demand for fair shares and
// nothing more.
type Pending struct {
	At        *Path
	Queue     string
	Resources resources.Vector
}

// pending reads what waits per leaf, and sorts it by the names of the leaves.
func (d *decoder) pending(v value) []Pending {
	if !d.want(v, object) {
		return nil
	}
	var all []Pending
	for _, f := range v.items {
		all = append(all, Pending{At: f.at, Queue: d.leafRef(nameOf(f)), Resources: d.vector(f)})
	}
	slices.SortFunc(all, func(x, y Pending) int { return strings.Compare(x.Queue, y.Queue) })
	return all
}
