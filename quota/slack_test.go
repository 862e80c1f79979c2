// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
)

func TestSlack(t *testing.T) {
	tenth := resources.Share{Amount: 1, Of: 10}
	const huge = math.MaxInt64
	for _, test := range []struct {
		name          string
		slack         quota.Slack
		short, target resources.Vector
		want          bool
	}{
		{"nothing is short", quota.Slack{}, resources.Vector{0, 0}, resources.Vector{5, 5}, true},
		{"nothing may stay", quota.Slack{}, resources.Vector{1}, resources.Vector{5}, false},
		{"exactly the amount", quota.Slack{Amounts: resources.Vector{2}}, resources.Vector{2}, resources.Vector{5}, true},
		{"more than the amount", quota.Slack{Amounts: resources.Vector{2}}, resources.Vector{3}, resources.Vector{5}, false},
		{"a type without an amount", quota.Slack{Amounts: resources.Vector{2}}, resources.Vector{0, 1}, resources.Vector{5, 5}, false},
		{"exactly the share", quota.Slack{Share: tenth}, resources.Vector{2}, resources.Vector{20}, true},
		{"more than the share", quota.Slack{Share: tenth}, resources.Vector{2}, resources.Vector{19}, false},
		{"the larger counts: share", quota.Slack{Amounts: resources.Vector{1}, Share: tenth}, resources.Vector{2}, resources.Vector{20}, true},
		{"the larger counts: amount", quota.Slack{Amounts: resources.Vector{3}, Share: tenth}, resources.Vector{3}, resources.Vector{20}, true},
		{"huge", quota.Slack{Share: resources.Share{Amount: huge - 1, Of: huge}}, resources.Vector{huge - 1}, resources.Vector{huge}, true},
		{"huge, a unit more", quota.Slack{Share: resources.Share{Amount: huge - 2, Of: huge}}, resources.Vector{huge - 1}, resources.Vector{huge}, false},
		{"a negative amount counts as none", quota.Slack{Amounts: resources.Vector{-5}}, resources.Vector{0}, resources.Vector{5}, true},
		{"a share of nothing", quota.Slack{Share: resources.Share{Amount: 0, Of: 0}}, resources.Vector{1}, resources.Vector{5}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, test.slack.Allows(test.short, test.target))
		})
	}
}
