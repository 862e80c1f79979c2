// SPDX-License-Identifier: Apache-2.0

// Package aside keeps a planner's own copy of a cluster. Trials change the copy, so that others
// may read the cluster meanwhile, and a function of the caller that panics leaves nothing behind.
package aside

import "github.com/go-preempt/preempt/victims"

// A Copy is a copy of a cluster, with the same rows. Whoever changes it takes that back, or it is
// made again: it is known by its version. The zero Copy is ready to use.
type Copy struct{ cluster *victims.Cluster }

// Of returns the copy, which is made again only if it or the cluster has changed since. Once
// warm it allocates nothing. To make it again is linear in tasks, nodes and queues.
func (x *Copy) Of(c *victims.Cluster) *victims.Cluster {
	if x.cluster == nil {
		x.cluster = new(victims.Cluster)
	}
	if x.cluster.Version() != c.Version() {
		x.cluster.CopyFrom(c)
	}
	return x.cluster
}
