// SPDX-License-Identifier: Apache-2.0

// Replay runs the pods of a production trace through the planner and reports
// what became of them.
//
//	replay [-nodes FILE -pods FILE] [-stretch N] [-every N] [-retries N]
//	       [-grace SECONDS] [-fair] [-svg FILE] [-json] [-quiet]
//	replay -gangs [-jobs FILE -vcs FILE [-first DAY] [-days N]] [-svg FILE] [-json] [-quiet]
//
// The files are those of the Alibaba GPU cluster trace of 2023 (public data set
// clusterdata, folder cluster-trace-gpu-v2023): CSV with a line of headings.
// Without files, replay runs a small workload that it generates, the same every
// time. A trace has no tenants: package internal/judge/trace says who is in which
// queue, what the queues are guaranteed and which priorities pods have.
// replay.go says when pods ask, wait, stop and end.
//
// A trace is a sample. Of the one above, no more than 56 pods live at once, and
// no pod of it ever finds no room. So pods of a trace stay for ever, as its
// total demand fills the cluster to 98 %. Two flags make another load: with
// -stretch N pods live N times as long as in the trace, and with -every N only
// every Nth node is there. So -stretch 100 -every 8 keeps a part of the cluster
// full while pods come and go.
//
// Every placement is audited against the laws, and plans are counted against
// the bound that the theorem of storm freedom puts on them. Progress is
// reported on standard error.
//
// Columns of the pods that are not needed may be missing: gpu_spec, qos,
// creation_time and deletion_time. What is assumed then is told on standard
// error.
//
// With -svg the workload is replayed a second time, in which nobody may
// preempt, and a picture for browsers compares the two: what each tenant uses
// over time, when pods of it were stopped, how long its queues were under their
// guarantee while pods of them waited, which is what preemption shortens, and how
// long pods waited. The figures in the text compare the two as well.
//
// With -fair nothing is guaranteed to anybody. Pods belong to four teams by their
// names, about as many to each, all of the same priority. The teams share the
// cluster by weights, 4 : 3 : 2 : 1, and their fair shares of what is scarce are
// their guarantees for the moment. Then figures and picture tell how far each team
// was below its share.
//
// With -gangs a batch of jobs is replayed instead, each of which runs as a whole or not
// at all, under four policies: no preemption; guarantees; guarantees with hourly
// checkpoints; fair shares with hourly checkpoints. Figures and picture tell how long
// gangs, which are jobs of several hosts, and others wait for that, and what it
// costs. The files are those of the Philly trace (public data set philly-traces, as CSV
// with the columns submit, duration, gpus, vc, and vc, nodes): its jobs of thirty days
// from day 35 on, in which more is wanted than there is, on 56 hosts of 8 GPUs.
// Without files a twin of that is generated. Then batch.go says when jobs ask, start,
// stop and end.
//
// The exit status is 0 if all laws and the bound were kept, 1 if they were not,
// and 2 if anything was wrong with arguments or files.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/go-preempt/preempt/internal/judge/trace"
)

// The exit statuses.
const (
	sound = iota
	broken
	bad
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// options are the arguments.
type options struct {
	nodes, pods string
	stretch     int64
	every       int
	retries     int
	grace       int64
	fair        bool
	json, quiet bool
	svg         string

	gangs       bool
	jobs, vcs   string
	first, days int
}

// maxGrace is the longest time of grace, a day.
const maxGrace = 24 * 60 * 60

// maxDays bounds the days of a trace.
const maxDays = trace.MaxTime / day / 2

// The flags that are for one kind of replay only.
var (
	podFlags  = []string{"nodes", "pods", "stretch", "every", "retries", "grace", "fair"}
	gangFlags = []string{"jobs", "vcs", "first", "days"}
)

// check reports arguments that make no sense. set has the names of the flags that are
// given.
func (o *options) check(rest []string, set map[string]bool) error {
	other := podFlags
	if !o.gangs {
		other = gangFlags
	}
	for _, name := range other {
		switch {
		case set[name] && o.gangs:
			return fmt.Errorf("-%s does not go with -gangs", name)
		case set[name]:
			return fmt.Errorf("-%s goes with -gangs only", name)
		}
	}
	switch {
	case len(rest) > 0:
		return fmt.Errorf("argument %q: want none", rest[0])
	case (o.jobs == "") != (o.vcs == ""):
		return errors.New("-jobs and -vcs go together")
	case o.first < 0 || o.first > maxDays:
		return fmt.Errorf("-first %d: want 0 to %d", o.first, maxDays)
	case o.days < 1 || o.days > maxDays:
		return fmt.Errorf("-days %d: want 1 to %d", o.days, maxDays)
	case (o.nodes == "") != (o.pods == ""):
		return errors.New("-nodes and -pods go together")
	case o.stretch < 0:
		return fmt.Errorf("-stretch %d: want 0 or more", o.stretch)
	case o.every < 1:
		return fmt.Errorf("-every %d: want 1 or more", o.every)
	case o.retries < 0:
		return fmt.Errorf("-retries %d: want 0 or more", o.retries)
	case o.grace < 0 || o.grace > maxGrace:
		return fmt.Errorf("-grace %d: want 0 to %d", o.grace, maxGrace)
	}
	return nil
}

// run is the program: arguments and streams in, exit status out.
func run(args []string, stdout, stderr io.Writer) int {
	var o options
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "Replay plays a trace of nodes and pods through the planner, and reports what preemption did.")
		fmt.Fprintln(stderr, "usage: replay [-nodes FILE -pods FILE] [-stretch N] [-every N] [-retries N] [-grace SECONDS] [-fair] [-svg FILE] [-json] [-quiet]")
		fmt.Fprintln(stderr, "       replay -gangs [-jobs FILE -vcs FILE [-first DAY] [-days N]] [-svg FILE] [-json] [-quiet]")
		flags.PrintDefaults()
	}
	flags.StringVar(&o.nodes, "nodes", "", "`FILE` of nodes; without, a workload is generated")
	flags.StringVar(&o.pods, "pods", "", "`FILE` of pods")
	flags.Int64Var(&o.stretch, "stretch", 0, "pods live `N` times as long; 0: those of a trace never end, and generated ones live once as long")
	flags.IntVar(&o.every, "every", 1, "only every `N`th node is there")
	flags.IntVar(&o.retries, "retries", 4, "`N` pods in line ask again when room was made")
	flags.Int64Var(&o.grace, "grace", 30, "`SECONDS` from the choice of a victim to its end")
	flags.BoolVar(&o.fair, "fair", false, "four teams share the cluster by weights, and nothing is guaranteed")
	flags.BoolVar(&o.gangs, "gangs", false, "replay a batch of jobs that run as a whole or not at all, under four policies")
	flags.StringVar(&o.jobs, "jobs", "", "`FILE` of jobs; without, a batch is generated")
	flags.StringVar(&o.vcs, "vcs", "", "`FILE` of virtual clusters")
	flags.IntVar(&o.first, "first", 35, "jobs are those from `DAY` on")
	flags.IntVar(&o.days, "days", 30, "jobs are those of `N` days")
	flags.StringVar(&o.svg, "svg", "", "draw what preemption did, compared with none, and write that to `FILE`")
	flags.BoolVar(&o.json, "json", false, "print JSON")
	flags.BoolVar(&o.quiet, "quiet", false, "report no progress")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return sound
	case err != nil:
		return bad
	}
	set := make(map[string]bool)
	flags.Visit(func(f *flag.Flag) { set[f.Name] = true })
	if err := o.check(flags.Args(), set); err != nil {
		return fail(stderr, err)
	}
	if o.gangs {
		return replayGangs(&o, stdout, stderr)
	}
	return replay(&o, stdout, stderr)
}

// replay replays what the options say.
func replay(o *options, stdout, stderr io.Writer) int {
	w := generate()
	if o.nodes != "" {
		var err error
		if w, err = trace.Read(o.nodes, o.pods); err != nil {
			return fail(stderr, err)
		}
	}
	for _, assumed := range w.Assumed {
		fmt.Fprintf(stderr, "replay: %s\n", assumed)
	}
	w.Nodes = everyNth(w.Nodes, o.every)
	if o.nodes == "" {
		o.stretch = max(o.stretch, 1) // generated pods end
	}

	var watch stopwatch
	r := Replay{Workload: w, Stretch: o.stretch, Retries: o.retries, Grace: o.grace, Fair: o.fair, Observe: watch.add}
	with := newHistory(&r)
	f, err := o.run(&r, with, "", stderr)
	if err == nil && o.svg != "" {
		err = o.draw(&r, f, with, stderr)
	}
	if err == nil {
		err = write(stdout, o, f, watch.timings())
	}
	if err != nil {
		return fail(stderr, err)
	}
	if !f.Sound() {
		return broken
	}
	return sound
}

// run runs a replay and takes its history down, if that will be drawn. What is
// added to reports of progress is about the replay.
func (o *options) run(r *Replay, h *history, about string, stderr io.Writer) (*Figures, error) {
	start := time.Now()
	r.Clock = func() time.Duration { return time.Since(start) }
	p := progress{w: stderr, all: len(r.Workload.Pods), what: "pods created", about: about, next: interval}
	also := r.Observe
	r.Observe = func(s *Step) {
		if also != nil {
			also(s)
		}
		if o.svg != "" {
			h.step(s)
		}
		if !o.quiet {
			p.decided(s.Decision.Outcome)
			p.report(s.Now, s.Created, r.Clock())
		}
	}
	if o.svg != "" {
		r.Second = h.second
	}
	return r.Run()
}

// draw replays without preemption what was replayed with it, and writes the
// picture of both.
func (o *options) draw(r *Replay, f *Figures, with *history, stderr io.Writer) error {
	patient := Replay{Workload: r.Workload, Stretch: r.Stretch, Retries: r.Retries, Grace: r.Grace, Fair: r.Fair, Patient: true}
	without := newHistory(&patient)
	g, err := o.run(&patient, without, ", without preemption", stderr)
	if err != nil {
		return err
	}
	f.compare(g, max(with.last, without.last))
	with.under, without.under = f.hunger.seconds, g.hunger.seconds
	with.behind = f.Behind
	return os.WriteFile(o.svg, drawSVG(with, without), 0o644)
}

// everyNth returns the first node and every nth after it.
func everyNth(nodes []trace.Node, n int) []trace.Node {
	var some []trace.Node
	for i := 0; i < len(nodes); i += n {
		some = append(some, nodes[i])
	}
	return some
}

func write(w io.Writer, o *options, f *Figures, t *Timings) error {
	if o.json {
		return writeJSON(w, f, t)
	}
	var out bytes.Buffer
	f.writeText(&out)
	fmt.Fprintln(&out)
	t.writeText(&out)
	_, err := w.Write(out.Bytes())
	return err
}

// fail reports what was wrong.
func fail(stderr io.Writer, err error) int {
	fmt.Fprintf(stderr, "replay: %v\n", err)
	return bad
}
