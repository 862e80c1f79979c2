package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/exam"
)

func main() {
	worlds := flag.Int("worlds", 3000, "how many random worlds")
	flag.Parse()
	text, err := sheets(*worlds)
	if err == nil {
		err = write(flag.Args(), text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kueue:", err)
		os.Exit(1)
	}
	fmt.Print(text)
}

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
	papers = nil
	for i := range worlds {
		p, err := exam.Random(i)
		if err != nil {
			return "", err
		}
		papers = append(papers, *p)
	}
	if _, err := judge(&b, "Random worlds", papers); err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "In bold: what breaks a promise that Kueue itself makes (%s). Made on %s with %s, %s on %s/%s.\n",
		manual, time.Now().UTC().Format(time.DateOnly), Peer{}.Rules().Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return b.String(), nil
}

// examination returns a paper for each ask of the cases of bench/peers.
func examination() (all []exam.Paper, err error) {
	files, err := filepath.Glob(filepath.Join("..", "cases", "*.json"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		papers, err := exam.Papers(file, text)
		if err != nil {
			return nil, err
		}
		all = append(all, papers...)
	}
	return all, nil
}

// judge judges some papers and writes the table.
func judge(b *strings.Builder, title string, papers []exam.Paper) (*exam.Sheet, error) {
	s := exam.NewSheet(exam.Ours{}, Peer{})
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
