// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/victims"
)

// setBudgets tells the cluster what the disruption budgets have left.
//
// A budget's status counts pods that it was told are leaving. Victims whose deletion
// the snapshot does not show yet are not among them, perhaps: they are taken off,
// so that two plans do not spend the same disruption.
func (c *core) setBudgets() {
	k := c.lookup.known.Load()
	if len(k.names) == 0 {
		return
	}
	spent := c.unseenVictims()
	for _, name := range k.names {
		ns, n, _ := strings.Cut(name, "/")
		left := victims.Budget{Left: -spent[name], Hard: c.args.DisruptionBudgets == BudgetsHard}
		if o, err := c.lookup.budgets.PodDisruptionBudgets(ns).Get(n); err == nil { // else it was deleted just now
			left.Left += int64(o.Status.DisruptionsAllowed)
		}
		if have, ok := c.cluster.Budget(name); ok && have == left {
			continue
		}
		if err := c.cluster.SetBudget(name, left); err != nil {
			c.log.Error(err, "Disruption budget not mirrored", "budget", name)
		}
	}
}

// unseenVictims counts, by budget, the victims that are marked only.
func (c *core) unseenVictims() map[string]int64 {
	spent := map[string]int64{}
	for g := range c.cluster.Granted() {
		for _, key := range c.waitsFor(c.cluster.Key(g)) {
			if id, ok := c.cluster.Lookup(key); ok && c.cluster.State(id) == victims.Marked {
				for _, b := range c.cluster.TaskView(id).Budgets {
					spent[b]++
				}
			}
		}
	}
	return spent
}

// removeBudgets removes the budgets that are no more. No task names them now, but places of pods
// that move may: then they go another time.
func (c *core) removeBudgets() {
	k := c.lookup.known.Load()
	var gone []string
	for name := range c.cluster.Budgets() {
		if _, ok := slices.BinarySearch(k.names, name); !ok {
			gone = append(gone, name)
		}
	}
	for _, name := range gone {
		if err := c.cluster.RemoveBudget(name); err != nil && !errors.Is(err, victims.ErrState) {
			c.log.Error(err, "Disruption budget not removed", "budget", name)
		}
	}
}
