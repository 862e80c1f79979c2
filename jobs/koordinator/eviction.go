// SPDX-License-Identifier: Apache-2.0

package koordinator

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/victims"
)

// What a task is stopped for.
const (
	forNode     = "node"
	forHeadroom = "headroom"
	forQuota    = "quota"
	forJob      = "job"
)

// An Eviction is what to tell a victim.
type Eviction struct {
	Task string // its key
	// Text is for the label scheduling.koordinator.sh/soft-eviction: JSON with task, queue (its path), node,
	// priority, job (if any), preemptor, causes, and way: "delete", or "label" if the task's owner stops it.
	//
	// The preemptor has job, application (if any), queue, priority, and members: those for which the victim
	// makes room on its node, in order. Causes are, in order: node, headroom (under the max of a queue), quota
	// (under that of an elastic quota), job (too few members would be left).
	Text string
	// Why says it in a sentence, as in
	//
	//	v is preempted by job j of root.a (priority 100): room on node n1 for j-0
	Why string
}

// A notice is the text of an eviction. Its names are stable.
type notice struct {
	Task      string    `json:"task"`
	Queue     string    `json:"queue"`
	Node      string    `json:"node"`
	Priority  int32     `json:"priority"`
	Job       string    `json:"job,omitempty"`
	Preemptor preemptor `json:"preemptor"`
	Causes    []string  `json:"causes"`
	Way       string    `json:"way"`
}

type preemptor struct {
	Job         string   `json:"job"`
	Application string   `json:"application,omitempty"`
	Queue       string   `json:"queue"`
	Priority    int32    `json:"priority"`
	Members     []string `json:"members,omitempty"`
}

// Evictions returns what to tell each victim of a plan. The victims must be in the cluster still. The cost is
// victims·placements.
func (o Options) Evictions(p *victims.Plan, c *victims.Cluster) (all []Eviction) {
	way := "label"
	if o.PodShouldBeDeletedWhenPreempted {
		way = "delete"
	}
	for i := range p.Victims {
		v := &p.Victims[i]
		t := c.Task(v.Task)
		n := notice{
			Task: v.Key, Queue: c.Tree().Path(t.Queue), Node: c.NodeName(t.Node), Priority: t.Priority, Job: v.Job,
			Preemptor: preemptor{
				Job: p.Ask.Key, Application: p.Ask.Application,
				Queue: c.Tree().Path(p.Ask.Queue), Priority: p.Ask.Priority,
			},
			Causes: causes(v), Way: way,
		}
		if v.ForNode {
			n.Preemptor.Members = membersOn(p, t.Node)
		}
		text, err := json.Marshal(&n)
		if err != nil {
			panic(err) // text and numbers only
		}
		all = append(all, Eviction{Task: v.Key, Text: string(text), Why: n.sentence()})
	}
	return all
}

// causes lists what a victim is stopped for. One that frees nothing of use goes
// because its job does.
func causes(v *victims.Victim) (all []string) {
	if v.ForNode {
		all = append(all, forNode)
	}
	if v.ForHeadroom {
		all = append(all, forHeadroom)
	}
	if v.ForQuota {
		all = append(all, forQuota)
	}
	if v.Whole || len(all) == 0 {
		all = append(all, forJob)
	}
	return all
}

// membersOn lists the members that victims make room for on a node.
func membersOn(p *victims.Plan, n victims.NodeID) (keys []string) {
	for _, at := range p.Places {
		if at.Node == n && !at.Extra {
			keys = append(keys, p.Ask.Members[at.Member].Key)
		}
	}
	return keys
}

// sentence says it on one line.
func (n *notice) sentence() string {
	var why []string
	for _, cause := range n.Causes {
		why = append(why, n.because(cause))
	}
	return fmt.Sprintf("%s is preempted by job %s of %s (priority %d): %s", plain.Name(n.Task),
		plain.Name(n.Preemptor.Job), plain.Name(n.Preemptor.Queue), n.Preemptor.Priority, strings.Join(why, "; "))
}

// because says one cause.
func (n *notice) because(cause string) string {
	switch cause {
	case forNode:
		room := "room on node " + plain.Name(n.Node)
		if len(n.Preemptor.Members) > 0 {
			room += " for " + plain.Names(n.Preemptor.Members)
		}
		return room
	case forHeadroom:
		return "room under the max of a queue"
	case forQuota:
		return "room under the max of a quota"
	}
	return "its job " + plain.Name(n.Job) + " goes whole"
}
