// SPDX-License-Identifier: Apache-2.0

// Peers puts this library beside the real code of other schedulers, on one
// machine and in one run: what each decides, which rules that breaks, how long it
// takes, and whether it comes to rest.
//
//	go run . [-quick] [-only PART] [-worlds N] [-nodes N] [-folder DIR] [FILE...]
//	go run . -show PEER:FAULT
//
// It prints tables of Markdown, in three parts: judge, storms and speed. Into each
// FILE they are written in place of what is there between two lines, such as
// <!-- peers speed --> and <!-- /peers speed -->. It takes about ten minutes on two
// cores, and with -quick one.
//
// With -show it prints instead a document that shows a cell, with the answer as
// what is proposed. PEER is ours, yunikorn, kube or sampled, and FAULT a word or
// the text of a row, such as yunikorn:guarantee.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// Options are what the flags say.
type options struct {
	quick  bool
	worlds int
	folder string
	show   string
	only   string
	nodes  int
}

func main() {
	var o options
	flag.BoolVar(&o.quick, "quick", false, "small clusters and few worlds")
	flag.IntVar(&o.worlds, "worlds", 250, "how many random worlds")
	flag.IntVar(&o.nodes, "nodes", 5000, "how many nodes the largest cluster may have")
	flag.StringVar(&o.folder, "folder", "", "judge the documents of a folder, too")
	flag.StringVar(&o.only, "only", "", "one part of it: "+strings.Join(partNames(), ", "))
	flag.StringVar(&o.show, "show", "", "print a document that shows PEER:FAULT")
	flag.Parse()
	if o.quick {
		o.worlds = min(o.worlds, 50)
	}
	if err := run(&o, flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// parts are what there is to do.
var parts = []struct {
	name string
	run  func(*report) error
}{
	{"judge", (*report).judge},
	{"storms", (*report).storms},
	{"speed", (*report).time},
}

func partNames() (names []string) {
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

// run does what the options say, prints it and writes it into files.
func run(o *options, files []string, w io.Writer) error {
	if o.show != "" {
		return show(o, w)
	}
	texts, err := readPages(files) // before anything takes time
	if err != nil {
		return err
	}
	r, err := collect(o)
	if err != nil {
		return err
	}
	if err := writePages(files, texts, r); err != nil {
		return err
	}
	for _, part := range r.done {
		if _, err := io.WriteString(w, r.page(part)+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// collect does the parts that the options want.
func collect(o *options) (*report, error) {
	r := &report{options: *o}
	for _, part := range parts {
		if o.only != "" && o.only != part.name {
			continue
		}
		if err := part.run(r); err != nil {
			return nil, err
		}
		r.done = append(r.done, part.name)
	}
	return r, nil
}
