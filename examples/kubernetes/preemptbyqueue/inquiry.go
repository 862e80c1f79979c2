// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/snapshot"
)

// An inquiry is a question about the next decision for a pod. It is answered in the
// scheduling cycle of the pod: only then the Filter plugins can be asked.
type inquiry struct {
	ask    question
	answer chan answer // takes one without waiting
}

// A question is what is to be said of an ask.
type question func(c *core, ask *victims.Ask, now time.Time) ([]byte, error)

// An answer is what is served.
type answer struct {
	text []byte
	err  error
}

// inquiries are those that wait for the pod of a name.
type inquiries struct {
	mu    sync.Mutex
	about map[string][]*inquiry
}

// add notes an inquiry.
func (q *inquiries) add(pod string, i *inquiry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.about == nil {
		q.about = map[string][]*inquiry{}
	}
	q.about[pod] = append(q.about[pod], i)
}

// take returns the inquiries about a pod. They do not wait any longer.
func (q *inquiries) take(pod string) []*inquiry {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.about[pod]
	delete(q.about, pod)
	return waiting
}

// inquire asks about the next decision for a pod, and has the scheduler try it now if
// it was refused before. Without a name the first of those that were refused is meant.
func (c *core) inquire(ctx context.Context, pod string, ask question) ([]byte, error) {
	refused := c.refusedPods()
	maps.DeleteFunc(refused, func(_ string, p *v1.Pod) bool { return job(p) != "" }) // a gang is decided as a whole
	if pod == "" {
		names := slices.Sorted(maps.Keys(refused))
		if len(names) == 0 {
			return nil, errors.New("no pod was refused a place: there is no decision to look at")
		}
		pod = names[0]
	}
	i := &inquiry{ask: ask, answer: make(chan answer, 1)}
	c.inquiries.add(pod, i)
	if p, ok := refused[pod]; ok {
		c.activate(map[string]*v1.Pod{pod: p})
	}
	select {
	case a := <-i.answer:
		return a.text, a.err
	case <-ctx.Done():
		c.inquiries.take(pod)
		return nil, fmt.Errorf("no decision was made for pod %q: it is not there, runs, or waits for its place", pod)
	}
}

// answerInquiries answers what was asked about a pod, before it is decided.
func (c *core) answerInquiries(pod *v1.Pod, ask *victims.Ask, now time.Time) {
	for _, i := range c.inquiries.take(name(pod)) {
		text, err := i.ask(c, ask, now)
		i.answer <- answer{text, err}
	}
}

// explain returns the explanation of a decision in words.
func explain(c *core, ask *victims.Ask, now time.Time) ([]byte, error) {
	var e victims.Explanation
	if err := c.planner.Explain(&e, ask, now); err != nil {
		return nil, err
	}
	return []byte(e.String()), nil
}

// explainJSON returns the explanation of a decision for machines.
func explainJSON(c *core, ask *victims.Ask, now time.Time) ([]byte, error) {
	var e victims.Explanation
	if err := c.planner.Explain(&e, ask, now); err != nil {
		return nil, err
	}
	return indented(json.Marshal(e))
}

// indented returns JSON for people.
func indented(text []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Indent(&b, text, "", "  ")
	return append(b.Bytes(), '\n'), err
}

// snap returns the cluster and an ask as a document that the program examples/plan
// decides.
func snap(c *core, ask *victims.Ask, now time.Time) ([]byte, error) {
	text, _, err := snapshot.Take(&snapshot.Scene{Name: ask.Name, Planner: &c.planner, Now: now, Asks: []victims.Ask{*ask}})
	return text, err
}
