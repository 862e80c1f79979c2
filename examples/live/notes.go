// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// notes are what a document cannot say. A cluster has many pods that are alike: what
// is the same is told once, with an example.
type notes struct {
	order []string
	about map[string]*note
}

type note struct {
	first string // the first thing that it is about; empty: the note is a whole line
	count int
}

// add notes something about a thing.
func (n *notes) add(about, what string) {
	if n.about == nil {
		n.about = map[string]*note{}
	}
	if n.about[what] == nil {
		n.about[what] = &note{first: about}
		n.order = append(n.order, what)
	}
	n.about[what].count++
}

// say adds a line.
func (n *notes) say(line string) { n.add("", line) }

// lines returns the notes, each on a line.
func (n *notes) lines() (all []string) {
	for _, what := range n.order {
		line := n.about[what].first
		if line == "" {
			all = append(all, what)
			continue
		}
		if more := n.about[what].count - 1; more > 0 {
			line += fmt.Sprintf(" and %d more", more)
		}
		all = append(all, line+": "+what)
	}
	return all
}
