// SPDX-License-Identifier: Apache-2.0

// Ratios measures the planner and prints how it compares: with a bare pass over
// all tasks, with the same decision over maps, and with itself on clusters of
// other sizes.
//
//	go run ./bench/ratios [-json] [-large=false] [FILE...]
//	go run ./bench/ratios -draws 1000 [-sizes] [-jobs | -together]
//
// Ratios are medians over rounds in which everything that is compared has a
// turn, so that they hold on any machine; a time that stands alone is the least.
// Beside them stand targets, and those that are missed are marked. It takes some minutes; -large=false leaves
// the cluster of a million tasks out.
//
// With -draws it decides asks on so many hard loads instead, drawn at random from
// families of them, and prints a row for each family: how decisions compare with
// the floor, how many take longer than any load may, and how much is proven, also
// beside the same decisions with a hundredfold budget; then as many in which tasks may move
// beside the same without. A thousand take some ten
// minutes. With -sizes clusters have 1 to 5,000 nodes and up to 150,000 tasks, nothing
// is decided twice, and each decision that passes a line is printed to standard error.
// With -jobs it decides jobs of 1 to 64 members, beside the members asked in turn. With
// -together it decides 1 to 100 asks at once, beside the same asks one by one; with -sizes
// these clusters have up to 20,000 nodes.
//
// The tables are Markdown, the three worst decisions first. Into each FILE part of their rows
// are written in place of what is there between two lines, <!-- ratios --> and <!-- /ratios -->.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

func main() {
	asJSON := flag.Bool("json", false, "print JSON instead of tables")
	large := flag.Bool("large", true, "measure a cluster of a million tasks, too")
	draws := flag.Int("draws", 0, "decide so many hard loads instead")
	r := full()
	answers := flag.Int("answers", 0, "print what is decided about so many hard loads instead, a line each")
	ofJobs := flag.Bool("jobs", false, "with -draws: jobs")
	ofMany := flag.Bool("together", false, "with -draws: several asks at once")
	flag.BoolVar(&r.sizes, "sizes", false, "with -draws: loads of random sizes")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: ratios [-json] [-large=false] [-draws N [-sizes] [-jobs | -together]] [-answers N] [FILE...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if !*large {
		r.million = 0
	}
	if *answers > 0 {
		r.answers(os.Stdout, *answers)
		return
	}
	switch {
	case *draws > 0 && *ofJobs:
		r.jobSurveys(os.Stdout, *draws)
		return
	case *draws > 0 && *ofMany:
		r.together(os.Stdout, *draws)
		return
	case *draws > 0:
		r.surveys(os.Stdout, *draws)
		r.moves(os.Stdout, *draws)
		return
	}
	if err := run(r, flag.Args(), *asJSON, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "ratios:", err)
		os.Exit(1)
	}
}

// run measures everything, prints it and writes it into files.
func run(r *report, files []string, asJSON bool, w io.Writer) error {
	texts := make([]string, len(files))
	for i, file := range files { // before anything takes time
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if _, err := splice(string(text), ""); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		texts[i] = string(text)
	}
	r.measure()

	for i, file := range files {
		text, _ := splice(texts[i], tablesOf(append(extremes(r.rows), part(r.rows)...)))
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return r.print(asJSON, w)
}

// print writes what was measured, as JSON or as tables.
func (r *report) print(asJSON bool, w io.Writer) error {
	if !asJSON {
		_, err := io.WriteString(w, tablesOf(append(extremes(r.rows), r.rows...)))
		return err
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r.rows)
}

// tablesOf writes rows as tables, and where they were measured.
func tablesOf(rows []Row) string {
	var b strings.Builder
	printTables(&b, rows)
	fmt.Fprintf(&b, "\nMeasured with %s on %s/%s.\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return b.String()
}

// splice returns text with the tables between their marks.
func splice(text, tables string) (string, error) {
	const begin, end = "<!-- ratios -->\n", "<!-- /ratios -->\n"
	before, rest, begins := strings.Cut(text, begin)
	_, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		return "", errors.New("no lines <!-- ratios --> and <!-- /ratios -->")
	}
	return before + begin + tables + end + after, nil
}
