// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path"
	"strings"
)

// A mutant is one change of one line.
type mutant struct {
	file  string // below the root of the module, with slashes
	name  string // what the change is
	after string // a line that stands before the changed one; "" if the changed one is the only one of its text
	old   string // lines without the blanks around them
	new   string
	tests []string // the packages that judge it
}

// parse reads a list of mutants. A mutant is a paragraph of lines:
//
//	victims/rooms.go: law 2 ignores the ask
//	test ./internal/judge/oracle        (if another package shall judge it, too)
//	@func (r *Rooms) Reset(       (if the line stands in the file more than once: it follows this one)
//	-old line
//	+new line
//
// Lines that start with # are comments. Blanks around lines do not count.
func parse(text string) (mutants []mutant, err error) {
	for n, paragraph := range strings.Split(text, "\n\n") {
		m := mutant{}
		for line := range strings.Lines(paragraph) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			m.read(line)
		}
		switch {
		case m.file == "" && m.old == "" && m.new == "":
			continue // comments only
		case m.file == "" || m.name == "" || m.old == "" || m.old == m.new:
			return nil, fmt.Errorf("list.txt: paragraph %d (%q): want a file, a name, an old line and another new one", n+1, m.file)
		}
		m.tests = append(m.tests, "./"+path.Dir(m.file))
		mutants = append(mutants, m)
	}
	return mutants, nil
}

// read takes one line of a paragraph.
func (m *mutant) read(line string) {
	rest := strings.TrimSpace(line[1:])
	switch {
	case line[0] == '-':
		m.old = rest
	case line[0] == '+':
		m.new = rest
	case line[0] == '@':
		m.after = rest
	case strings.HasPrefix(line, "test "):
		m.tests = append(m.tests, strings.Fields(line)[1:]...)
	default:
		file, name, _ := strings.Cut(line, ":")
		m.file, m.name = file, strings.TrimSpace(name)
	}
}

// apply returns the text of a file with the mutant in it, and false if its old
// line is not there, or there more than once.
func (m *mutant) apply(text string) (string, bool) {
	lines := strings.SplitAfter(text, "\n")
	found, after := -1, m.after == ""
	for i, line := range lines {
		switch line := strings.TrimSpace(line); {
		case !after:
			after = strings.HasPrefix(line, m.after)
		case line != m.old:
		case found >= 0 && m.after == "":
			return "", false
		case found < 0:
			found = i
		}
	}
	if found < 0 {
		return "", false
	}
	lines[found] = m.new + "\n"
	return strings.Join(lines, ""), true
}
