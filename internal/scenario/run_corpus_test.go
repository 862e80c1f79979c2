package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// unsupported returns the first place at which a document asks for what is not
// supported yet, or "".
func unsupported(doc *Document) string {
	if doc.Options.Toleration {
		return "options.toleration"
	}
	for i, q := range doc.Requests {
		if q.Kind == KindEnforceQuota || q.Kind == KindJob {
			return at("requests", i, q.Kind.String()).String()
		}
	}
	return ""
}

// Every good document comes out as it expects. Those that ask for more than is
// supported are refused by name.
func TestRun_GoodDocuments(t *testing.T) {
	docs := corpus(t, "scenarios")
	ran := 0
	for _, file := range slices.Sorted(maps.Keys(docs)) {
		doc, err := Parse(file, docs[file])
		require.NoError(t, err)
		run, err := doc.Run()
		if place := unsupported(doc); place != "" {
			e, ok := errors.AsType[*Error](err)
			require.True(t, ok, file)
			require.ErrorIs(t, err, ErrUnsupported)
			require.Equal(t, place, e.Path.String(), file)
			require.Nil(t, run)
			continue
		}
		ran++
		require.NoError(t, err)
		for _, d := range run.Check() {
			t.Errorf("%s: %v", file, d)
		}
	}
	require.GreaterOrEqual(t, ran, 150)
}

// A run changes nothing of the document, so that a second one is the same.
func TestRun_Twice(t *testing.T) {
	docs := corpus(t, "scenarios")
	for _, file := range slices.Sorted(maps.Keys(docs)) {
		doc, err := Parse(file, docs[file])
		require.NoError(t, err)
		if unsupported(doc) != "" {
			continue
		}
		var texts [2]bytes.Buffer
		for i := range texts {
			run, err := doc.Run()
			require.NoError(t, err)
			require.NoError(t, run.Report().Write(&texts[i]))
		}
		require.Equal(t, texts[0].String(), texts[1].String(), file)
		again, err := Parse(file, docs[file])
		require.NoError(t, err)
		if diff := cmp.Diff(again, doc, byText); diff != "" {
			t.Errorf("%s: changed by running:\n%s", file, diff)
		}
	}
}

// runTimeMistakes are where bad documents that Parse accepts are found out.
var runTimeMistakes = map[string]found{
	"hb-sum-over-63-bits.json":                {"tasks[1].resources", "memory=1"},
	"ib-guaranteed-above-max.json":            {"queues.queues[0].resources.guaranteed", `"root.a"`},
	"ib-strict-child-max-above.json":          {"queues.resources", `"root"`},
	"ib-strict-overcommitted-guarantees.json": {"queues.resources", `"root"`},
	"ib-finish-twice.json":                    {"requests[1].finish[0]", `"t1"`},
	"ib-too-deep.json":                        {"queues.queues[1]" + strings.Repeat(".queues[0]", 63), clip(`"root` + below(64))},
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
		if want, ok := runTimeMistakes[file]; ok {
			require.Equal(t, want, found{e.Path.String(), e.Value}, file)
			require.NotErrorIs(t, err, ErrUnsupported, file)
			continue
		}
		require.ErrorIs(t, err, ErrUnsupported, file)
		require.Equal(t, unsupported(doc), e.Path.String(), file)
	}
}
