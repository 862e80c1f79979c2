// SPDX-License-Identifier: Apache-2.0

// Plan decides scenario documents and prints what it decided and why.
//
//	plan [-explain | -json | -check | -audit | -dot | -snapshot] [-svg FILE]
//	     [-request N] [-color auto|always|never] [FILE...]
//	plan -lint [-json] [-expect-clean] [-lint-states N] [-lint-rules WHOSE] [FILE...]
//	plan -against OLD [-policy NEW] [-expect-same] [-json] [-svg FILE] [FILE...]
//	plan -when [-json] [FILE...]
//
// A document describes a cluster (queues, nodes, tasks) and a list of
// requests: which tasks should stop so that this ask may run? A FILE may be a
// directory, which stands for the *.json files in it, or "-" for standard
// input. Without any, plan decides a document of its own, demo.json. README.md
// in this folder explains every field of a document and of a result.
//
// Plan prints, per document, the queues and nodes before and after, and for
// each request the decision with its reasons. With -explain it also prints, for
// each decision, what every queue, node and task was to it, and after a refusal
// which single rule would have to give. With -json it prints the result
// documents and nothing else, one per line. With -check it compares results
// with what the documents expect and prints a line per difference and a last
// line that counts. With -audit it judges the plans that the documents propose,
// somebody else's, beside its own; docs/examination.md explains that. With -dot it
// prints a graph for Graphviz. With -snapshot it prints what a document decides at
// the request that -request gives, or first, as a document of its own, with the
// cluster as it is by then. These exclude each other, but -audit -json prints
// the judgements as JSON, a line per document.
//
// With -lint it decides nothing and says what can go wrong with a document as a
// policy: README.md tells of it. -lint-states N looks deeper for loops, -lint-rules
// follows the rules of others, and with -expect-clean the exit status is 1 if
// anything but notes was found. -lint -json prints a line per document.
//
// With -svg it also draws a picture and writes it to FILE; if that is "-", the
// picture goes to standard output, and nothing else does. Graph and picture are
// of one request: of the index that -request gives, or the first with victims.
//
// With -against it decides each document twice, under the policy of OLD and under
// its own, or that of NEW, and prints what changes, and who gains and who pays.
// With -when it prints, of each request that is refused or waits, when it could
// start without victims, and which single change would give it a place now.
// README.md explains both.
//
// The exit status is 0 if every request was decided, with or without a plan; 1
// if -check found a difference, -audit found something broken, -lint found anything with
// -expect-clean, or -against a decision that changes with -expect-same; 2 if anything was wrong with the arguments or a
// document. With 2 nothing is on standard output, and all mistakes of all
// documents are on standard error.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"

	"github.com/go-preempt/preempt/internal/judge/scenario"
)

// The exit statuses.
const (
	decided = iota
	differs
	bad
)

// options are the arguments.
type options struct {
	explain, json, check, audit, dot, snapshot bool

	against, policy  string
	expectSame, when bool

	svg     string
	request int
	colour  string
	files   []string
	lint    lintOptions
}

// parse reads the arguments. Usage and what the flags do not allow go to
// stderr.
func (o *options) parse(args []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("plan", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "Plan decides scenario documents, an embedded one without FILE, and prints what it decided.")
		fmt.Fprintln(stderr, "usage: plan [-explain | -json | -check | -audit | -dot | -snapshot] [-svg FILE] [-request N] [-color auto|always|never] [FILE...]")
		fmt.Fprintln(stderr, "       plan -lint [-json] [-expect-clean] [-lint-states N] [-lint-rules WHOSE] [FILE...]")
		fmt.Fprintln(stderr, "       plan -against OLD [-policy NEW] [-expect-same] [-json] [-svg FILE] [FILE...]")
		fmt.Fprintln(stderr, "       plan -when [-json] [FILE...]")
		flags.PrintDefaults()
	}
	flags.BoolVar(&o.explain, "explain", false, "print why: every rule that decided")
	flags.BoolVar(&o.json, "json", false, "print result documents, one per line")
	flags.BoolVar(&o.check, "check", false, "compare with what the documents expect")
	flags.BoolVar(&o.audit, "audit", false, "judge the plans that the documents propose; also with -json")
	flags.BoolVar(&o.snapshot, "snapshot", false, "print a decision as a document of its own")
	flags.BoolVar(&o.dot, "dot", false, "print a graph for Graphviz")
	flags.StringVar(&o.against, "against", "", "print what the policy of each document changes beside that of `OLD`; also with -json")
	flags.StringVar(&o.policy, "policy", "", "with -against: the policy of `NEW` in place of each document's own")
	flags.BoolVar(&o.expectSame, "expect-same", false, "with -against: exit status 1 if a decision changes")
	flags.BoolVar(&o.when, "when", false, "print when what has no place could start, and what would make it sooner; also with -json")
	flags.StringVar(&o.svg, "svg", "", "also draw a picture and write it to `FILE`; -: to standard output, and nothing else")
	flags.IntVar(&o.request, "request", firstPlan, "`N` is the request to draw, or of the snapshot; -1: the first with victims, or the first")
	flags.StringVar(&o.colour, "color", colourAuto, "`WHEN` text is coloured, and folded to the width of the terminal: auto, always or never")
	o.lint.flags(flags)
	err := flags.Parse(args)
	o.files = flags.Args()
	return err
}

// problem returns what makes no sense about the arguments.
func (o *options) problem() error {
	ways := 0
	for _, way := range []bool{o.explain, o.json && !o.audit && !o.lint.on && o.against == "" && !o.when, o.against != "", o.when, o.check, o.audit, o.dot, o.snapshot, o.lint.on} {
		if way {
			ways++
		}
	}
	switch {
	case ways > 1:
		return errors.New("-explain, -json, -check, -audit, -dot, -snapshot, -against, -when and -lint exclude each other, but for -json with the last three and -audit")
	case o.against == "" && (o.policy != "" || o.expectSame):
		return errors.New("-policy and -expect-same are for -against")
	case o.against != "" && o.svg == "-" && o.json || o.when && o.svg != "":
		return errors.New("-json and -when have no picture on standard output")
	case ways > 0 && o.against == "" && o.svg == "-":
		return errors.New("-svg - has standard output to itself, without -explain, -json, -check, -audit, -dot and -snapshot")
	case o.lint.on && o.svg != "":
		return errors.New("-lint draws no picture: leave -svg out")
	case o.request < firstPlan:
		return fmt.Errorf("-request %d: want 0 or more", o.request)
	case !slices.Contains(colourWhen, o.colour):
		return fmt.Errorf("-color %q: want auto, always or never", o.colour)
	}
	return o.lint.problem()
}

// run is the program: arguments and streams in, exit status out.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var o options
	if err := o.parse(args, stderr); errors.Is(err, flag.ErrHelp) {
		return decided
	} else if err != nil {
		return bad
	}
	if err := o.problem(); err != nil {
		return fail(stderr, err)
	}
	sources, err := read(o.files, stdin)
	if err != nil {
		return fail(stderr, err)
	}
	if bytesOf(sources) > large {
		debug.SetGCPercent(25) // memory is dearer than time then
	}
	// Everything is decided and drawn before anything is printed.
	var out bytes.Buffer
	if o.against != "" || o.when || o.lint.on {
		return o.runBeside(&out, sources, stdin, stdout, stderr)
	}
	if o.snapshot {
		if err := o.writeSnapshots(&out, sources); err != nil {
			return fail(stderr, err)
		}
	}
	var runs []outcome
	if !o.snapshot || o.svg != "" { // else it was decided for the snapshot, and nobody draws it
		if runs, err = decide(sources, o.way()); err != nil {
			return fail(stderr, err)
		}
	}
	status, err := o.write(&out, runs)
	if err == nil {
		err = o.draw(runs)
	}
	if err == nil {
		_, err = stdout.Write(o.coloured(out.Bytes(), stdout))
	}
	if err != nil {
		return fail(stderr, err)
	}
	return status
}

// runBeside is run for -lint, -against and -when, which decide documents more than once
// or not at all.
func (o *options) runBeside(out *bytes.Buffer, sources []scenario.Text, stdin io.Reader, stdout, stderr io.Writer) int {
	var status int
	var picture []byte
	var err error
	switch {
	case o.lint.on:
		status, err = o.writeLint(out, sources)
	case o.when:
		err = o.writeWhen(out, sources)
	default:
		status, picture, err = o.writeAgainst(out, sources, stdin)
	}
	if err == nil && o.svg == "-" {
		out.Write(picture)
	} else if err == nil && o.svg != "" {
		err = os.WriteFile(o.svg, picture, 0o644)
	}
	if err == nil {
		_, err = stdout.Write(out.Bytes())
	}
	if err != nil {
		return fail(stderr, err)
	}
	return status
}

// way returns how documents are carried out.
func (o *options) way() way {
	switch {
	case o.explain:
		return (*scenario.Document).RunExplained
	case o.audit:
		return (*scenario.Document).RunJudged
	}
	return (*scenario.Document).Run
}

// write writes what is asked for, and returns the exit status.
func (o *options) write(out *bytes.Buffer, runs []outcome) (int, error) {
	switch {
	case o.snapshot:
		return decided, nil // they are written
	case o.svg == "-":
		s, err := sceneOf(runs, o.request)
		if err == nil {
			out.Write(drawSVG(s))
		}
		return decided, err
	case o.audit && o.json:
		return writeJudgementsJSON(out, runs)
	case o.audit:
		return writeJudgements(out, runs), nil
	case o.json:
		return decided, writeJSON(out, runs)
	case o.check:
		return writeDifferences(out, runs), nil
	case o.dot:
		s, err := sceneOf(runs, o.request)
		if err == nil {
			writeDot(out, s)
		}
		return decided, err
	}
	writeText(out, runs)
	return decided, nil
}

// draw writes the picture, if there is to be one in a file.
func (o *options) draw(runs []outcome) error {
	if o.svg == "" || o.svg == "-" {
		return nil
	}
	s, err := sceneOf(runs, o.request)
	if err != nil {
		return err
	}
	return os.WriteFile(o.svg, drawSVG(s), 0o644)
}

// coloured returns a text with colours, if it is for people who want them.
func (o *options) coloured(text []byte, stdout io.Writer) []byte {
	if o.json || o.check || o.audit || o.dot || o.snapshot || o.svg == "-" || !wantsColour(o.colour, stdout, os.Getenv) {
		return text
	}
	return paint(text, widthOf(os.Getenv))
}

// fail reports what was wrong.
func fail(stderr io.Writer, err error) int {
	fmt.Fprintf(stderr, "plan: %v\n", err)
	return bad
}
