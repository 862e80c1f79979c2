package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/exam"
)

// A report is what was found.
type report struct {
	options
	sheets []sheet
	races  []race
	rests  []exam.Rest // in the order of everybody
}

// tables returns all of it as Markdown.
func (r *report) tables() string {
	var b strings.Builder
	for _, s := range r.sheets {
		fmt.Fprintf(&b, "### %s\n\n", s.title)
		_ = s.Write(&b) // a Builder takes everything
		b.WriteByte('\n')
	}
	if len(r.sheets) > 0 {
		b.WriteString(r.sources())
	}
	if len(r.rests) > 0 {
		b.WriteString("### Storms\n\nEvery victim is recreated at once, and all that is pending is decided until nothing happens.\n\n" + r.rest() + "\n")
	}
	if len(r.races) > 0 {
		b.WriteString("### Speed\n\n" + r.speed() + "\n")
	}
	b.WriteString(r.made())
	return b.String()
}

// sources lists where the peers make the promises that count.
func (r *report) sources() string {
	var b strings.Builder
	b.WriteString("In bold: what breaks a promise that the scheduler itself makes. All else are rules of ours that it does not have. What breaks a promise:\n\n")
	b.WriteString("| whose | where it is made | what would break it |\n|---|---|---|\n")
	for _, p := range everybody()[1:3] {
		rules := p.Rules()
		at := make(map[string][]string) // faults by source
		var places []string
		for _, f := range exam.Faults {
			if source := rules.Promises[f]; source != "" {
				if at[source] == nil {
					places = append(places, source)
				}
				at[source] = append(at[source], f.String())
			}
		}
		for _, place := range places {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", rules.Name, place, strings.Join(at[place], "; "))
		}
	}
	b.WriteByte('\n')
	return b.String()
}

// made says of what, when and on what all of this was made.
func (r *report) made() string {
	var versions []string
	for _, p := range everybody()[1:3] {
		versions = append(versions, p.Rules().Version)
	}
	return fmt.Sprintf("Made on %s with %s, %s on %s/%s, %d cores.\n",
		time.Now().UTC().Format(time.DateOnly), strings.Join(versions, ", "), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
}

// headline returns the short table, which stands in the README of the module.
func (r *report) headline() string {
	var b strings.Builder
	row := func(head string, cell func(column int) string) {
		fmt.Fprintf(&b, "| %s |", head)
		for column := range everybody() {
			fmt.Fprintf(&b, " %s |", cell(column))
		}
		b.WriteByte('\n')
	}
	row("", func(column int) string { return everybody()[column].Rules().Name })
	row("---", func(int) string { return "--:" })
	for i := range r.races {
		race := &r.races[i]
		if race.size != r.sizes()[len(r.sizes())-1] {
			continue
		}
		row(fmt.Sprintf("a decision, %s, %v", race.load.name, race.size), func(column int) string {
			t := race.by[column]
			switch {
			case t == nil:
				return ""
			case column == 0:
				return duration(t.least())
			}
			return fmt.Sprintf("%s, %s ×", duration(t.least()), number(race.times(column)))
		})
	}
	for _, s := range r.sheets {
		row(strings.ToLower(s.title[:1])+s.title[1:]+": answers that break a promise of its own", func(column int) string {
			told, _ := s.Judged(column)
			return fmt.Sprintf("%d of %d", s.Broken(column), told)
		})
	}
	if len(r.rests) > 0 {
		row("storms: victims are recreated for ever", func(column int) string {
			return fmt.Sprintf("%d of %d", r.rests[column].Loops, r.rests[column].Told)
		})
	}
	return b.String() + "\n" + r.made()
}

// readPages reads the files into which tables go.
func readPages(files []string) ([]string, error) {
	texts := make([]string, len(files))
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if _, err := splice(string(text), "", ""); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		texts[i] = string(text)
	}
	return texts, nil
}

// writePages writes the tables into the files.
func writePages(files, texts []string, r *report) error {
	for i, file := range files {
		text, err := splice(texts[i], r.tables(), r.headline())
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// splice returns a text with the tables, or the headline, between their marks.
func splice(text, tables, headline string) (string, error) {
	for _, part := range []struct{ name, content string }{{"peers", tables}, {"peers headline", headline}} {
		begin, end := "<!-- "+part.name+" -->\n", "<!-- /"+part.name+" -->"
		before, rest, begins := strings.Cut(text, begin)
		_, after, ends := strings.Cut(rest, end)
		if begins && ends {
			return before + begin + "\n" + part.content + "\n" + end + after, nil
		}
	}
	return "", errors.New("no lines <!-- peers --> and <!-- /peers -->, nor such of a headline")
}
