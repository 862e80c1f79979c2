// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/go-preempt/preempt/internal/judge/exam"
)

// A sheet is a table of judgements with its title.
type sheet struct {
	title string
	*exam.Sheet
}

// judge has everybody decide the cases, random worlds and a folder.
func (r *report) judge() error {
	papers, err := examination()
	if err != nil {
		return err
	}
	if err := r.sheet("The examination", papers); err != nil {
		return err
	}
	if papers, err = worlds(r.worlds); err != nil {
		return err
	}
	if err := r.sheet("Random worlds", papers); err != nil || r.folder == "" {
		return err
	}
	return r.sheet("The documents of "+r.folder, folder(r.folder))
}

// worlds returns random papers.
func worlds(n int) (all []exam.Paper, err error) {
	for i := range n {
		p, err := exam.Random(i)
		if err != nil {
			return nil, err
		}
		all = append(all, *p)
	}
	return all, nil
}

// sheet judges some papers. An answer that shows a defect of this library is an
// error: all else in the table would rest on it.
func (r *report) sheet(title string, papers []exam.Paper) error {
	s := exam.NewSheet(everybody()...)
	for i := range papers {
		if err := s.Add(&papers[i]); err != nil {
			return err
		}
	}
	if len(s.Defects) > 0 {
		return fmt.Errorf("a lawful answer is cheaper than what this library proved to be the least: %v", s.Defects)
	}
	r.sheets = append(r.sheets, sheet{title, s})
	return nil
}

// show prints the first document that shows a fault of a peer.
func show(o *options, w io.Writer) error {
	word, fault, _ := strings.Cut(o.show, ":")
	peer, err := peerOf(word)
	if err != nil {
		return err
	}
	papers, err := examination()
	if err != nil {
		return err
	}
	random, err := worlds(o.worlds)
	if err != nil {
		return err
	}
	paper, j, err := exam.Find(peer, append(papers, random...), fault)
	if err != nil {
		return err
	}
	text, err := paper.Proposed(&j.Answer)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}
