// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/judge/exam"
)

func main() {
	worlds := flag.Int("worlds", 250, "how many random worlds")
	wanted := flag.String("show", "", "print a document that shows PEER:FAULT")
	flag.Parse()
	if err := run(*worlds, *wanted, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "kueue:", err)
		os.Exit(1)
	}
}

// run prints what is wanted, and writes tables into files.
func run(worlds int, wanted string, files []string) error {
	if wanted != "" {
		text, err := show(worlds, wanted)
		fmt.Print(text)
		return err
	}
	text, err := sheets(worlds)
	if err != nil {
		return err
	}
	fmt.Print(text)
	return write(files, text)
}

// everybody returns who is examined, in the order of columns.
func everybody() []exam.Peer { return []exam.Peer{exam.Ours{}, Peer{}, Peer{Lower: true}} }

// sheets returns the tables.
func sheets(worlds int) (string, error) {
	papers, err := examination()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if _, err := judge(&b, "The examination", papers); err != nil {
		return "", err
	}
	if papers, err = random(worlds); err != nil {
		return "", err
	}
	if _, err := judge(&b, "Random worlds", papers); err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "In bold: what breaks a promise that Kueue itself makes (%s). All else are rules of ours that it does not have.\n\n", manual)
	if _, err := storms(&b, worlds); err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "Made on %s with %s, %s on %s/%s, %d cores.\n",
		time.Now().UTC().Format(time.DateOnly), Peer{}.Rules().Version, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	return b.String(), nil
}

// judge judges some papers and writes the table.
func judge(b *strings.Builder, title string, papers []exam.Paper) (*exam.Sheet, error) {
	s := exam.NewSheet(everybody()...)
	for i := range papers {
		if err := s.Add(&papers[i]); err != nil {
			return nil, err
		}
	}
	if len(s.Defects) > 0 {
		return nil, fmt.Errorf("a lawful answer is cheaper than what this library proved to be the least: %v", s.Defects)
	}
	fmt.Fprintf(b, "### %s\n\n", title)
	if err := s.Write(b); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return s, nil
}

// storms lets everybody settle documents with many asks, and writes the table.
func storms(b *strings.Builder, worlds int) (*exam.Rests, error) {
	docs, err := histories(worlds)
	if err != nil {
		return nil, err
	}
	rests, err := exam.SettleAll(docs, everybody()...)
	if err != nil {
		return nil, err
	}
	b.WriteString("### Storms\n\nEvery victim is recreated at once, and all that is pending is decided until nothing happens.\n\n")
	if err := rests.Write(b); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return rests, nil
}

// write writes the tables between the marks of files.
func write(files []string, tables string) error {
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		begin, end := "<!-- kueue -->\n", "<!-- /kueue -->"
		before, rest, begins := strings.Cut(string(text), begin)
		_, after, ends := strings.Cut(rest, end)
		if !begins || !ends {
			return fmt.Errorf("%s: no lines <!-- kueue --> and <!-- /kueue -->", file)
		}
		if err := os.WriteFile(file, []byte(before+begin+"\n"+tables+"\n"+end+after), 0o644); err != nil {
			return err
		}
	}
	return nil
}
