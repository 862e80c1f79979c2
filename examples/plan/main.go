// Plan decides scenario documents and prints what it decided and why.
//
//	plan [-explain | -json | -check] [FILE...]
//
// A document describes a cluster (queues, nodes, tasks) and a list of
// requests: which tasks should stop so that this ask may run? A FILE may be a
// directory, which stands for the *.json files in it, or "-" for standard
// input. Without any, plan decides a document of its own, demo.json.
//
// Plan prints, per document, the queues and nodes before and after, and for
// each request the decision with its reasons. With -explain it also prints, for
// each decision, what every queue, node and task was to it, and after a refusal
// which single rule would have to give. With -json it prints the result
// documents and nothing else, one per line. With -check it compares results
// with what the documents expect and prints a line per difference and a last
// line that counts.
//
// The exit status is 0 where every request was decided, with or without a
// plan; 1 where -check found a difference; 2 where anything was wrong with the
// arguments or a document. With 2 nothing is on standard output.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// The exit statuses.
const (
	decided = iota
	differs
	bad
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the program: arguments and streams in, exit status out.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("plan", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: plan [-explain | -json | -check] [FILE...]")
		flags.PrintDefaults()
	}
	explain := flags.Bool("explain", false, "print why: every rule that decided")
	asJSON := flags.Bool("json", false, "print result documents, one per line")
	check := flags.Bool("check", false, "compare with what the documents expect")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return decided
	} else if err != nil {
		return bad
	}
	if *explain && *asJSON || *explain && *check || *asJSON && *check {
		return fail(stderr, errors.New("-explain, -json and -check exclude each other"))
	}
	sources, err := read(flags.Args(), stdin)
	if err != nil {
		return fail(stderr, err)
	}
	runs, err := decide(sources, how{explain: *explain, lenient: *check})
	if err != nil {
		return fail(stderr, err)
	}

	// Everything is decided before anything is printed.
	var out bytes.Buffer
	status := decided
	switch {
	case *asJSON:
		err = writeJSON(&out, runs)
	case *check:
		status = writeDifferences(&out, runs)
	default:
		writeText(&out, runs)
	}
	if err == nil {
		_, err = stdout.Write(out.Bytes())
	}
	if err != nil {
		return fail(stderr, err)
	}
	return status
}

// fail reports what was wrong.
func fail(stderr io.Writer, err error) int {
	fmt.Fprintf(stderr, "plan: %v\n", err)
	return bad
}
