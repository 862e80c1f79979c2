// SPDX-License-Identifier: Apache-2.0

package preempt_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A pledge is what a page promises besides the guarantees of queues, and the tests that hold it:
// folder and name, as in "jobs TestMinimality".
type pledge struct {
	page, words string
	tests       []string
}

var pledges = []pledge{
	{"README.md", "Victims have lower or equal effective priority, are of another application, and inside fences.", []string{
		"victims TestLaw3_NeverSameApplication", "victims TestLaw6_NeverHigherPriority", "victims TestLaw7_NeverOutsideFence",
		"jobs TestLaw3_NeverSameApplication", "jobs TestLaw6_NeverHigherPriority", "jobs TestLaw7_NeverOutsideFence",
	}},
	{"README.md", "Hard budgets are never overrun.", []string{"victims TestPlansAreLawful", "jobs TestBudgets_Hard", "quota TestLaws"}},
	{"README.md", "A gang loses members it can spare (SetMinMembers), or stops whole.", []string{"victims TestPlansAreLawful", "jobs TestGangs_Whole", "quota TestLaws"}},
	{"README.md", "A plan needs each of its victims.", []string{"victims TestMinimality", "jobs TestMinimality", "quota TestLaws"}},
	{"README.md", "A gang gets all places or none.", []string{"jobs TestRoom_OnTheNodes", "jobs TestOracle"}},
	{"README.md", "(OptedOut). It stops only if every plan needs such a task.", []string{
		"victims TestLaw1_OptedOutOnlyAsLastResort", "jobs TestLaw1_OptedOutOnlyAsLastResort",
	}},
	{"README.md", "If Proof says so, no lawful plan costs less.", []string{"victims TestOracle", "jobs TestOracle", "quota TestOracle", "bench/worth TestPlay"}},
	{"README.md", "Without a proof more may stop that opted out.", []string{"victims TestLaw1_HoldsWhereTheBudgetEnds"}},
	{"README.md", "Recreated victims cannot preempt each other for ever: the number of plans is bounded.", []string{
		"victims TestStormFreedom", "jobs TestStormFreedom", "internal/judge/storm TestNoStorm",
	}},
	{"README.md", ", bit for bit.", []string{"jobs TestDeterministic", ". TestRestart_Histories", "examples/replay TestReplayIsDeterministic"}},
	{"README.md", "Ours break no promise, and exist wherever a rule has a lawful plan", []string{"bench/worth TestPlay"}},
	{"README.md", "Auditors that share no code with planners judge all plans.", []string{"internal TestJudgesStandAlone", "bench/worth TestPlay"}},
	{"README.md", "Packages have no goroutine, clock or I/O, and import the standard library alone.", []string{"internal TestPurity", "internal TestImports"}},

	{"docs/ten-minutes.md", "work of other queues never takes it below", []string{". TestPromise"}},
	{"docs/ten-minutes.md", "Decide changes nothing", []string{"victims TestInputUnchanged"}},
	{"docs/ten-minutes.md", "Apply fails if the cluster has changed.", []string{"victims TestClonePlan"}},
	{"docs/ten-minutes.md", "All members get a place, or nobody stops.", []string{"jobs TestRoom_OnTheNodes"}},
	{"docs/ten-minutes.md", "A hard one is never overrun.", []string{"victims TestPlansAreLawful", "jobs TestBudgets_Hard"}},
	{"docs/ten-minutes.md", "Only work since the last one is lost.", []string{"victims TestAuditorCost_ByHand", "victims TestOracle"}},
	{"docs/ten-minutes.md", "With NeverOvershoot no more goes than what is over.", []string{"quota TestLaws"}},
	{"docs/ten-minutes.md", "All members share Domains[0] of their nodes.", []string{"jobs TestDecide_Domains"}},

	{"doc.go", "no needless victim", []string{"victims TestMinimality", "jobs TestMinimality"}},
	{"doc.go", "least cost if the plan is proven", []string{"victims TestOracle", "jobs TestOracle"}},
	{"doc.go", "the same answer to the same calls, bit for bit", []string{"jobs TestDeterministic", ". TestRestart_Histories"}},
	{"doc.go", "no allocation in warm decisions", []string{"bench TestNoAllocs", "jobs TestNoAllocs"}},
	{"doc.go", "no goroutines", []string{"internal TestPurity"}},
}

// TestPromise_Held: every page has the words of its pledges, and the tests exist. README.md
// guarantees nothing else.
func TestPromise_Held(t *testing.T) {
	left := ""
	for i, p := range pledges {
		if i == 0 || pledges[i-1].page != p.page {
			left = plainPage(t, p.page)
		}
		require.Contains(t, left, p.words, p.page)
		left = strings.Replace(left, p.words, "", 1)
		for _, name := range p.tests {
			require.True(t, testExists(t, name), "%s: %q: there is no test %s", p.page, p.words, name)
		}
	}
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "\n## What it guarantees\n")
	require.True(t, found)
	rest, _, _ = strings.Cut(rest, "\n## ")
	rest = plain(regexp.MustCompile(`\*\*[^*]+\*\*`).ReplaceAllString(rest, "")) // but for titles
	for _, words := range promise {
		rest = strings.Replace(rest, words, "", 1)
	}
	for _, e := range exceptions {
		rest = strings.Replace(rest, e.words, "", 1)
	}
	for _, p := range pledges {
		rest = strings.Replace(rest, p.words, "", 1)
	}
	require.Equal(t, []string{"Exceptions."}, strings.Fields(rest), "README.md guarantees what no test holds")
}

// plain returns a text without marks and links, in one line.
func plain(text string) string {
	text = regexp.MustCompile(`\]\([^)]*\)`).ReplaceAllString(text, "]")
	return strings.Join(strings.Fields(strings.NewReplacer("\n//", " ", "`", "", "*", "", "[", "", "]", "").Replace(text)), " ")
}

func plainPage(t *testing.T, name string) string {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return strings.ReplaceAll(plain(string(text)), "Domains0", "Domains[0]")
}

// testExists reports whether a folder has a test: "jobs TestMinimality".
func testExists(t *testing.T, name string) bool {
	dir, name, _ := strings.Cut(name, " ")
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if strings.Contains(string(text), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}
