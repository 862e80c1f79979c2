// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// tiny is a report of clusters so small that all of it takes a moment.
func tiny() *report {
	return &report{
		clock: clock{rounds: 1},
		small: 40, big: 60, tasks: 30, million: 1200,
		growNodes: []int{20, 40}, growTasks: []int{12, 24},
		batch:   10,
		members: 4,
	}
}

// TestReport shows that everything is measured, and that every target there is
// has a row. What the figures are is not for a test to say, but for those that
// count: proofs and allocations.
func TestReport(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures everything once")
	}
	file := filepath.Join(t.TempDir(), "README.md")
	require.NoError(t, os.WriteFile(file, []byte("# Speed\n<!-- ratios -->\n<!-- /ratios -->\nThat was it.\n"), 0o644))
	r := tiny()
	var out, tables strings.Builder
	require.NoError(t, run(r, []string{file}, true, &out))
	require.NoError(t, r.print(false, &tables))
	requirePage(t, file, tables.String())
	var rows []Row
	require.NoError(t, json.Unmarshal([]byte(out.String()), &rows))

	targets := make(map[string]int)
	for _, r := range rows {
		require.NotEmpty(t, r.Name)
		if r.Target != nil {
			targets[r.Section]++
		}
	}
	if diff := cmp.Diff(map[string]int{
		"a cluster as full as a production trace (1523 nodes)": 1,
		// 4 filters, 2 predicates with their questions, and the loads
		"a decision on a hard load, against the floor":                4 + 2*2 + 41,
		"a job of 8 alike members, against its members asked in turn": len(families),
		// 2 sizes of 3 and 4 asks and 6 others, 2 loads of 4 asks, 2 asks of the
		// largest, all proven, no allocations
		"a decision, against a pass over all tasks (the floor)":              3 + 4 + 2*6 + 2*4 + 2 + 1 + 1,
		"decisions beside others, k=4":                                       2 + 4 + 1 + 2,
		"a naive decision over maps, which we wrote ourselves, against ours": 3,
		"growth of a decision, k=4":                                          3,
		"keeping a cluster":                                                  6,
		"quotas, jobs, shares and toleration":                                12,
		"arithmetic on vectors of 4 types":                                   5,
	}, targets); diff != "" {
		t.Errorf("targets by section (-want +got):\n%s", diff)
	}
	for i := range rows {
		if strings.HasPrefix(rows[i].Name, "decisions above of which") || strings.HasPrefix(rows[i].Name, "allocations") {
			require.True(t, rows[i].kept(), "%s: %v", rows[i].Name, rows[i].Figure)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		list []float64
		want float64
	}{
		{[]float64{7}, 7},
		{[]float64{9, 1}, 5},
		{[]float64{100, 1, 2}, 2},
		{[]float64{4, 1, 100, 2}, 3},
	} {
		list := append([]float64(nil), test.list...)
		require.Equal(t, test.want, median(list))
		require.Equal(t, test.list, list, "the order of rounds")
	}
}

func TestSlope(t *testing.T) {
	for _, test := range []struct {
		x, y []float64
		want float64
	}{
		{[]float64{1, 2}, []float64{5, 8}, 3},
		{[]float64{0, 1, 2}, []float64{7, 7, 7}, 0},
		{[]float64{0, 1, 2}, []float64{4, 2, 0}, -2},
		{[]float64{0, 1, 2, 3}, []float64{0, 2, 1, 3}, 0.8}, // (4·13 - 6·6) / (4·14 - 6·6)
	} {
		require.InDelta(t, test.want, slope(test.x, test.y), 1e-12)
	}
}

// TestTurns shows who has a turn how often.
func TestTurns(t *testing.T) {
	var a, b int
	c := clock{rounds: 5, budget: time.Hour}
	times := c.times(func() { a++ }, func() { b++ })
	require.Equal(t, 6, a, "5 rounds and a warm-up")
	require.Equal(t, 6, b)
	require.Len(t, times, 2)
	require.Len(t, times[0], 5)
	require.Len(t, times[1], 5)

	n := 0
	require.Positive(t, c.least(func() { n++ }))
	require.Equal(t, 6, n)

	c.budget = 0
	require.Len(t, c.times(func() {})[0], minRounds)
}

// What somebody else allocates meanwhile is not the function's, and what the
// function allocates only while it grows is not that of a warm one.
func TestAllocations(t *testing.T) {
	var kept [][]int
	calls := 0
	for _, test := range []struct {
		name string
		f    func()
		want float64
	}{
		{"nothing", func() {}, 0},
		{"always one", func() { kept = append(kept[:0], make([]int, 1)) }, 1},
		{"now and then, as if by another", func() {
			if calls++; calls < 8 {
				kept = append(kept[:0], make([]int, 1), make([]int, 2))
			}
		}, 0},
	} {
		require.Equal(t, test.want, allocations(test.f), test.name)
	}
}

func TestQuotients(t *testing.T) {
	require.Equal(t, []float64{2, 0.5}, quotients([]float64{4, 2}, []float64{2, 4}))
}

func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 1: "1", 5: "5", 1000: "1000", 12345.6: "12346",
		123.4: "123", 12.34: "12.3", 1.234: "1.23", 0.1234: "0.123", 0.01234: "0.0123",
		0.001234: "0.0012", 0.00001: "0", 99.96: "100", 1.5: "1.5", 0.7: "0.7",
	} {
		require.Equal(t, want, number(x))
	}
}

func TestDuration(t *testing.T) {
	for nanos, want := range map[float64]string{
		0: "0ns", 0.5: "0.5ns", 12.34: "12.3ns", 1234: "1.23µs", 1234567: "1.23ms", 1999999: "2ms", 12345678901: "12.35s",
	} {
		require.Equal(t, want, duration(nanos))
	}
}

func TestTables(t *testing.T) {
	var b strings.Builder
	printTables(&b, []Row{
		Row{Section: "one", Name: "a", Figure: 0.5, Unit: "× floor", Remark: "1ms"}.atMost(1),
		Row{Section: "one", Name: "b", Figure: 1.5, Unit: "× floor"}.atMost(1),
		{Section: "one", Name: "c", Figure: 2, Unit: "ns"},
		Row{Section: "two", Name: "d", Figure: 1234, Unit: "×"}.atLeast(1000),
		Row{Section: "two", Name: "e", Figure: 999, Unit: "×"}.atLeast(1000),
	})
	want := `| one | | target | |
|---|--:|:--|:--|
| a | 0.5 × floor | ≤ 1 | 1ms |
| b | 1.5 × floor | ≤ 1, **missed** |  |
| c | 2 ns |  |  |

| two | | target | |
|---|--:|:--|:--|
| d | 1234 × | ≥ 1000 |  |
| e | 999 × | ≥ 1000, **missed** |  |
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// TestExtremes: the three worst decisions come first and then the best, each once, and
// all of them again in their sections.
func TestExtremes(t *testing.T) {
	best := Row{Section: "one", Name: "a", Figure: 0.5, Unit: floors, Decision: true}
	bad := Row{Section: "one", Name: "b", Figure: 31, Unit: floors, Decision: true}
	other := Row{Section: "two", Name: "c", Figure: 100, Unit: floors} // no decision
	second := Row{Section: "one", Name: "d", Figure: 30, Unit: floors, Decision: true}
	third := Row{Section: "one", Name: "e", Figure: 2, Unit: floors, Decision: true}
	between := Row{Section: "one", Name: "f", Figure: 1, Unit: floors, Decision: true}
	const worst = "**the worst**: one: b"
	for _, test := range []struct {
		rows []Row
		want []string // names
	}{
		{[]Row{other}, nil},
		{[]Row{best, bad, other}, []string{worst, "**the second worst**: one: a"}},
		{[]Row{third, best, second, bad, other}, []string{worst, "**the second worst**: one: d", "**the third worst**: one: e", "**the best**: one: a"}},
		{[]Row{between, best, third, second, bad}, []string{worst, "**the second worst**: one: d", "**the third worst**: one: e", "**the best**: one: a"}},
	} {
		rows := slices.Clone(test.rows)
		var names []string
		for _, r := range extremes(rows) {
			names = append(names, r.Name)
		}
		require.Equal(t, test.want, names)
		require.Equal(t, test.rows, rows, "rows stay as they are")
	}
	var b strings.Builder
	printTables(&b, append(extremes([]Row{best, bad}), best, bad))
	require.Equal(t, `| the worst decisions and the best | | target | |
|---|--:|:--|:--|
| **the worst**: one: b | 31 × floor |  |  |
| **the second worst**: one: a | 0.5 × floor |  |  |

| one | | target | |
|---|--:|:--|:--|
| a | 0.5 × floor |  |  |
| b | 31 × floor |  |  |
`, b.String())
}

func TestKept(t *testing.T) {
	for _, test := range []struct {
		row  Row
		want bool
	}{
		{Row{Figure: 7}, true},
		{Row{Figure: 1}.atMost(1), true},
		{Row{Figure: 1.01}.atMost(1), false},
		{Row{Figure: 1}.atLeast(1), true},
		{Row{Figure: 0.99}.atLeast(1), false},
	} {
		require.Equal(t, test.want, test.row.kept(), "%+v", test.row)
	}
}

func TestSplice(t *testing.T) {
	got, err := splice("before\n<!-- ratios -->\nold\n<!-- /ratios -->\nafter\n", "new\n")
	require.NoError(t, err)
	require.Equal(t, "before\n<!-- ratios -->\nnew\n<!-- /ratios -->\nafter\n", got)
	for _, text := range []string{"", "<!-- ratios -->\n", "<!-- /ratios -->\n<!-- ratios -->\n"} {
		_, err := splice(text, "new\n")
		require.Error(t, err, text)
	}
}

// requirePage requires that tables are written where they belong.
func requirePage(t *testing.T, file, tables string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	page, _ := strings.CutPrefix(string(text), "# Speed\n<!-- ratios -->\n")
	page, found := strings.CutSuffix(page, "<!-- /ratios -->\nThat was it.\n")
	require.True(t, found)
	for line := range strings.Lines(page) {
		require.Contains(t, tables, line, "a page has part of the lines that are printed")
	}
	require.Contains(t, tables, "| audit of a plan | ")
}

// TestFiles shows that nothing is measured if tables belong nowhere.
func TestFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "README.md")
	require.ErrorIs(t, run(nil, []string{file}, false, nil), os.ErrNotExist)

	require.NoError(t, os.WriteFile(file, []byte("nothing to see\n"), 0o644))
	require.ErrorContains(t, run(nil, []string{file}, false, nil), "README.md: no lines")
}

// TestPart: which rows a page shows.
func TestPart(t *testing.T) {
	missed, less := Row{Section: "one", Name: "missed", Figure: 2}.atMost(1), Row{Section: "one", Name: "less", Figure: 3}.atMost(2)
	far := Row{Section: "one", Name: "far", Figure: 0.1}.atMost(1)
	near := Row{Section: "one", Name: "near", Figure: 0.9}.atMost(1)
	zero := Row{Section: "one", Name: "zero"}.atMost(0)
	shown := Row{Section: "one", Name: cited[0], Figure: 0.2}.atMost(1)
	none, other := Row{Section: "two", Name: "none", Figure: 3}, Row{Section: "two", Name: "other", Figure: 4}
	least, more := Row{Section: "three", Name: "least", Figure: 11}.atLeast(10), Row{Section: "three", Name: "more", Figure: 99}.atLeast(10)
	got := part([]Row{less, missed, far, near, zero, shown, none, other, more, least})
	require.Equal(t, []Row{missed, near, zero, shown, none, least}, got)
	require.Equal(t, []Row{missed}, part([]Row{missed}))
	require.Empty(t, part(nil))
}

// TestReadmes holds the page that shows figures to having a place for them, and the
// three numbers of the module's README to being figures of that page.
func TestReadmes(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	require.NoError(t, err)
	_, err = splice(string(text), "")
	require.NoError(t, err)
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	_, numbers, found := strings.Cut(string(readme), "## Three numbers\n")
	require.True(t, found)
	numbers, _, _ = strings.Cut(numbers, "\n## ")

	for _, row := range []struct {
		name string // how it begins in bench/README.md
		cell int    // which cell after that has the number first
	}{
		{"`load=plain/nodes=5000/tasks=30/tree=4x100/k=4` ", 3},
		{"a job of 16 members placed in one of 278 racks of 5000 nodes ", 1},
	} {
		_, rest, found := strings.Cut(string(text), "\n| "+row.name)
		require.True(t, found, row.name)
		line, _, _ := strings.Cut(rest, "\n")
		number, _, _ := strings.Cut(strings.TrimSpace(strings.Split(line, "|")[row.cell]), ",")
		took, err := time.ParseDuration(strings.ReplaceAll(number, " ", ""))
		require.NoError(t, err, row.name)
		require.Contains(t, numbers, twoDigits(took), row.name)
	}
	longest := time.Duration(0)
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || !strings.Contains(cells[2], "× floor") {
			continue
		}
		number, _, _ := strings.Cut(strings.TrimSpace(cells[4]), ",")
		if took, err := time.ParseDuration(number); err == nil {
			longest = max(longest, took)
		}
	}
	require.Contains(t, numbers, twoDigits(longest), "the longest decision")
}

// twoDigits writes a time as the module's README shows it: a cell of milliseconds.
func twoDigits(took time.Duration) string {
	rounded, err := strconv.ParseFloat(fmt.Sprintf("%.2g", took.Seconds()*1000), 64)
	if err != nil {
		panic(err)
	}
	return "| " + strconv.FormatFloat(rounded, 'f', -1, 64) + " ms |\n"
}
