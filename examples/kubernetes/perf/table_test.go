package perf

import (
	"bytes"
	"fmt"
	"os"
	"time"
)

// A table has the figures of all workloads, in the order in which they came.
type table struct {
	rows []*row
}

// A row is a workload with the figures of each scheduler.
type row struct {
	workload, nodes string
	of              map[string]figures
}

func (t *table) add(scheduler string, f figures) {
	for _, r := range t.rows {
		if r.workload == f.workload && r.nodes == f.nodes {
			r.of[scheduler] = f
			return
		}
	}
	t.rows = append(t.rows, &row{f.workload, f.nodes, map[string]figures{scheduler: f}})
}

// String returns the table in Markdown. Of each pair of figures the first one is that
// of DefaultPreemption.
func (t *table) String() string {
	var b bytes.Buffer
	fmt.Fprintln(&b, "| workload | nodes | PostFilter p50 | p99 | ratio of p99 | pods/s | victims | wasted |")
	fmt.Fprintln(&b, "|---|--:|--:|--:|--:|--:|--:|--:|")
	for _, r := range t.rows {
		d, q := r.of[schedulers[0].name], r.of[schedulers[1].name]
		ratio := "-"
		if d.p99 > 0 {
			ratio = fmt.Sprintf("%.2f", q.p99.Seconds()/d.p99.Seconds())
		}
		fmt.Fprintf(&b, "| %s | %s | %v, %v | %v, %v | %s | %.0f, %.0f | %d, %d | %d, %d |\n", r.workload, r.nodes,
			rounded(d.p50), rounded(q.p50), rounded(d.p99), rounded(q.p99), ratio, d.rate, q.rate, d.victims, q.victims, d.wasted, q.wasted)
	}
	return b.String()
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

// write puts the table into its place in a file.
func (t *table) write(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(text, []byte(begin))
	_, after, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		return fmt.Errorf("%s: there is no place for the table", file)
	}
	return os.WriteFile(file, fmt.Appendf(nil, "%s%s\n%s\n%s%s", before, begin, t, end, after), 0o644)
}
