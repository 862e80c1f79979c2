package oracle

import "github.com/go-preempt/preempt/internal/world"

func Headrooms(c *world.Case) bool {
	j := newJudge(&c.World, &c.Ask, &c.Options)
	for _, q := range j.path { if len(j.headroomNeed(q)) > 0 { return true } }
	return false
}
