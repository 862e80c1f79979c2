// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/judge/exam"
)

// A report is what was found.
type report struct {
	options
	done   []string // the parts that are
	sheets []sheet
	races  []race
	rests  *exam.Rests // in the order of everybody
}

// page returns what a part has to say on the page of this module, as Markdown.
func (r *report) page(part string) string {
	var b strings.Builder
	switch part {
	case "judge":
		for _, s := range r.sheets {
			fmt.Fprintf(&b, "### %s\n\n", s.title)
			_ = s.Write(&b) // a Builder takes everything
			b.WriteByte('\n')
		}
		b.WriteString(r.sources())
	case "storms":
		b.WriteString("### Storms\n\nEvery victim is recreated at once, and all that is pending is decided until nothing happens.\n\n")
		_ = r.rests.Write(&b) // a Builder takes everything
		b.WriteByte('\n')
	case "speed":
		b.WriteString("### Speed\n\n" + r.speed() + "\n")
	}
	return b.String() + r.made()
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
