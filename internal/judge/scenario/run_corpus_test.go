// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every good document comes out as it expects.
func TestRun_GoodDocuments(t *testing.T) {
	docs := some(t, "scenarios")
	for _, file := range slices.Sorted(maps.Keys(docs)) {
		doc, err := Parse(file, docs[file])
		require.NoError(t, err)
		run, err := doc.Run()
		require.NoError(t, err)
		for _, d := range run.Check() {
			t.Errorf("%s: %v", file, d)
		}
	}
}

// A run changes nothing of the document, so that a second one is the same.
func TestRun_Twice(t *testing.T) {
	docs := some(t, "scenarios")
	for _, file := range slices.Sorted(maps.Keys(docs)) {
		doc, err := Parse(file, docs[file])
		require.NoError(t, err)
		var texts [2]bytes.Buffer
		for i := range texts {
			run, err := doc.Run()
			require.NoError(t, err)
			require.NoError(t, run.Report().Write(&texts[i]))
		}
		require.Equal(t, texts[0].String(), texts[1].String(), file)
		again, err := Parse(file, docs[file])
		require.NoError(t, err)
		require.True(t, reflect.DeepEqual(again, doc), "%s: changed by running", file)
	}
}

// runTimeMistakes are where bad documents that Parse accepts are found out.
var runTimeMistakes = map[string]found{
	"hb-enforce-max-at-guarantee-with-delay.json":    {"requests[0].enforceQuota.max", "cpu=5"},
	"hb-enforce-max-below-guarantee-with-delay.json": {"requests[0].enforceQuota.max", "cpu=4"},
	"hb-sum-over-63-bits.json":                       {"tasks[1].resources", "memory=1"},
	"ib-guaranteed-above-max.json":                   {"queues.queues[0].resources.guaranteed", `"root.a"`},
	"own-leaf-strict.json":                           {"queues.queues[0].properties", `"root.a"`},
	"ib-strict-child-max-above.json":                 {"queues.resources", `"root"`},
	"ib-strict-overcommitted-guarantees.json":        {"queues.resources", `"root"`},
	"ib-finish-unknown-task.json":                    {"requests[1].finish[0]", `"t9"`},
	"ib-finish-twice.json":                           {"requests[1].finish[0]", `"t1"`},
	"tb-minimum-beyond-int32.json":                   {annotation("minimum-preemptable-priority"), `"3000000000"`},
	"tb-minimum-empty.json":                          {annotation("minimum-preemptable-priority"), `""`},
	"tb-minimum-not-a-number.json":                   {annotation("minimum-preemptable-priority"), `"a"`},
	"tb-seconds-exponent.json":                       {annotation("toleration-seconds"), `"1e3"`},
	"tb-seconds-fraction.json":                       {annotation("toleration-seconds"), `"1.5"`},
	"tb-unused-class-is-checked-too.json":            {annotation("minimum-preemptable-priority"), `"b"`},
	"jb-member-key-of-a-task.json":                   {"requests[0].job.members[0].key", `"t1"`},
	"jb-second-job-reuses-a-key.json":                {"requests[1].job.members[0].key", `"j-0"`},
	"ib-too-deep.json":                               {"queues.queues[1]" + strings.Repeat(".queues[0]", 63), clip(`"root` + below(64))},
}

// annotation returns the place of an annotation of the first class.
func annotation(name string) string {
	return `priorityClasses[0].annotations["preemption-toleration.scheduling.x-k8s.io/` + name + `"]`
}

// below joins the names d1, d2, … of n queues.
func below(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ".d%d", i+1)
	}
	return b.String()
}

func TestRun_BadDocuments(t *testing.T) {
	docs := corpus(t, "bad")
	for _, file := range needRunTime {
		doc, err := Parse(file, docs[file])
		require.NoError(t, err)
		run, err := doc.Run()
		require.Nil(t, run, file)
		e, ok := errors.AsType[*Error](err)
		require.True(t, ok, file)
		require.Equal(t, file, e.File)
		require.Contains(t, runTimeMistakes, file)
		require.Equal(t, runTimeMistakes[file], found{e.Path.String(), e.Value}, file)
	}
}
