// SPDX-License-Identifier: Apache-2.0

package search

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-preempt/preempt/internal/cost"
)

// What was found out beside one best plan says nothing beside another.
func TestMemoHolds(t *testing.T) {
	best := Best{Found: true}
	best.Total.Levels[cost.NumLevels-1] = 5
	s := Search{Best: &best}
	var m memo
	assert.False(t, m.holds(&s, glance), "nothing is known")
	m.begin(&s, glance)
	assert.True(t, m.holds(&s, glance))

	cheaper := best
	cheaper.Total.Levels[cost.NumLevels-1] = 4
	better := s
	better.Best = &cheaper
	assert.False(t, m.holds(&better, glance), "a better plan")
	lesser := s
	lesser.Lesser = !s.Lesser
	assert.False(t, m.holds(&lesser, glance), "ties count now, or no more")
	none := s
	none.Best = &Best{}
	assert.False(t, m.holds(&none, glance), "no plan")
	m.begin(&none, glance)
	assert.True(t, m.holds(&none, glance))
	none.Best.Total.Levels[0] = 1
	assert.True(t, m.holds(&none, glance), "levels of no plan do not matter")
}
