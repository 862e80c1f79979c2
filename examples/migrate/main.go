// SPDX-License-Identifier: Apache-2.0

// Migrate writes a scenario document from the configuration of a cluster that
// runs YuniKorn.
//
//	migrate [-queues FILE] [-partition NAME] [-manifests FILE...]
//
// The queues come from YuniKorn's queues file in its JSON form: what a converter
// makes of queues.yaml, or what the scheduler itself answers. Either of
//
//	yq -o=json queues.yaml
//	curl -H 'Accept: application/json' localhost:9080/ws/v1/config
//
// will do, for the case of field names does not matter. The ConfigMap that holds
// it is taken, too, if its queues.yaml is written in JSON. One partition is
// taken: the named one, or the only one, or that of the name "default".
//
// Priority classes and disruption budgets come from Kubernetes manifests in
// JSON: single objects, lists, any number of them after each other, as in
//
//	kubectl get priorityclasses,poddisruptionbudgets -A -o json
//
// A budget has left what status.disruptionsAllowed says, whether it was given as
// minAvailable or as maxUnavailable. It is soft, as it is to the scheduler of
// Kubernetes; "hard": true makes it a wall.
//
// A FILE may be "-" for standard input. Quantities mean what they mean to
// YuniKorn: vcore in cores, or thousandths with the suffix m, and everything
// else as Kubernetes has it. Types keep their names, so that nodes and tasks
// have vcore too, and not cpu.
//
// The document has the queues, classes and budgets, and no nodes, tasks and
// requests yet. Fill those in, and examples/plan decides it. To try it, in the folder of
// the module:
//
//	go run ./examples/migrate -queues examples/migrate/testdata/queues.json -manifests examples/migrate/testdata/budgets.json >mine.json
//	go run ./examples/plan mine.json
//
// So
//
//	{"partitions": [{"name": "default", "queues": [{"name": "root", "submitacl": "*", "queues": [
//		{"name": "prod", "resources": {"guaranteed": {"vcore": 10, "memory": "32Gi"}}},
//		{"name": "batch", "properties": {"preemption.policy": "fence"}}]}]}]}
//
// becomes
//
//	{
//	  "name": "default",
//	  "queues": {
//	    "name": "root",
//	    "queues": [
//	      {"name": "prod", "resources": {"guaranteed": {"memory": "32Gi", "vcore": "10"}}},
//	      {"name": "batch", "properties": {"preemption.policy": "fence"}}
//	    ]
//	  },
//	  "priorityClasses": [],
//	  "nodes": [],
//	  "tasks": [],
//	  "requests": []
//	}
//
// with more line breaks. Nothing is dropped in silence: what has no place in a
// document is listed on standard error with its place, its value and the
// reason, and so is what the library warns of. Here that is
//
//	migrate: queues.json: partitions[0].queues[0].submitacl: "*": left out: who may submit does not matter to preemption
//
// The exit status is 0 if a document was written, listed or not, and 2 if
// anything was wrong with arguments or files. With 2 nothing is on standard
// output.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/go-preempt/preempt/internal/plain"
)

// The exit statuses.
const (
	written = 0
	bad     = 2
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// options are the arguments. Empty names are absent.
type options struct {
	queues, partition string
	manifests         []string
}

// parse reads the arguments. What is wrong with the flags it has told already,
// and then ok is false.
func parse(args []string, stderr io.Writer) (o options, status int, ok bool) {
	flags := flag.NewFlagSet("migrate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "Migrate makes a scenario document of queues, priority classes and disruption budgets.")
		fmt.Fprintln(stderr, "usage: migrate [-queues FILE] [-partition NAME] [-manifests FILE...]")
		flags.PrintDefaults()
	}
	flags.StringVar(&o.queues, "queues", "", "`FILE` of YuniKorn's queues, in JSON")
	flags.StringVar(&o.partition, "partition", "", "`NAME` of the partition to take")
	flags.Func("manifests", "`FILE` of priority classes and disruption budgets, in JSON; the arguments that remain are more of them", func(file string) error {
		o.manifests = append(o.manifests, file)
		return nil
	})
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return o, written, false
	case err != nil:
		return o, bad, false
	}
	if err := o.more(flags.Args()); err != nil {
		return o, fail(stderr, err), false
	}
	return o, written, true
}

// more takes the arguments that remain, and reports options that make no sense.
func (o *options) more(rest []string) error {
	if len(rest) > 0 && o.manifests == nil {
		return fmt.Errorf("argument %q: want none without -manifests", rest[0])
	}
	for _, arg := range rest {
		if len(arg) > 1 && arg[0] == '-' {
			return fmt.Errorf("argument %q: flags come before files", arg)
		}
	}
	o.manifests = append(o.manifests, rest...)
	switch {
	case o.queues == "" && o.manifests == nil:
		return errors.New("want -queues, or -manifests, or both")
	case o.queues == "" && o.partition != "":
		return errors.New("-partition goes with -queues")
	}
	return nil
}

// run is the program: arguments and streams in, exit status out.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	o, status, ok := parse(args, stderr)
	if !ok {
		return status
	}
	texts, err := readAll(&o, stdin)
	if err != nil {
		return fail(stderr, err)
	}
	out, remarks, err := migrate(texts, o.partition)
	if err == nil {
		_, err = stdout.Write(out)
	}
	if err != nil {
		return fail(stderr, err)
	}
	for _, remark := range remarks {
		say(stderr, remark)
	}
	return written
}

// fail reports what was wrong: all of it, if errors are joined.
func fail(stderr io.Writer, err error) int {
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, err := range all {
		say(stderr, err)
	}
	return bad
}

// say writes one line, whatever names are in it.
func say(stderr io.Writer, err error) {
	fmt.Fprintln(stderr, plain.Line("migrate: "+err.Error()))
}
