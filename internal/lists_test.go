// SPDX-License-Identifier: Apache-2.0

package internal

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/choices"
	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/victims"
)

// ruleWords are the words of all rules, in their order.
func ruleWords() (words []string) {
	for r := rulebook.Rule(1); r < rulebook.NumRules; r++ {
		words = append(words, r.String())
	}
	return words
}

// relaxWords are the words of what can be relaxed, in their order.
func relaxWords() (words []string) {
	for _, x := range rulebook.Relaxations() {
		words = append(words, x.Word)
	}
	return words
}

// lists are those that people read and that name what a table of internal/rulebook has. A list is
// what follows some words in a file, up to others; each word of it stands in the mark.
var lists = []struct {
	file, from, to, mark string
	words                []string
}{
	{"victims/decision.go", "// A Count says", "type Count struct", "//   - %:", ruleWords()},
	{"victims/decision.go", "// A Refusal says", "type Refusal struct", "//   - %:", rulebook.Reasons()},
	{"DESIGN.md", "In the order in which they are tried, the rules are", "* What came of", "`%`", relaxWords()},
	{"examples/plan/README.md", "Reasons of asks are", "## What a policy changes", "`%`", nil},
}

// TestLists: each list that people read has every word of its table, and in its order if it is a list
// of nothing else.
func TestLists(t *testing.T) {
	for _, l := range lists {
		_, text, found := strings.Cut(readPage(t, l.file), l.from)
		require.True(t, found, "%s has no %q", l.file, l.from)
		text, _, found = strings.Cut(text, l.to)
		require.True(t, found, "%s has no %q after %q", l.file, l.to, l.from)
		if l.words == nil {
			for _, word := range append(ruleWords(), rulebook.Reasons()...) {
				require.Contains(t, text, "`"+word+"`", "%s, after %q", l.file, l.from)
			}
			continue
		}
		mark := regexp.MustCompile(strings.Replace(regexp.QuoteMeta(l.mark), "%", "([a-z-]+)", 1))
		var got []string
		for _, m := range mark.FindAllStringSubmatch(text, -1) {
			got = append(got, m[1])
		}
		require.Equal(t, l.words, got, "%s, after %q: edit that list, or the table in internal/rulebook", l.file, l.from)
	}
}

// TestLists_Choices: the document that shows every option shows each switch and number.
func TestLists_Choices(t *testing.T) {
	page := readPage(t, "examples/plan/README.md")
	for _, r := range choices.Rows() {
		require.Contains(t, page, `"`+r.Name+`": `, "examples/plan/README.md, options")
	}
}

// TestLists_Caps: each cap is an option that planners, documents and random worlds have, and that a document and
// DESIGN.md show.
func TestLists_Caps(t *testing.T) {
	var documents strings.Builder
	files, err := filepath.Glob("judge/scenario/testdata/scenarios/*.json")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		documents.Write(text)
	}
	for c := range rulebook.NumCaps {
		var o victims.Options
		e, field := c.Entry(), reflect.ValueOf(&o).Elem().FieldByName(c.Entry().Option)
		require.True(t, field.IsValid(), "victims/planner.go: Options have no %s", e.Option)
		require.Equal(t, field.Addr().Interface(), lent.To(&o).Caps()[c], "victims/planner.go, caps: %s", e.Option)
		_, found := reflect.TypeFor[choices.Choices]().FieldByName(e.Option)
		require.True(t, found, "internal/choices/choices.go has no %s", e.Option)
		require.True(t, slices.ContainsFunc(world.Table, func(f world.Feature) bool {
			var x world.Case
			most := reflect.ValueOf(&x.Options).Elem().FieldByName(e.Option)
			if most.SetInt(1); f.Spoil != nil {
				f.Spoil(&x)
			}
			return most.IsZero()
		}), "internal/judge/world/feature.go: no row takes %s out", e.Option)
		require.Contains(t, documents.String(), `"reason": "`+e.Word+`"`, "no document of internal/judge/scenario is refused for it")
		require.Contains(t, readPage(t, "DESIGN.md"), "`"+e.Option+"`", "DESIGN.md, Budgets")
	}
}

// TestLists_Laws: what auditors call a rule is a law of the law-book.
func TestLists_Laws(t *testing.T) {
	for r := rulebook.Rule(1); r < rulebook.NumRules; r++ {
		if law := r.Entry().Law; law != "" {
			require.True(t, finding.Known(law), "internal/rulebook/rule.go, %v: internal/finding/laws.go has no law %q", r, law)
		}
	}
}

// TestGolden: files with the ending golden are written anew in one way, the flag of package golden, nested modules
// included.
func TestGolden(t *testing.T) {
	dirs := make(map[string]bool)
	require.NoError(t, filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(file, ".golden") {
			dirs[filepath.Dir(filepath.Dir(file))] = true // of testdata
		}
		return err
	}))
	require.NotEmpty(t, dirs)
	for dir := range dirs {
		tests, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		require.NoError(t, err)
		require.True(t, slices.ContainsFunc(tests, func(file string) bool {
			text, err := os.ReadFile(file)
			return err == nil && strings.Contains(string(text), `/internal/judge/golden"`)
		}), "%s has golden files, and no test of it imports internal/judge/golden, which has -update", dir)
	}
}
