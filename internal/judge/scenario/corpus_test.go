// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/resources"
)

// some returns the documents of a folder by name, under -short every fifth.
func some(t testing.TB, folder string) map[string][]byte {
	t.Helper()
	docs := corpus(t, folder)
	few := make(map[string][]byte)
	for _, file := range law.Some(slices.Sorted(maps.Keys(docs))) {
		few[file] = docs[file]
	}
	return few
}

// corpus returns the documents of a folder by name.
func corpus(t testing.TB, folder string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	docs := make(map[string][]byte, len(files))
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		docs[filepath.Base(f)] = data
	}
	return docs
}

// Every good document is accepted and says, written down again, all that it
// said before: nothing is lost, nothing takes another's place.
func TestParse_GoodDocuments(t *testing.T) {
	docs := some(t, "scenarios")
	// Sets of victims are sorted where they are read.
	docs["everything"] = []byte(strings.Replace(everything, `["t2", "t1"]`, `["t1", "t2"]`, 1))
	for file, data := range docs {
		doc, err := Parse(file, data)
		if err != nil {
			t.Error(err)
			continue
		}
		var want any
		require.NoError(t, json.Unmarshal(data, &want))
		written, err := json.Marshal(write(doc))
		require.NoError(t, err)
		var got any
		require.NoError(t, json.Unmarshal(written, &got))
		if missing := lost("", want, got); len(missing) > 0 {
			t.Errorf("%s: lost %s", file, strings.Join(missing, ", "))
		}
		again, err := Parse(file, written)
		require.NoError(t, err, "written again")
		// Not cmp.Diff, which takes exponential time on deep trees.
		if !reflect.DeepEqual(doc, again) {
			t.Errorf("%s: read, written and read again it is another document:\n%s", file, written)
		}
	}
}

// lost returns where got does not say what want says. It may say more, for
// defaults are written out.
func lost(path string, want, got any) []string {
	var all []string
	switch want := want.(type) {
	case map[string]any:
		got, _ := got.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(want)) {
			all = append(all, lost(path+"."+name, want[name], got[name])...)
		}
		return all
	case []any:
		got, _ := got.([]any)
		if len(got) != len(want) {
			return []string{path}
		}
		for i := range want {
			all = append(all, lost(path+"[]", want[i], got[i])...)
		}
		return all
	}
	if !same(path, want, got) {
		return []string{path}
	}
	return nil
}

// same reports whether two scalars of a document mean the same.
func same(path string, want, got any) bool {
	x, isText := want.(string)
	y, _ := got.(string)
	if want == got || !isText {
		return want == got
	}
	if a, err := time.Parse(time.RFC3339, x); err == nil {
		b, err := time.Parse(time.RFC3339, y)
		return err == nil && a.Equal(b)
	}
	if a, err := time.ParseDuration(x); err == nil {
		b, err := time.ParseDuration(y)
		return err == nil && a == b
	}
	typeName := path[strings.LastIndex(path, ".")+1:]
	a, err := resources.ParseQuantity(typeName, x)
	if err != nil {
		return false
	}
	b, err := resources.ParseQuantity(typeName, y)
	return err == nil && a == b
}

// found is what a bad document is rejected for.
type found struct{ path, value string }

// badDocuments are those whose mistake is in the document itself.
var badDocuments = map[string]found{
	"own-leaf-any.json":                        {"options.ownLeaf", `"any"`},
	"hb-enforce-miss-bad-quantity.json":        {"requests[0].enforceQuota.miss.cpu", `"some"`},
	"hb-enforce-negative-max.json":             {"requests[0].enforceQuota.max.cpu", `"-8"`},
	"hb-enforce-unknown-field.json":            {"requests[0].enforceQuota.maximum", `{"cpu":"8"}`},
	"hb-enforce-unknown-order.json":            {"requests[0].enforceQuota.order", `"random"`},
	"hb-enforce-unknown-queue.json":            {"requests[0].enforceQuota.queue", `"root.nowhere"`},
	"hb-quantity-8ei.json":                     {"tasks[0].resources.memory", `"8Ei"`},
	"hb-quantity-cpu-overflows-in-millis.json": {"tasks[0].resources.cpu", `"9223372036854776"`},
	"hb-quantity-half-a-device.json":           {"tasks[0].resources.gpu", `"500m"`},
	"hb-quantity-negative.json":                {"tasks[0].resources.cpu", `"-4"`},
	"hb-quantity-number.json":                  {"tasks[0].resources.cpu", `4`},
	"hb-quantity-two-dots.json":                {"tasks[0].resources.cpu", `"1.5.0"`},
	"hb-quantity-unknown-suffix.json":          {"tasks[0].resources.memory", `"4Q"`},
	"hb-quantity-word.json":                    {"tasks[0].resources.cpu", `"many"`},
	"hb-quantity-wrong-case-suffix.json":       {"tasks[0].resources.memory", `"4ki"`},
	"ib-65-types.json":                         {"nodes[0].capacity.type63", `"1"`},
	"ib-bad-now.json":                          {"now", `"yesterday"`},
	"ib-bad-scheduled-age.json":                {"tasks[0].scheduledAge", `"soon"`},
	"ib-dot-in-queue-name.json":                {"queues.queues[1].name", `"b.c"`},
	"ib-duplicate-node.json":                   {"nodes[1].name", `"n1"`},
	"ib-duplicate-queue.json":                  {"queues.queues[1].name", `"a"`},
	"ib-duplicate-task.json":                   {"tasks[1].key", `"t1"`},
	"ib-duplicate-type-in-resources.json":      {"tasks[0].resources.cpu", `"5"`},
	"ib-duplicate-type.json":                   {"types[2]", `"cpu"`},
	"ib-nodes-no-list.json":                    {"nodes", `{}`},
	"ib-originator-not-a-boolean.json":         {"tasks[0].originator", `"yes"`},
	"ib-priority-huge.json":                    {"tasks[0].priority", `99999999999999999999`},
	"ib-request-of-no-kind.json":               {"requests[0]", `{"then":"finish"}`},
	"kb-age-negative.json":                     {"requests[0].job.age", `"-1s"`},
	"kb-age-never.json":                        {"requests[0].job.age", `"never"`},
	"kb-age-of-a-member.json":                  {"requests[0].job.members[0].age", `"1h"`},
	"kb-age-without-unit.json":                 {"requests[0].job.age", `"30"`},
	"kb-trigger-in-capitals.json":              {"options.jobTrigger", `"Guarantee"`},
	"kb-trigger-no-string.json":                {"options.jobTrigger", `true`},
	"kb-trigger-of-a-job.json":                 {"requests[0].job.trigger", `"priority"`},
	"kb-unknown-trigger.json":                  {"options.jobTrigger", `"fairness"`},
	"ib-start-on-a-parent.json":                {"requests[0].start[0].queue", `"root.p"`},
	"ib-task-in-unknown-queue.json":            {"tasks[0].queue", `"root.p.z"`},
	"ib-task-on-a-parent.json":                 {"tasks[0].queue", `"root.p"`},
	"ib-task-outside-the-tree.json":            {"tasks[0].queue", `"other.a"`},
	"ib-unknown-field-in-resources.json":       {"queues.queues[0].resources.limit", `{"cpu":"5"}`},
	"ib-unknown-field-in-task.json":            {"tasks[0].prio", `5`},
	"ib-unknown-option.json":                   {"options.tolerations", `true`},
	"ib-unknown-request.json":                  {"requests[0].shrink", `{"queue":"root.a"}`},
	"ib-unknown-state.json":                    {"tasks[0].state", `"zombie"`},
	"ib-wrong-case-field.json":                 {"Tasks", `[]`},
	"jb-job-unknown-field.json":                {"requests[0].job.size", `4`},
	"jb-job-unknown-queue.json":                {"requests[0].job.queue", `"root.z"`},
	"jb-member-bad-quantity.json":              {"requests[0].job.members[0].resources.cpu", `"1 core"`},
	"jb-member-twice.json":                     {"requests[0].job.members[1].key", `"j-0"`},
	"jb-min-members-above-members.json":        {"requests[0].job.minMembers", `3`},
	"jb-min-members-negative.json":             {"requests[0].job.minMembers", `-1`},
	"jb-preemptible-not-a-boolean.json":        {"requests[0].job.preemptible", `"false"`},
	"jb-quota-bad-waiting.json":                {"quotas[0].waitingNonPreemptible.cpu", `"1,5"`},
	"jb-quota-unknown-field.json":              {"quotas[0].minimum", `{"cpu":"1"}`},
	"jb-quota-unknown-queue.json":              {"quotas[0].queue", `"root.z"`},
	"tb-class-unknown-field.json":              {"priorityClasses[0].globalDefault", `true`},
	"tb-class-value-beyond-int32.json":         {"priorityClasses[0].value", `3000000000`},
	"tb-duplicate-annotation.json":             {`priorityClasses[0].annotations["preemption-toleration.scheduling.x-k8s.io/toleration-seconds"]`, `"600"`},
	"tb-duplicate-class.json":                  {"priorityClasses[1].name", `"hold"`},
	"tb-unknown-class.json":                    {"tasks[0].priorityClass", `"gold"`},

	"bb-budget-twice-in-a-task.json":       {"tasks[0].budgets[1]", `"web"`},
	"bb-budget-unknown-field.json":         {"budgets.web.max", "2"},
	"bb-left-not-an-integer.json":          {"budgets.web.left", "1.5"},
	"bb-task-in-unknown-budget.json":       {"tasks[0].budgets[0]", `"wob"`},
	"cb-checkpoint-age-negative.json":      {"tasks[0].checkpointAge", `"-10m"`},
	"cb-cost-negative.json":                {"tasks[0].cost", "-1"},
	"cb-rank-not-a-number.json":            {"nodes[0].rank", `"first"`},
	"db-domain-negative.json":              {"requests[0].job.domain", "-1"},
	"db-domains-no-list.json":              {"nodes[0].domains", `"r1"`},
	"fb-label-not-a-string.json":           {"nodes[0].labels.zone", "1"},
	"fb-labels-a-list.json":                {"nodes[0].labels", `["zone=a"]`},
	"fb-selector-not-a-string.json":        {"requests[0].ask.nodeSelector.zone", "true"},
	"jb-cost-negative.json":                {"tasks[0].cost", "-1"},
	"jb-selector-value-no-string.json":     {"requests[0].job.members[0].nodeSelector.zone", "1"},
	"pb-port-a-number.json":                {"tasks[0].ports[0]", "80"},
	"pb-port-empty.json":                   {"tasks[0].ports[1]", `""`},
	"pb-port-twice.json":                   {"requests[0].ask.ports[1]", `"8080"`},
	"qb-budget-hard-no-boolean.json":       {"budgets.web.hard", `"yes"`},
	"qb-budget-unknown.json":               {"tasks[0].budgets[0]", `"web"`},
	"scarce-beside-fair-shares.json":       {"options.scarce", `["gpu"]`},
	"scarce-empty.json":                    {"options.scarce", `[]`},
	"scarce-unknown-type.json":             {"options.scarce[0]", `"gpus"`},
	"sb-pending-for-an-inner-queue.json":   {`pending["root.p"]`, `"root.p"`},
	"sb-pending-for-an-unknown-queue.json": {`pending["root.c"]`, `"root.c"`},
}

// needRunTime are bad documents that are accepted here, since what is wrong
// with them is a rule of the library or shows only on the way.
var needRunTime = []string{
	// Guarantees against bounds, depth and sums: package queue and usage.
	"hb-enforce-max-at-guarantee-with-delay.json",
	"hb-enforce-max-below-guarantee-with-delay.json",
	"hb-sum-over-63-bits.json",
	"ib-guaranteed-above-max.json",
	"own-leaf-strict.json",
	"ib-strict-child-max-above.json",
	"ib-strict-overcommitted-guarantees.json",
	"ib-too-deep.json",
	// Which tasks are there.
	"ib-finish-twice.json",
	"ib-finish-unknown-task.json",
	"jb-member-key-of-a-task.json",
	"jb-second-job-reuses-a-key.json",
	// What annotations mean: package toleration.
	"tb-minimum-beyond-int32.json",
	"tb-minimum-empty.json",
	"tb-minimum-not-a-number.json",
	"tb-seconds-exponent.json",
	"tb-seconds-fraction.json",
	"tb-unused-class-is-checked-too.json",
}

// mistakesOf returns all that is told of a file.
func mistakesOf(t *testing.T, file string, err error) (all []found) {
	t.Helper()
	for _, err := range err.(interface{ Unwrap() []error }).Unwrap() {
		e, ok := errors.AsType[*Error](err)
		require.True(t, ok)
		require.Equal(t, file, e.File)
		all = append(all, found{e.Path.String(), e.Value})
	}
	return all
}

func TestParse_BadDocuments(t *testing.T) {
	docs := corpus(t, "bad")
	require.Equal(t, len(docs), len(badDocuments)+len(needRunTime))
	for _, file := range slices.Sorted(maps.Keys(badDocuments)) {
		t.Run(file, func(t *testing.T) {
			require.Contains(t, docs, file)
			doc, err := Parse(file, docs[file])
			require.Error(t, err)
			require.Nil(t, doc)
			require.Contains(t, mistakesOf(t, file, err), badDocuments[file])
		})
	}
	for _, file := range needRunTime {
		t.Run(file, func(t *testing.T) {
			require.Contains(t, docs, file)
			_, err := Parse(file, docs[file])
			require.NoError(t, err)
		})
	}
}
