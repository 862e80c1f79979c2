// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// tableOf writes results as a table of Markdown with a row for each rule on each load.
func tableOf(all []*result) string {
	var b strings.Builder
	heads := []string{
		"", "plans", "no answer", "breaks a promise", "not entitled", "needless victim", "victims", "hours lost",
		"GPU or core hours lost", "cheaper, equal, dearer", "lawful, ours has none",
	}
	fmt.Fprintf(&b, "| %s |\n|---|%s\n", strings.Join(heads, " | "), strings.Repeat("--:|", len(heads)-1))
	line := func(cells ...string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	wide := func(text string) { line(append([]string{text}, make([]string, len(heads)-1)...)...) }
	for _, r := range all {
		if r.Left != "" {
			wide(fmt.Sprintf("**%s**, %s", r.Load, r.Left))
			continue
		}
		wide(fmt.Sprintf("**%s**, %s asks, %s of them gangs", r.Load, count(r.Asked), count(r.Gangs)))
		for i := range r.Cells {
			c := &r.Cells[i]
			q := &c.Both
			lost := []string{count(c.Victims), hours(c.Lost), hours(c.Units), ""} // the library: of all its plans
			if i > 0 {
				lost = []string{"", "", "", ""}
				if q.Plans > 0 {
					lost = []string{
						count(q.Victims) + " : " + count(q.OursVictims), hours(q.Lost) + " : " + hours(q.OursLost),
						hours(q.Units) + " : " + hours(q.OursUnits),
						count(q.Cheaper) + ", " + count(q.Same) + ", " + count(q.Dearer),
					}
				}
			}
			cells := []string{c.Rule, count(c.Plans), count(c.Silent), count(c.Broken), count(c.Unentitled), count(c.Needless)}
			line(append(append(cells, lost...), count(c.Alone))...)
		}
	}
	return b.String()
}

// excerptOf writes the part of the table that README.md has: a column for each load. Of two
// greedies it has the one that knows more.
func excerptOf(all []*result) string {
	heads, rows := []string{""}, [][]string{
		{"our plans"},
		{"no answer: greedy, kube-scheduler, YuniKorn"},
		{"break a promise: the same"},
		{"victims, greedy : ours"},
		{"hours lost, greedy : ours"},
		{"victims, least work lost : ours"},
		{"hours lost, least work lost : ours"},
	}
	for _, r := range all {
		heads = append(heads, r.Load)
		for i, cell := range r.excerpt() {
			rows[i] = append(rows[i], cell)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|---|%s\n", strings.Join(heads, " | "), strings.Repeat("--:|", len(all)))
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	return b.String()
}

// excerpt returns the cells of a load in the table of README.md.
func (r *result) excerpt() []string {
	if r.Left != "" {
		return []string{r.Left, "", "", "", "", "", ""}
	}
	var silent, broken []string
	var theirs, least [2]string
	for i := range r.Cells {
		c := &r.Cells[i]
		known := i+1 < len(r.Cells) && strings.HasPrefix(r.Cells[i+1].Rule, c.Rule) // the next one knows more
		switch {
		case i == 0 || known:
			continue
		case c.Rule == leastWorkName:
			least = c.Both.texts()
			continue
		case strings.HasPrefix(c.Rule, "greedy"):
			theirs = c.Both.texts()
		}
		silent, broken = append(silent, count(c.Silent)), append(broken, count(c.Broken))
	}
	return []string{count(r.Cells[0].Plans), strings.Join(silent, ", "), strings.Join(broken, ", "), theirs[0], theirs[1], least[0], least[1]}
}

// texts tells victims, and hours lost.
func (q *pair) texts() [2]string {
	return [2]string{count(q.Victims) + " : " + count(q.OursVictims), hours(q.Lost) + " : " + hours(q.OursLost)}
}

// loadsOf says what the loads are, which laws were broken how often, and how often the
// library was wrong about a proof.
func loadsOf(all []*result) string {
	var b strings.Builder
	refuted := 0
	for _, r := range all {
		if r.Left == "" {
			fmt.Fprintf(&b, "* **%s**: %s arrivals. %s. Plans that break a law: %s.\n", r.Load, count(r.Works), r.What, r.laws())
			refuted += r.refuted()
		}
	}
	fmt.Fprintf(&b, "\nPlans cheaper than one of ours that said it was proven: %s.\n", count(refuted))
	return b.String()
}

// refuted returns how many plans of the library said that none is cheaper, and one was.
func (r *result) refuted() (n int) {
	for i := range r.Cells {
		n += r.Cells[i].Both.Refuted
	}
	return n
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
		if text != "" {
			parts = append(parts, c.Rule+": "+text)
		}
	}
	return cmp.Or(strings.Join(parts, "; "), "none")
}

func hours(seconds int64) string { return count(int((seconds + hour/2) / hour)) }

// count writes a number that is not negative for people, in groups of three digits.
func count(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", count(n/1000), n%1000)
}
