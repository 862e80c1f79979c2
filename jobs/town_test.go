// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/jobs/koordinator"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A town is a small cluster that is written down in lines, to be checked by
// hand. Sizes are cpus and, after a slash, gpus: "4", "4/1".
//
//	queue a.b g=4 max=8 quota=2:6 waiting=1 policy=fence runs=5m offset=5 priority=fence
//	budget web 1 hard
//	node n1 8 off for=j0 rank=1 in=b1/r1
//	task t a.b n1 4 p=1 app=x job=g age=1h saved=5m fixed opted originator bound state=releasing until=5m cost=2 web=web,db
//	grant x a.b n1 4 job=g
//	keep g 2
//	job a.b 4,4,4/1 p=10 min=2 fixed never app=x domain=1 class=0,0,1
//
// Queues are below the root, which the name "root" speaks of. The members of the
// job are j0, j1, and so on. Priorities are 0 by default, and 10 for the job;
// everybody is of an application of their own.
type town struct {
	testing.TB
	schema   *resources.Schema
	queues   []line
	cluster  *victims.Cluster
	quotas   map[string]*koordinator.ElasticQuota
	minimums map[string]int
	until    map[string]time.Time // exempt
	job      victims.Ask
}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// line is a line of a town: words, and what is said of what they name.
type line struct {
	words []string
	with  map[string]string
}

func (l line) has(word string) bool { _, ok := l.with[word]; return ok }

func build(t testing.TB, text string) *town {
	t.Helper()
	w := &town{TB: t, minimums: map[string]int{}, until: map[string]time.Time{}}
	var err error
	w.schema, err = resources.NewSchema("cpu", "gpu")
	require.NoError(t, err)
	var rest []line
	for text := range strings.Lines(text) {
		if l := parseLine(text); len(l.words) > 0 && l.words[0] == "queue" {
			w.queues = append(w.queues, l)
		} else if len(l.words) > 0 {
			rest = append(rest, l)
		}
	}
	tree, err := queue.NewLenient(w.schema, w.config("root"))
	require.NoError(t, err)
	w.cluster = victims.NewCluster(tree)
	w.quotas = make(map[string]*koordinator.ElasticQuota)
	for _, l := range w.queues {
		w.quota(l)
	}
	scenario.AddWaiting(tree, w.quotas)
	for _, l := range rest {
		w.add(l)
	}
	return w
}

// flags are words that stand alone.
var flags = []string{"off", "hard", "fixed", "opted", "originator", "bound", "refuses", "never"}

func parseLine(text string) line {
	l := line{with: map[string]string{}}
	for _, word := range strings.Fields(text) {
		key, value, ok := strings.Cut(word, "=")
		switch {
		case ok:
			l.with[key] = value
		case slices.Contains(flags, word):
			l.with[word] = ""
		default:
			l.words = append(l.words, word)
		}
	}
	return l
}

// config returns a queue with those below it.
func (w *town) config(path string) queue.Config {
	c := queue.Config{Name: path[strings.LastIndex(path, ".")+1:]}
	for _, l := range w.queues {
		name := l.words[1]
		if name != "root" {
			name = "root." + name
		}
		switch parent := strings.TrimSuffix(name[:max(strings.LastIndex(name, "."), 0)], "."); {
		case name == path:
			c.Guaranteed, c.Max = w.limit(l.with["g"]), w.limit(l.with["max"])
			c.Properties = map[string]string{
				"preemption.policy":      l.with["policy"],
				"preemption.min-runtime": l.with["runs"],
				"priority.offset":        l.with["offset"],
				"priority.policy":        l.with["priority"],
			}
			for key, value := range l.with {
				if strings.Contains(key, ".") { // a property by its name
					c.Properties[key] = value
				}
			}
			for key, value := range c.Properties {
				if value == "" {
					delete(c.Properties, key)
				}
			}
		case parent == path:
			c.Children = append(c.Children, w.config(name))
		}
	}
	return c
}

func (w *town) size(text string) resources.Vector {
	var v resources.Vector
	for i, word := range strings.Split(text, "/") {
		n, err := strconv.ParseInt(word, 10, 64)
		require.NoError(w, err)
		if i == 0 {
			n *= 1000
		}
		v = append(v, n)
	}
	return v
}

// limit bounds the types that are there: "4" only cpus, "/1" only gpus.
func (w *town) limit(text string) (l resources.Limit) {
	if text == "" {
		return l
	}
	l.Value = make(resources.Vector, 2)
	for i, word := range strings.Split(text, "/") {
		if word != "" {
			l.Value[i] = w.size("0/" + word)[1] * []int64{1000, 1}[i]
			l.Defined |= 1 << i
		}
	}
	return l
}

func (w *town) number(l line, key string, otherwise int) int {
	if !l.has(key) {
		return otherwise
	}
	n, err := strconv.Atoi(l.with[key])
	require.NoError(w, err)
	return n
}

func (w *town) leaf(name string) queue.ID {
	q, ok := w.cluster.Tree().Lookup("root." + name)
	require.True(w, ok, name)
	return q
}

func (w *town) quota(l line) {
	if !l.has("quota") {
		return
	}
	least, most, _ := strings.Cut(l.with["quota"], ":")
	q := queue.Root
	if l.words[1] != "root" {
		q = w.leaf(l.words[1])
	}
	quota := &koordinator.ElasticQuota{Min: w.limit(least), Max: w.limit(most)}
	if l.has("waiting") {
		quota.Waiting = w.size(l.with["waiting"])
	}
	w.quotas[w.cluster.Tree().Path(q)] = quota
}

// add adds what a line says that is no queue.
func (w *town) add(l line) {
	switch l.words[0] {
	case "node":
		_, err := w.cluster.AddNode(&victims.Node{
			Name: l.words[1], Capacity: w.size(l.words[2]), Unschedulable: l.has("off"), ReservedFor: l.with["for"],
			Penalty: int64(w.number(l, "rank", 0)), Domains: split(l.with["in"], "/"),
		})
		require.NoError(w, err)
	case "budget":
		left, err := strconv.ParseInt(l.words[2], 10, 64)
		require.NoError(w, err)
		require.NoError(w, w.cluster.SetBudget(l.words[1], victims.Budget{Left: left, Hard: l.has("hard")}))
	case "task":
		w.addTask(l)
	case "grant":
		n, ok := w.cluster.LookupNode(l.words[3])
		require.True(w, ok, l.words[3])
		_, err := w.cluster.GrantPlace(&victims.Ask{Key: l.words[1], Queue: w.leaf(l.words[2]), Size: w.size(l.words[4]), Job: l.with["job"]}, n, time.Time{})
		require.NoError(w, err)
	case "keep":
		n, err := strconv.Atoi(l.words[2])
		require.NoError(w, err)
		w.minimums[l.words[1]] = n
	case "job":
		w.setJob(l)
	default:
		w.Fatalf("unknown line: %v", l.words)
	}
}

func (w *town) addTask(l line) {
	n, ok := w.cluster.LookupNode(l.words[3])
	require.True(w, ok, l.words[3])
	age := time.Hour
	if l.has("age") {
		age = w.duration(l.with["age"])
	}
	if l.has("until") {
		w.until[l.words[1]] = time.Time{}
		if l.with["until"] != "ever" {
			w.until[l.words[1]] = noon.Add(w.duration(l.with["until"]))
		}
	}
	var refused time.Time
	if l.has("refuses") {
		refused = noon.Add(time.Hour)
	}
	states := map[string]victims.State{"": victims.Running, "releasing": victims.Releasing, "preempting": victims.Marked}
	app := l.words[1]
	if l.has("app") {
		app = l.with["app"]
	}
	_, err := w.cluster.AddTask(&victims.Task{
		Key: l.words[1], Application: app, Queue: w.leaf(l.words[2]), Node: n, Size: w.size(l.words[4]),
		Priority: int32(w.number(l, "p", 0)), Created: noon.Add(-age), Scheduled: noon.Add(-age),
		State: states[l.with["state"]], Originator: l.has("originator"), OptedOut: l.has("opted"),
		SparedUntil: refused, RequiredNode: l.has("bound"), Job: l.with["job"], NonPreemptible: l.has("fixed"),
		Cost: int64(w.number(l, "cost", 0)), Budgets: split(l.with["web"], ","), Checkpoint: w.saved(l),
	})
	require.NoError(w, err)
}

// saved returns the instant of the last checkpoint, if there is one.
func (w *town) saved(l line) (at time.Time) {
	if l.has("saved") {
		at = noon.Add(-w.duration(l.with["saved"]))
	}
	return at
}

// split returns the parts of a text, of which the empty one has none.
func split(text, sep string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, sep)
}

func (w *town) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	require.NoError(w, err)
	return d
}

func (w *town) setJob(l line) {
	app := "j"
	if l.has("app") {
		app = l.with["app"]
	}
	w.job = victims.Ask{
		Key: "j", Application: app, Queue: w.leaf(l.words[1]), Priority: int32(w.number(l, "p", 10)),
		NonPreemptible: l.has("fixed"), MinMembers: w.number(l, "min", 0), MayNotPreempt: l.has("never"),
		DomainDepth: w.number(l, "domain", 0),
	}
	classes := split(l.with["class"], ",")
	for i, size := range strings.Split(l.words[2], ",") {
		m := victims.Member{Key: fmt.Sprintf("j%d", i), Size: w.size(size)}
		if i < len(classes) {
			class, err := strconv.Atoi(classes[i])
			require.NoError(w, err)
			m.Class = class
		}
		w.job.Members = append(w.job.Members, m)
	}
}

func (w *town) planner() *jobs.Planner {
	world.SetMinimums(w.cluster, w.minimums)
	return &jobs.Planner{
		Cluster: w.cluster,
		Options: victims.Options{ByPriority: true, Admit: func(dst resources.Vector, a *victims.Admission) (resources.Vector, bool) {
			return w.quotas[a.Queue].Admit(dst, a)
		}, Exempt: func(e *victims.Question) (time.Time, bool) {
			until, ok := w.until[e.Cluster.Key(e.Task)]
			return until, ok
		}},
	}
}

// decide decides the job of the town at noon.
func (w *town) decide() *victims.Decision {
	w.Helper()
	var d victims.Decision
	require.NoError(w, w.planner().Decide(&d, &w.job, noon))
	require.NoError(w, d.Count())
	return &d
}

// brief writes a decision in a line: "fits j0=n1 +j1=n2", where the plus is for
// members beyond the minimum; "plan j0=n1 -a -b!", with victims, and a mark on
// those that fall with their job; "refused no-victims 2 priority", with counts.
func (w *town) brief(d *victims.Decision) string {
	words := []string{d.Outcome.String()}
	if d.Outcome == victims.Refused {
		words = append(words, d.Refusal.Reason)
		for _, n := range d.Refusal.Counts {
			words = append(words, fmt.Sprint(n.Tasks), n.Rule)
		}
		return strings.Join(words, " ")
	}
	for _, at := range d.Plan.Places {
		plus := ""
		if at.Extra {
			plus = "+"
		}
		words = append(words, plus+d.Plan.Ask.Members[at.Member].Key+"="+w.cluster.Node(at.Node).Name)
	}
	for _, v := range d.Plan.Victims {
		mark := ""
		if v.Whole {
			mark = "!"
		}
		words = append(words, "-"+v.Key+mark)
	}
	return strings.Join(words, " ")
}
