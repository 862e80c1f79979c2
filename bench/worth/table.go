package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// tableOf writes results as Markdown: a table with a row for each rule on each load, and
// below it what the loads are and which laws were broken how often.
func tableOf(all []*result) string {
	var b strings.Builder
	b.WriteString("| load, and who decides | plans | no answer | breaks a promise | not entitled | needless victim | victims, theirs : ours | hours lost, theirs : ours | costs less, as much, more | lawful, and ours has none |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, r := range all {
		if r.Left != "" {
			fmt.Fprintf(&b, "| **%s**, %s | | | | | | | | | |\n", r.Load, r.Left)
			continue
		}
		fmt.Fprintf(&b, "| **%s**, %s asks, %s of them gangs | | | | | | | | | |\n", r.Load, count(r.Asked), count(r.Gangs))
		for i := range r.Cells {
			c := &r.Cells[i]
			both := [3]string{}
			if i > 0 && c.Both.Plans > 0 {
				both[0] = fmt.Sprintf("%s : %s", count(c.Both.Victims), count(c.Both.OursVictims))
				both[1] = fmt.Sprintf("%s : %s", hours(c.Both.Lost), hours(c.Both.OursLost))
				both[2] = fmt.Sprintf("%s, %s, %s", count(c.Both.Cheaper), count(c.Both.Same), count(c.Both.Dearer))
			} else if i == 0 { // of all its plans
				both[0], both[1] = count(c.Victims), hours(c.Lost)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", c.Rule, count(c.Plans), count(c.Silent),
				count(c.Broken), count(c.Untitled), count(c.Needless), both[0], both[1], both[2], count(c.Alone))
		}
	}
	b.WriteString("\n")
	for _, r := range all {
		if r.Left == "" {
			fmt.Fprintf(&b, "* %s: %s arrivals. %s. Laws broken, in plans: %s.\n", r.Load, count(r.Works), r.What, r.laws())
		}
	}
	return b.String()
}

// laws says which laws the plans of each rule broke, those that were broken most often
// first.
func (r *result) laws() string {
	var parts []string
	for i := range r.Cells {
		c := &r.Cells[i]
		var words []string
		for word := range c.Words {
			words = append(words, word)
		}
		slices.SortFunc(words, func(a, b string) int { return cmp.Or(cmp.Compare(c.Words[b], c.Words[a]), cmp.Compare(a, b)) })
		for k, word := range words {
			words[k] = fmt.Sprintf("%s %s", word, count(c.Words[word]))
		}
		text := strings.Join(words, ", ")
		if text == "" {
			text = "none"
		}
		parts = append(parts, c.Rule+": "+text)
	}
	return strings.Join(parts, "; ")
}

func hours(seconds int64) string { return count(int((seconds + hour/2) / hour)) }

// count writes a number that is not negative for people, in groups of three digits.
func count(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", count(n/1000), n%1000)
}
