// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/toleration"
	"github.com/go-preempt/preempt/victims"
)

// askName returns the name of the label and of the port that stand for what the
// functions of a planner say about an ask.
func (w *writer) askName(i int) string { return "ask-" + strconv.Itoa(i+1) }

// filter labels the nodes on which an ask may run, and returns what selects
// them: nothing if it may run on all.
func (w *writer) filter(a *victims.Ask, name string) map[string]string {
	if w.p.Filter == nil {
		return nil
	}
	return w.label(name, func(n victims.NodeID) bool { return w.lets(w.p.Filter, w.about(a, n)) })
}

// lets asks a filter, and notes once if it refuses a node for some time only.
func (w *writer) lets(filter func(*victims.Question) bool, q *victims.Question) bool {
	q.Until = time.Time{}
	if filter(q) {
		return true
	}
	if q.Until.After(w.s.Now) && !w.windows {
		w.windows = true
		w.lacks("filter", "", "a node that is refused for some time is refused for ever")
	}
	return false
}

// about returns the question of a planner about an ask on a node.
func (w *writer) about(a *victims.Ask, n victims.NodeID) *victims.Question {
	q := lent.To(&w.p.Options).Question(w.c, a, w.s.Now)
	q.Node = n
	return q
}

// label labels the nodes on which something may run, and returns what selects them:
// nothing if it may run on all.
func (w *writer) label(name string, mayRun func(victims.NodeID) bool) map[string]string {
	may, all := w.mayRun(mayRun)
	if all {
		return nil
	}
	return w.labelled(name, may)
}

// mayRun returns the places of nodes on which something may run, and whether it may on all.
func (w *writer) mayRun(mayRun func(victims.NodeID) bool) (may []int, all bool) {
	i := 0
	for id := range w.c.Nodes() {
		if mayRun(id) {
			may = append(may, i)
		}
		i++
	}
	return may, len(may) == i
}

// labelled gives nodes a label, and returns what selects them.
func (w *writer) labelled(name string, may []int) map[string]string {
	for _, i := range may {
		n := &w.doc.Nodes[i]
		if n.Labels == nil {
			n.Labels = make(map[string]string)
		}
		n.Labels[name] = "may-run"
	}
	return map[string]string{name: "may-run"}
}

// blockers gives a port to all that must go from their nodes for an ask, and
// returns it: none if nothing must go. If tasks may move, each gets one of its own: two
// that must go for one ask need not be in each other's way.
func (w *writer) blockers(a *victims.Ask, name string) (ports []string) {
	if w.p.Blockers == nil {
		return nil
	}
	var all []victims.TaskID
	for id := range w.c.Nodes() {
		all = w.p.Blockers(all, w.about(a, id))
	}
	slices.Sort(all)
	for i, id := range slices.Compact(all) {
		port := name
		if w.p.Moves != "" {
			port += "-" + strconv.Itoa(i+1)
		}
		w.ports[id] = append(w.ports[id], port)
		if len(ports) == 0 || port != name {
			ports = append(ports, port)
		}
	}
	return ports
}

// toleration returns the class of a task that has the policy which exempts it
// from all asks, as the planner does; "" if it exempts it from none.
func (w *writer) toleration(id victims.TaskID, t *victims.Task) string {
	if len(w.inquiry) == 0 {
		return ""
	}
	var until time.Time
	spared := false
	for i := 0; i < len(w.inquiry) && !spared; i++ {
		until, spared = w.exempt(id, &w.inquiry[i])
	}
	seconds := int64(-1)
	if !until.IsZero() {
		seconds = int64(until.Sub(w.scheduled(t)) / time.Second)
	}
	policy := toleration.Policy{MinimumPreemptablePriority: math.MaxInt32, Seconds: seconds} // what tolerating says
	for i := range w.inquiry {
		end, exempt := w.exempt(id, &w.inquiry[i])
		got, tolerates := policy.Until(w.scheduled(t), w.inquiry[i].asked.Ask.Priority)
		if !spared {
			got, tolerates = time.Time{}, false
		}
		if exempt != tolerates || exempt && !end.Equal(got) {
			w.lacks("exempt", t.Key, "it is not exempt")
			return ""
		}
	}
	if !spared {
		return ""
	}
	return w.sparing(seconds)
}

// scheduled returns when the document says that a task was scheduled.
func (w *writer) scheduled(t *victims.Task) time.Time {
	if t.Scheduled.After(w.s.Now) {
		return w.s.Now
	}
	return t.Scheduled
}

// exempt asks a planner about a task. An exemption that is over is none.
func (w *writer) exempt(id victims.TaskID, q *inquiry) (until time.Time, exempt bool) {
	if q.exempt == nil {
		return time.Time{}, false
	}
	q.asked.Task = id
	until, exempt = q.exempt(q.asked)
	if !exempt || !until.IsZero() && !until.After(w.s.Now) {
		return time.Time{}, false
	}
	return until, true
}

// tolerating returns the annotations of a class whose tasks are spared for so
// many seconds by almost everybody.
func tolerating(seconds int64) map[string]string {
	return map[string]string{
		toleration.AnnotationMinimum: strconv.Itoa(math.MaxInt32),
		toleration.AnnotationSeconds: strconv.FormatInt(seconds, 10),
	}
}

// sparing returns the class whose tasks are spared for so many seconds.
func (w *writer) sparing(seconds int64) string {
	name := "spared-" + strconv.FormatInt(seconds, 10) + "s"
	if seconds < 0 {
		name = "spared"
	}
	w.doc.Options.Toleration = true
	return w.class(name, tolerating(seconds))
}

// optedOut returns the class whose asks become tasks that opted out.
func (w *writer) optedOut() string {
	return w.class("opted-out", map[string]string{toleration.AnnotationAllowPreemption: "false"})
}

// class returns the name of a class that the document has from now on.
func (w *writer) class(name string, annotations map[string]string) string {
	if !slices.ContainsFunc(w.doc.Classes, func(c class) bool { return c.Name == name }) {
		w.doc.Classes = append(w.doc.Classes, class{Name: name, Annotations: annotations})
	}
	return name
}
