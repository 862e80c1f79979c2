package oracle_test

import (
	"testing"
	"fmt"
	"sort"
	"time"
	"github.com/go-preempt/preempt/internal/oracle"
	"github.com/go-preempt/preempt/internal/world"
	"pgregory.net/rapid"
)

func TestMix(t *testing.T) {
	counts := map[string]int{}
	n := 0
	var worst time.Duration
	rapid.Check(t, func(t *rapid.T) {
		c := world.Cases(world.Small).Draw(t, "case")
		start := time.Now()
		r := oracle.Decide(c)
		worst = max(worst, time.Since(start))
		n++
		counts["outcome "+r.Outcome]++
		if r.Reason != "" { counts["reason "+r.Reason]++ }
		for k := range r.Counts { counts["rule "+k]++ }
		if !r.RetryAt.IsZero() && r.Reason == "no-victims" { counts["wake"]++ }
		if r.Outcome == "plan" {
			counts[fmt.Sprint("victims ", len(r.Victims))]++
			for _, v := range r.Victims {
				for _, x := range c.World.Tasks { if x.Key == v.Key && x.Node != r.Node { counts["plan with victims elsewhere"]++ } }
			}
			if r.Cost.OptedOut > 0 {counts["plan opted out"]++}
			if c.Ask.RequiredNode != "" {counts["plan required"]++}
			if oracle.Headrooms(c) {counts["plan headroom"]++}
		}
	})
	var keys []string
	for k := range counts { keys = append(keys, k) }
	sort.Strings(keys)
	for _, k := range keys { fmt.Printf("%-30s %6.2f%%\n", k, 100*float64(counts[k])/float64(n)) }
	fmt.Println(n, worst)
}
