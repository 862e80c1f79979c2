// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"maps"

	"pgregory.net/rapid"
)

// ApplyBatch decides some asks, on the cluster or on a clone of it, and applies what
// was decided: as one change, or plan by plan.
func (x *clusterMachine) ApplyBatch(t *rapid.T) {
	on := x.c
	if rapid.Bool().Draw(t, "on a clone") {
		on = x.c.Clone()
	}
	asks := make([]Ask, between(t, "asks", 1, 3))
	for i := range asks {
		asks[i] = x.drawAsk(t)
	}
	planner := &Planner{Cluster: on}
	ds, err := planner.Batch(nil, asks, leapDay)
	x.Check(t) // nothing has changed
	if err != nil {
		return // some ask is none
	}
	if rapid.Bool().Draw(t, "as one change") {
		before := x.point()
		if err := x.c.ApplyBatch(ds); err != nil {
			t.Fatalf("batch: %v", err)
		}
		if x.version = x.c.Version(); x.version != before.version {
			x.applied = append(x.applied, before)
		}
		for i := range ds {
			if x.gives(&ds[i]) {
				x.carryOut(&ds[i].Plan)
			}
		}
		return
	}
	for i := range ds {
		if !x.gives(&ds[i]) {
			continue
		}
		before := x.point()
		if err := x.c.Apply(ds[i].Plan.Change()); err != nil {
			t.Fatalf("plan %d of a batch: %v", i, err)
		}
		x.applied, x.version = append(x.applied, before), x.c.Version()
		x.carryOut(&ds[i].Plan)
		x.Check(t)
	}
}

// gives reports whether a decision of a batch gives its ask a place that it has not.
func (x *clusterMachine) gives(d *Decision) bool {
	return d.Outcome != Refused && x.noGrant(d.Plan.Ask.Key) != nil
}

func (x *clusterMachine) point() appliedPoint {
	return appliedPoint{x.m.clone(), x.c.Clone(), x.version, maps.Clone(x.tasks)}
}
