// SPDX-License-Identifier: Apache-2.0

package perf

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A table has the figures of all workloads.
type table struct {
	rows []*row
}

// A row is a workload with the figures of each scheduler, a round each.
type row struct {
	Workload, Nodes string
	Of              map[string][]figures
}

func (t *table) add(scheduler string, f figures) {
	i := slices.IndexFunc(t.rows, func(r *row) bool { return r.Workload == f.Workload && r.Nodes == f.Nodes })
	if i < 0 {
		i = len(t.rows)
		t.rows = append(t.rows, &row{f.Workload, f.Nodes, map[string][]figures{}})
	}
	t.rows[i].Of[scheduler] = append(t.rows[i].Of[scheduler], f)
}

// A summary is what the rounds of a scheduler come to.
type summary struct {
	calls           int
	p50, p99        time.Duration // of the calls of all rounds
	rate            float64       // the median of the rounds
	victims, wasted int           // in a round, rounded up
}

func summarize(rounds []figures) (s summary) {
	var durations []time.Duration
	var rates []float64
	for _, f := range rounds {
		durations, rates = append(durations, f.Durations...), append(rates, f.Rate)
		s.victims += f.Victims
		s.wasted += f.Wasted
	}
	slices.Sort(durations)
	slices.Sort(rates)
	s.calls, s.p50, s.p99 = len(durations), quantile(durations, 50), quantile(durations, 99)
	s.rate = (rates[len(rates)/2] + rates[(len(rates)-1)/2]) / 2
	s.victims, s.wasted = (s.victims+len(rounds)-1)/len(rounds), (s.wasted+len(rounds)-1)/len(rounds)
	return s
}

// The goal: PostFilter's p99 is at most so much of that of DefaultPreemption, nobody is
// stopped in vain, and no fewer pods are scheduled in a second. Rates of the same
// scheduler differ by more than a twentieth from round to round.
const (
	goalRatio = 0.2
	sameRate  = 0.95
)

// missed names what of the goal is missed.
func missed(d, q *summary) string {
	var what []string
	if q.p99.Seconds() > goalRatio*d.p99.Seconds() {
		what = append(what, "p99")
	}
	if q.rate < sameRate*d.rate {
		what = append(what, "pods/s")
	}
	if q.wasted > 0 {
		what = append(what, "wasted")
	}
	if len(what) == 0 {
		return "met"
	}
	return "**missed**: " + strings.Join(what, ", ")
}

const heading = `| workload | nodes | calls | PostFilter p50 | p99 | ratio of p50, p99 | pods/s | victims | wasted | goal |
|---|--:|--:|--:|--:|--:|--:|--:|--:|---|
`

// String returns the row in Markdown, or nothing if a scheduler was not measured. Of each
// pair of figures the first one is that of DefaultPreemption.
func (r *row) String() string {
	if len(r.Of[schedulers[0].name]) == 0 || len(r.Of[schedulers[1].name]) == 0 {
		return ""
	}
	d, q := summarize(r.Of[schedulers[0].name]), summarize(r.Of[schedulers[1].name])
	of := func(q, d time.Duration) string { return fmt.Sprintf("%.2f", q.Seconds()/max(d, 1).Seconds()) }
	return fmt.Sprintf("| %s | %s | %d, %d | %v, %v | %v, %v | %s, %s | %.0f, %.0f | %d, %d | %d, %d | %s |\n", r.Workload, r.Nodes,
		d.calls, q.calls, rounded(d.p50), rounded(q.p50), rounded(d.p99), rounded(q.p99), of(q.p50, d.p50), of(q.p99, d.p99),
		d.rate, q.rate, d.victims, q.victims, d.wasted, q.wasted, missed(&d, &q))
}

// rounded rounds a duration to three figures or so.
func rounded(d time.Duration) time.Duration {
	for unit := time.Second; unit > 1; unit /= 10 {
		if d >= unit {
			return d.Round(unit / 100)
		}
	}
	return d
}

// The table is between these lines of a file.
const begin, end = "<!-- scheduler_perf -->\n", "<!-- /scheduler_perf -->\n"

// write puts the table into its place in a file. Rows that are there and were not
// measured now stay.
func (t *table) write(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(text), begin)
	old, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s: there is no place for the table", file)
	}
	return os.WriteFile(file, []byte(before+begin+"\n"+heading+t.merge(old)+"\n"+end+after), 0o644)
}

// merge returns the rows of the table and those of an older one, by workload and size.
func (t *table) merge(old string) string {
	rows := map[place]string{}
	for line := range strings.Lines(old) {
		if p, ok := placeOf(line); ok {
			rows[p] = line
		}
	}
	for _, r := range t.rows {
		if line := r.String(); line != "" {
			p, _ := placeOf(line)
			rows[p] = line
		}
	}
	var places []place
	for p := range rows { // in any order: it is sorted
		places = append(places, p)
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.order, b.order), strings.Compare(a.workload, b.workload), cmp.Compare(a.nodes, b.nodes))
	})
	var b bytes.Buffer
	for _, p := range places {
		b.WriteString(rows[p])
	}
	return b.String()
}

// A place is that of a row in the table.
type place struct {
	order    int // of the workload
	workload string
	nodes    int
}

// placeOf returns the place of a line, or false if it is no row.
func placeOf(line string) (p place, ok bool) {
	cells := strings.Split(line, "|")
	if len(cells) != strings.Count(heading[:strings.Index(heading, "\n")], "|")+1 {
		return p, false // of a table with other columns
	}
	p.workload = strings.TrimSpace(cells[1])
	p.order = slices.Index([]string{"PreemptionBasic", "Refused", "Selector", "MixedChurn"}, p.workload)
	p.nodes, _ = strconv.Atoi(strings.TrimSpace(cells[2]))
	return p, p.nodes > 0
}

// TestTable: rows that are measured replace those of the same workload and size, others
// stay, and a row says what of the goal it misses.
func TestTable(t *testing.T) {
	measured := func(name, nodes string, scale int, rate float64) *row {
		r := &row{name, nodes, map[string][]figures{}}
		for _, s := range schedulers {
			r.Of[s.name] = []figures{{Durations: []time.Duration{time.Duration(scale) * time.Millisecond}, Rate: rate}}
			scale, rate = 1, 100
		}
		return r
	}
	var big, small table
	big.rows = []*row{measured("Selector", "5000", 10, 100), measured("Refused", "5000", 2, 100)}
	small.rows = []*row{measured("Refused", "500", 5, 200), measured("Selector", "5000", 6, 104), {Workload: "MixedChurn", Nodes: "500"}}
	file := t.TempDir() + "/table.md"
	require.NoError(t, os.WriteFile(file, []byte("before\n"+begin+end+"after\n"), 0o600))
	require.NoError(t, big.write(file))
	require.NoError(t, small.write(file))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "before\n"+begin+"\n"+heading+
		"| Refused | 500 | 1, 1 | 5ms, 1ms | 5ms, 1ms | 0.20, 0.20 | 200, 100 | 0, 0 | 0, 0 | **missed**: pods/s |\n"+
		"| Refused | 5000 | 1, 1 | 2ms, 1ms | 2ms, 1ms | 0.50, 0.50 | 100, 100 | 0, 0 | 0, 0 | **missed**: p99 |\n"+
		"| Selector | 5000 | 1, 1 | 6ms, 1ms | 6ms, 1ms | 0.17, 0.17 | 104, 100 | 0, 0 | 0, 0 | met |\n"+
		"\n"+end+"after\n", string(text))
}
