// SPDX-License-Identifier: Apache-2.0

// Live tells what preemption would do in a cluster as it is.
//
//	kubectl get nodes,pods,priorityclasses,poddisruptionbudgets -A -o json | live -queues queues.yaml
//
// README.md in this folder explains what is read, and what becomes of it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/plain"
)

// The exit statuses.
const (
	done = 0
	bad  = 2
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// options are the arguments.
type options struct {
	document, each, strict, hard    bool
	label, leaf, ownLeaf, partition string
	scarce                          string
	queues, topology                []string
	now                             time.Time
	files                           []string
	progress                        *progress
}

// parse reads the arguments. Usage, and what the flags do not allow, go to stderr.
func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{now: time.Now().UTC().Truncate(time.Second)}
	flags := flag.NewFlagSet("live", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "Live tells what preemption would do in a cluster: who waits, who could run at whose cost, and why the others cannot.")
		fmt.Fprintln(stderr, "usage: live [-document] [FLAGS] [FILE...]")
		flags.PrintDefaults()
	}
	flags.BoolVar(&o.document, "document", false, "print the document that examples/plan decides, and no answer")
	flags.BoolVar(&o.each, "each", false, "decide each by itself, on the cluster as it is, and not after those before it")
	flags.BoolVar(&o.strict, "strict-priority", false, "victims have a lower priority, and not an equal one")
	flags.BoolVar(&o.hard, "hard-budgets", false, "disruption budgets are never overrun")
	flags.Func("queues", "`FILE` of queues: a tree as examples/kubernetes has it, YuniKorn's queues.yaml, a ConfigMap with either, objects of Kueue or Volcano, or what Slurm's scontrol or sacctmgr prints; may be given several times", func(file string) error {
		o.queues = append(o.queues, file)
		return nil
	})
	flags.StringVar(&o.partition, "partition", "", "`NAME` of the partition of YuniKorn's queues to take")
	flags.StringVar(&o.label, "queue-label", "go-preempt.github.io/queue", "`LABEL` of pods and namespaces that names a leaf, by its path below the root")
	flags.StringVar(&o.leaf, "default-queue", "", "`PATH`, below the root, of the leaf for pods that name none")
	flags.StringVar(&o.ownLeaf, "own-leaf", "met", "`WHEN` pods of the same queue and of lower priority may make room, if their queue does not say: never, met or branch")
	flags.StringVar(&o.scarce, "scarce", "", "`TYPES` whose guarantees count: all; auto, those of which there is too little for all that runs and waits; or a list with commas between. Default: auto with queues of Kueue and Volcano, else all")
	topology := flags.String("topology", "topology.kubernetes.io/zone", "`LABELS` of nodes that are domains, the widest first, with commas between")
	flags.Func("now", "`INSTANT` of the dump, such as 2026-01-01T00:00:00Z; default: now", func(s string) (err error) {
		o.now, err = time.Parse(time.RFC3339, s)
		o.now = o.now.UTC()
		return err
	})
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if *topology != "" {
		o.topology = strings.Split(*topology, ",")
	}
	switch o.ownLeaf {
	case "never":
		o.ownLeaf = ""
	case "met", "branch":
	case "any":
		return nil, errors.New("-own-leaf any is gone, for it let pods replace each other for ever: use met")
	default:
		return nil, fmt.Errorf("-own-leaf %q: want never, met or branch", o.ownLeaf)
	}
	if o.files = flags.Args(); len(o.files) == 0 {
		o.files = []string{"-"}
	}
	return o, nil
}

// run is the program: arguments and streams in, exit status out.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return done
	}
	if err != nil {
		return fail(stderr, err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // half as much memory, and hardly more time
	o.progress = newProgress(stderr)
	c, err := collect(o, stdin)
	o.progress.end()
	if err != nil {
		return fail(stderr, err)
	}
	text, doc, err := c.document()
	if err != nil {
		return fail(stderr, err)
	}
	var told []byte
	if !o.document {
		text.Tasks = nil // they are many
		if told, err = answer(doc); err != nil {
			return fail(stderr, err)
		}
	}
	for _, note := range c.notes.lines() {
		fmt.Fprintln(stderr, plain.Line("live: "+note))
	}
	if o.document {
		err = text.write(stdout)
	} else {
		_, err = stdout.Write(told)
	}
	if err != nil {
		return fail(stderr, err)
	}
	return done
}

// progress tells on a terminal how far a long reading is. nil tells nothing.
type progress struct {
	out  io.Writer
	next time.Time
	told bool
}

// newProgress returns one for a terminal, else nil.
func newProgress(out io.Writer) *progress {
	f, ok := out.(*os.File)
	if !ok {
		return nil
	}
	if is, err := f.Stat(); err != nil || is.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return &progress{out: out, next: time.Now().Add(patience)}
}

// patience is how long a reading may take that tells nothing.
const patience = 2 * time.Second

// step notes that an object was read, the n-th of its file.
func (p *progress) step(n int) {
	if p == nil || n%1000 != 0 || time.Now().Before(p.next) {
		return
	}
	p.told, p.next = true, time.Now().Add(patience/4)
	fmt.Fprintf(p.out, "\rlive: %d objects read", n)
}

// end ends the line.
func (p *progress) end() {
	if p != nil && p.told {
		fmt.Fprintln(p.out)
	}
}

// fail reports what was wrong: all of it, if errors are joined.
func fail(stderr io.Writer, err error) int {
	for _, err := range parts(err) {
		fmt.Fprintln(stderr, plain.Line("live: "+err.Error()))
	}
	return bad
}
