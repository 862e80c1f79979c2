// SPDX-License-Identifier: Apache-2.0

package exam

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// A Sheet counts what is wrong with the answers of some peers to some papers.
type Sheet struct {
	Peers   []Rules
	columns []column
	papers  int
	// Defects has the papers on which an answer shows that this library is
	// wrong.
	Defects []string
	// lawful is how many papers this library has a plan for.
	lawful int
}

// A column has the counts of a peer.
type column struct {
	peer   Peer
	judged int // papers that it could be told
	plans  int // answers with victims
	faulty int // papers with a fault
	counts map[Fault]int
	first  map[Fault]string // the paper that shows it
}

// NewSheet returns an empty sheet. The first of the peers should be this library.
func NewSheet(peers ...Peer) *Sheet {
	s := &Sheet{}
	for _, p := range peers {
		s.Peers = append(s.Peers, p.Rules())
		s.columns = append(s.columns, column{peer: p, counts: make(map[Fault]int), first: make(map[Fault]string)})
	}
	return s
}

// Add has all peers decide a paper and counts what is wrong. What a peer cannot
// be told is passed over.
func (s *Sheet) Add(paper *Paper) error {
	s.papers++
	for i := range s.columns {
		c := &s.columns[i]
		j, err := Judge(c.peer, paper)
		switch {
		case errors.Is(err, ErrCannot):
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", paper.Name, err)
		}
		if i == 0 && j.Ours == "plan" {
			s.lawful++
		}
		s.note(c, paper, j)
	}
	return nil
}

// note counts a judgement.
func (s *Sheet) note(c *column, paper *Paper, j *Judgement) {
	c.judged++
	if len(j.Answer.Victims) > 0 {
		c.plans++
	}
	if j.Defect {
		s.Defects = append(s.Defects, paper.Name)
	}
	promises, faulty := c.peer.Rules().Promises, false
	for _, f := range j.Faults {
		if c.counts[f]++; c.counts[f] == 1 {
			c.first[f] = paper.Name
		}
		faulty = faulty || promises[f] != ""
	}
	if faulty {
		c.faulty++
	}
}

// Broken returns how often a peer, by its place, breaks a promise of its own.
func (s *Sheet) Broken(i int) int { return s.columns[i].faulty }

// Count returns how often a fault was found with a peer, and the first paper
// that shows it.
func (s *Sheet) Count(i int, f Fault) (count int, paper string) {
	return s.columns[i].counts[f], s.columns[i].first[f]
}

// Write prints the sheet as a table of Markdown: in bold what breaks a promise
// of the peer's own, and plain what breaks a rule that only we have. A fault
// that nobody has is left out.
func (s *Sheet) Write(w io.Writer) error {
	var b strings.Builder
	row := func(head string, cell func(c *column) string) {
		fmt.Fprintf(&b, "| %s |", head)
		for i := range s.columns {
			fmt.Fprintf(&b, " %s |", cell(&s.columns[i]))
		}
		b.WriteByte('\n')
	}
	row("", func(c *column) string { return c.peer.Rules().Name })
	row("---", func(*column) string { return "--:" })
	row(fmt.Sprintf("could be told, of %d", s.papers), func(c *column) string { return fmt.Sprint(c.judged) })
	row("answered with victims", func(c *column) string { return fmt.Sprint(c.plans) })
	row("**break a promise of its own**", func(c *column) string { return fmt.Sprintf("**%d**", c.faulty) })
	for _, f := range s.found() {
		row(f.String(), func(c *column) string { return c.cell(f) })
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cell returns the count of a fault.
func (c *column) cell(f Fault) string {
	n := c.counts[f]
	if n > 0 && c.peer.Rules().Promises[f] != "" {
		return fmt.Sprintf("**%d**", n)
	}
	return fmt.Sprint(n)
}

// found returns the faults that somebody has, in their order.
func (s *Sheet) found() (all []Fault) {
	for _, f := range Faults {
		for i := range s.columns {
			if s.columns[i].counts[f] > 0 {
				all = append(all, f)
				break
			}
		}
	}
	return all
}
