package victims_test

import (
	"slices"

	"github.com/go-preempt/preempt/internal/oracle"
	"github.com/go-preempt/preempt/internal/world"
)

// planned says which rules the planner knows, so that it is compared with the
// oracle rule by rule.
var planned = struct {
	GrantsInOrder bool // an ask that holds a grant is judged without those given there after it
}{}

// known reports whether the planner knows the rules that a case is about.
func known(c *world.Case) bool {
	held := slices.ContainsFunc(c.World.Grants, func(g world.Grant) bool { return g.Ask.Key == c.Ask.Key })
	return !held || planned.GrantsInOrder
}

// forget takes out of a result what the planner does not say.
func forget(r oracle.Result) oracle.Result {
	if !planned.GrantsInOrder {
		r.WaitsFor = nil
	}
	return r
}
