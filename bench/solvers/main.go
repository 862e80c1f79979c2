// SPDX-License-Identifier: Apache-2.0

// Command solvers compares the library's plans with those of outside solvers, with rules that
// were written down a second time, and jobs with their members asked one by one. README.md says
// what it prints.
//
//	go run . -mode planjob -family gpu -n 10     # without a solver
//	go build -tags solvers && ./solvers -mode job -n 10
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/go-preempt/preempt/bench/solvers/draws"
	"github.com/go-preempt/preempt/bench/solvers/linear"
)

// A program is what the flags say.
type program struct {
	out io.Writer

	mode    string
	family  *regexp.Regexp
	size    draws.Size
	from, n int
	steps   int64
	limit   time.Duration // for one question to a solver
	budget  time.Duration // for all questions about one draw
	last    int           // the last level that is asked about; negative: all
	scratch bool          // the solvers begin with no plan, and not with the planner's
	time    time.Duration // of bigaudit, and of shrinkjob
	tasks   [2]int        // of bigaudit, at least and below
	jobs    bool          // bigaudit decides jobs, too
	sizes   []string
	want    string // what shrinkjob keeps
	gap     int64
	file    string // of shrinkjob
}

// A mode is one thing to do. With a solver it needs the build tag.
type mode struct {
	name   string
	solver bool
	does   string
	run    func(*program) error
}

var modes = []mode{
	{"planjob", false, "decides jobs: levels, proof and time of each", (*program).planJobs},
	{"auditjob", false, "decides jobs, and judges the plans twice", (*program).auditJobs},
	{"job", true, "decides jobs, and asks a solver the same", (*program).checkJobs},
	{"shrinkjob", true, "cuts one draw of a job down while the solver's plan is better, and writes a document: -want, -o",
		(*program).shrinkJob},
	{"seed", false, "prints draws of asks", (*program).printAsks},
	{"audit", false, "decides asks, and judges the plans twice", (*program).auditAsks},
	{"check", true, "decides asks, and asks solvers the same", (*program).checkAsks},
	{"inturn", false, "jobs, beside their members asked in turn", (*program).inTurn},
	{"sizes", false, "the same by size of the cluster: -mode sizes NODES...", (*program).bySize},
	{"bigaudit", false, "large random clusters, and what the auditor says of the plans", (*program).bigAudit},
}

func main() {
	runtime.LockOSThread() // for cpu
	if err := run(os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "solvers:", err)
		os.Exit(1)
	}
}

// run does what the arguments say.
func run(args []string, out io.Writer) error {
	p := &program{out: out}
	set := flag.NewFlagSet("solvers", flag.ContinueOnError)
	var family string
	var names []string
	for _, m := range modes {
		names = append(names, fmt.Sprintf("%s: %s", m.name, m.does))
	}
	set.StringVar(&p.mode, "mode", "planjob", strings.Join(names, "\n"))
	set.StringVar(&family, "family", ".", "families, as a regular expression")
	set.IntVar(&p.size.Nodes, "nodes", 0, "nodes; of jobs half of it at least; 0: as the draw has it, for asks 50")
	set.IntVar(&p.size.Tasks, "tasks", 0, "tasks on each; 0: as the draw has it, for asks 30")
	set.IntVar(&p.size.Members, "members", 0, "members of a job at most, half of it at least; 0: as the draw has it")
	set.IntVar(&p.from, "from", 0, "the first draw")
	set.IntVar(&p.n, "n", 3, "draws of each family")
	set.Int64Var(&p.steps, "steps", 0, "steps of the planner; 0: its default")
	set.DurationVar(&p.limit, "limit", 10*time.Second, "for one question to a solver")
	set.DurationVar(&p.budget, "budget", 30*time.Second, "for all questions about one draw")
	set.IntVar(&p.last, "last", -1, "the last level to ask about, from 0; negative: all")
	set.BoolVar(&p.scratch, "scratch", false, "the solver begins with no plan, which tests the model both ways")
	set.DurationVar(&p.time, "time", time.Minute, "of bigaudit, and of shrinkjob")
	set.StringVar(&p.want, "want", "victims", "shrinkjob: what is worse, a level, or missed")
	set.Int64Var(&p.gap, "gap", 1, "shrinkjob: by how much at least")
	set.StringVar(&p.file, "o", "", "shrinkjob: the document's file")
	set.IntVar(&p.tasks[0], "least", 9000, "tasks of a cluster of bigaudit, at least")
	set.IntVar(&p.tasks[1], "most", 40000, "tasks of a cluster of bigaudit, less than")
	set.BoolVar(&p.jobs, "jobs", false, "bigaudit decides jobs, too")
	if err := set.Parse(args); err != nil {
		return err
	}
	var err error
	if p.family, err = regexp.Compile(family); err != nil {
		return err
	}
	p.sizes = set.Args()
	for _, m := range modes {
		switch {
		case m.name != p.mode:
		case m.solver && !linear.Present:
			return fmt.Errorf("-mode %s asks solvers: build with -tags solvers, see README.md", m.name)
		default:
			return m.run(p)
		}
	}
	return fmt.Errorf("no mode %q", p.mode)
}

func (p *program) print(format string, args ...any) { fmt.Fprintf(p.out, format, args...) }

// eachJob draws jobs of all families that are asked for.
func (p *program) eachJob(do func(family string, d *draws.Job) error) error {
	for _, family := range draws.JobFamilies {
		for i := p.from; p.family.MatchString(family) && i < p.from+p.n; i++ {
			d, err := draws.OfJobs(family, i, p.size)
			if err == nil {
				d.Planner.Steps = p.steps
				err = do(family, d)
			}
			if err != nil {
				return fmt.Errorf("%s#%d: %w", family, i, err)
			}
		}
	}
	return nil
}

// eachAsk draws asks of all families that are asked for.
func (p *program) eachAsk(do func(family string, d *draws.Ask) error) error {
	nodes, tasks := p.size.Nodes, p.size.Tasks
	if nodes == 0 {
		nodes = 50
	}
	if tasks == 0 {
		tasks = 30
	}
	for _, family := range draws.AskFamilies() {
		for i := p.from; p.family.MatchString(family) && i < p.from+p.n; i++ {
			d, err := draws.OfAsks(family, i, nodes, tasks)
			if err == nil {
				d.Subject.Planner.Steps = p.steps
				err = do(family, d)
			}
			if err != nil {
				return fmt.Errorf("%s#%d: %w", family, i, err)
			}
		}
	}
	return nil
}

// milliseconds of a time, for people.
func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
