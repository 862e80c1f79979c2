// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/resources"
)

type vec = resources.Vector

func between(t *rapid.T, label string, least, most int) int {
	return rapid.IntRange(least, most).Draw(t, label)
}

func seedDraws(f *testing.F) {
	for i := range byte(4) {
		seed := make([]byte, 1<<15)
		rand.NewChaCha8([32]byte{i}).Read(seed)
		f.Add(seed)
	}
}

// decided returns a plan as a decision.
func decided(p *Plan) *Decision { return &Decision{Outcome: Preempts, Plan: *p} }
