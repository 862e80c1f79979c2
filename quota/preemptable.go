package quota

import "github.com/go-preempt/preempt/resources"

// Preemptable sets dst to what has to go for a usage of e to come within max:
// the negative entries of resources.SubOnlyExisting(max, e), as positive
// amounts. A type that max does not bound has none, however much is used. Only
// the max of now counts, not what it was before. It returns dst, whose
// storage is used as the functions of package resources do. The cost is linear
// in the types. (DESIGN.md, Quota: target.)
func Preemptable(dst resources.Vector, max resources.Limit, e resources.Vector) resources.Vector {
	return resources.Over(dst, e, max)
}
