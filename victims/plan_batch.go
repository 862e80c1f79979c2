package victims

import (
	"fmt"
	"slices"
	"time"
)

// Batch decides asks in order, each as if those before it had been granted
// what was decided for them: their victims are leaving, and their places are
// taken. The decisions are the same as those of single calls with an Apply
// after each. The cluster is left as it was, version included.
//
// An ask whose key an earlier one has been granted is in flight, and refused.
//
// The plans can be applied as a whole by [Cluster.ApplyBatch], or one after another
// in their order, as long as nothing else changes the cluster: then each of them
// finds the cluster as it was when it was decided. If the batch was decided on a
// clone, they can be applied to its original in the same way: so a planner batches that
// must not change a cluster which others read.
//
// It sets dst to one decision per ask, reusing its memory. An error about an
// ask leaves no decision.
func (p *Planner) Batch(dst []Decision, asks []Ask, now time.Time) (_ []Decision, err error) {
	c := p.Cluster
	applied := 0
	defer func() {
		for ; applied > 0; applied-- {
			must(c.Undo())
		}
	}()
	dst = slices.Grow(dst[:0], len(asks))[:len(asks)]
	for i := range asks {
		if err := p.Decide(&dst[i], &asks[i], now); err != nil {
			return dst[:0], fmt.Errorf("%w (ask %d of %d)", err, i+1, len(asks))
		}
		if _, held := c.LookupGrant(asks[i].Key); held || dst[i].Outcome == Refused {
			continue // what fits by its own grant holds its place already
		}
		if err := c.Apply(&dst[i].Plan); err != nil {
			return dst[:0], fmt.Errorf("%w (ask %d of %d)", err, i+1, len(asks))
		}
		ch := dst[i].Plan.change(&c.single)
		dst[i].Plan.Sequel = Sequel{c.version, c.version.line.sealOf(&ch)}
		c.single[0] = Grant{}
		applied++
	}
	return dst, nil
}
