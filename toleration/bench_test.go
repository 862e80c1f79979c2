// SPDX-License-Identifier: Apache-2.0

package toleration

import (
	"testing"
	"time"
)

// What a planner asks of every candidate, for each kind of answer.
func BenchmarkUntil(b *testing.B) {
	for _, bench := range []struct {
		name      string
		policy    Policy
		preemptor int32
		age       time.Duration
	}{
		{"policy=none", Policy{}, 8, time.Minute},
		{"policy=600s/preemptor=minimum", Policy{9, 600}, 9, time.Minute},
		{"policy=600s/age=1m", Policy{9, 600}, 8, time.Minute},
		{"policy=600s/age=1h", Policy{9, 600}, 8, time.Hour},
		{"policy=ever/age=1h", Policy{9, -1}, 8, time.Hour},
	} {
		b.Run(bench.name, func(b *testing.B) {
			now := placed.Add(bench.age)
			b.ReportAllocs()
			for b.Loop() {
				sinkBool = tolerates(bench.policy, placed, bench.preemptor, now)
			}
		})
	}
}

// The rejected design: the annotations are parsed for each candidate.
func BenchmarkParsePerCandidate(b *testing.B) {
	texts := map[string]string{AnnotationMinimum: "9", AnnotationSeconds: "600"}
	now := placed.Add(time.Minute)
	b.ReportAllocs()
	for b.Loop() {
		p, err := policyOf(5, texts)
		if err != nil {
			b.Fatal(err)
		}
		sinkBool = tolerates(p, placed, 8, now)
	}
}
