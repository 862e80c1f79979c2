// SPDX-License-Identifier: Apache-2.0

// Worth shows what the library buys. Over three loads it decides the asks of a simulated
// stream of arrivals and ends, and asks others about the same state: a greedy that a good
// programmer writes in an afternoon, and the rules of the kube-scheduler and of YuniKorn.
//
//	go run ./bench/worth [-json] [-moves] [-events N] [-seed N] [-traces DIR] [FILE...]
//	go run ./bench/worth -moves [-events N] [-seed N] [-traces DIR]
//
// With -moves it shows what becomes of the same asks if all tasks may move instead of stopping.
//
// These are the rules as their documentation has them, in Go of our own, and not the
// programs: those run in bench/peers. The state goes on with what the library decides. The
// auditor of the library judges all answers, its own as well, and shares no code with its planner.
//
// The table is Markdown. Into each FILE it is written in place of what is there between two
// lines, <!-- worth --> and <!-- /worth -->. The part of it that README.md has goes between
// <!-- excerpt --> and <!-- /excerpt -->, what the loads are and which laws were broken between
// <!-- worth loads --> and <!-- /worth loads -->. A file has one of these or more. For a seed they
// are the same on every machine.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Options are what the flags say.
type options struct {
	json   bool
	events int
	seed   uint64
	traces string
	moves  bool
}

func main() {
	var o options
	flag.BoolVar(&o.json, "json", false, "print JSON instead of the table")
	flag.IntVar(&o.events, "events", 5000, "how many arrivals each load has")
	flag.Uint64Var(&o.seed, "seed", 1, "of the two loads that are made up")
	flag.StringVar(&o.traces, "traces", filepath.Join("..", "shared", "traces"), "the folder with philly_jobs.csv and philly_vcs.csv")
	flag.BoolVar(&o.moves, "moves", false, "show what changes if tasks may move")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: worth [-json] [-events N] [-seed N] [-traces DIR] [FILE...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := run(&o, flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "worth:", err)
		os.Exit(1)
	}
}

// run plays all loads, prints the table and writes it into files.
func run(o *options, files []string, w io.Writer) error {
	if o.events < 1 {
		return fmt.Errorf("-events %d: want 1 or more", o.events)
	}
	texts := make([]string, len(files))
	for i, file := range files { // before anything takes time
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if _, err := splice(string(text), nil); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		texts[i] = string(text)
	}
	if o.moves {
		return playMoves(o, w)
	}
	all, err := playAll(o)
	if err != nil {
		return err
	}
	for i, file := range files {
		text, _ := splice(texts[i], all)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if !o.json {
		_, err := io.WriteString(w, tableOf(all)+"\n"+loadsOf(all))
		return err
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(all)
}

// loadsFor returns the loads. The trace is nil, and not among them, if it is not there.
func loadsFor(o *options) (loads []*load, philly *load, err error) {
	loads = []*load{gpuLoad(o.seed, o.events), serviceLoad(o.seed, o.events)}
	philly, err = phillyLoad(o.traces, 4*o.events)
	switch {
	case err == nil:
		loads = append(loads, philly)
	case !missing(err):
		return nil, nil, err
	}
	return loads, philly, nil
}

// playMoves plays the loads for the table of moves.
func playMoves(o *options, w io.Writer) error {
	loads, _, err := loadsFor(o)
	if err != nil {
		return err
	}
	for _, l := range loads {
		p, err := newPlayer(l)
		if err != nil {
			return err
		}
		p.mover = newMover(p.lib)
		if err := p.run(); err != nil {
			return err
		}
		p.mover.tell(w, l.name)
	}
	return nil
}

// playAll plays the loads. A trace that is not there is left out, and so is a load without
// plans; the result says so.
func playAll(o *options) (all []*result, err error) {
	loads, philly, err := loadsFor(o)
	if err != nil {
		return nil, err
	}
	for _, l := range loads {
		r, err := play(l)
		if err != nil {
			return nil, err
		}
		if r.Asked == 0 {
			r.Left = "left out: nobody had to stop for its " + count(r.Works) + " arrivals; take more -events"
		}
		all = append(all, r)
	}
	if philly == nil {
		all = append(all, &result{Load: "Philly trace", Left: "left out: there is no " + filepath.Join(o.traces, "philly_jobs.csv")})
	}
	return all, nil
}

// splice returns a text with the results between the lines of the marks. It needs those of
// one part.
func splice(text string, all []*result) (string, error) {
	marked := false
	for _, part := range []struct{ name, content string }{
		{"worth", tableOf(all)}, {"excerpt", excerptOf(all)}, {"worth loads", loadsOf(all)},
	} {
		begin, end := "<!-- "+part.name+" -->\n", "<!-- /"+part.name+" -->\n"
		before, rest, begins := strings.Cut(text, begin)
		_, after, ends := strings.Cut(rest, end)
		if begins && ends {
			text, marked = before+begin+part.content+end+after, true
		}
	}
	if !marked {
		return "", errors.New("no lines <!-- worth --> and <!-- /worth -->")
	}
	return text, nil
}
