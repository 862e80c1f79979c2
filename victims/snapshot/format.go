// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"github.com/go-preempt/preempt/internal/choices"
	"github.com/go-preempt/preempt/internal/judge/scenario"
)

// The types of this file are the document, field by field. What has its default
// is left out.

type document struct {
	Name     string            `json:"name"`
	Note     string            `json:"note,omitempty"`
	Types    []string          `json:"types"`
	Now      string            `json:"now"`
	Queues   queueEntry        `json:"queues"`
	Classes  []class           `json:"priorityClasses,omitempty"`
	Nodes    []node            `json:"nodes"`
	Budgets  map[string]budget `json:"budgets,omitempty"`
	Grants   []ask             `json:"grants,omitempty"`
	Tasks    []task            `json:"tasks"`
	Quotas   []quotaEntry      `json:"quotas,omitempty"`
	Minimums map[string]int    `json:"jobMinimums,omitempty"`
	Requests []request         `json:"requests"`
	Options  options           `json:"options"`
}

type queueEntry struct {
	Name       string            `json:"name"`
	Resources  *bounds           `json:"resources,omitempty"`
	Properties map[string]string `json:"properties,omitempty"`
	Queues     []queueEntry      `json:"queues,omitempty"`
}

type bounds struct {
	Guaranteed *scenario.Amounts `json:"guaranteed,omitempty"`
	Max        *scenario.Amounts `json:"max,omitempty"`
}

type class struct {
	Name        string            `json:"name"`
	Value       int32             `json:"value"`
	Annotations map[string]string `json:"annotations"`
}

type node struct {
	Name          string            `json:"name"`
	Capacity      scenario.Amounts  `json:"capacity"`
	Unschedulable bool              `json:"unschedulable,omitempty"`
	ReservedFor   string            `json:"reservedFor,omitempty"`
	Labels        map[string]string `json:"labels,omitempty"`
	Rank          int64             `json:"rank,omitempty"`
	Domains       []string          `json:"domains,omitempty"`
}

type budget struct {
	Left int64 `json:"left"`
	Hard bool  `json:"hard"`
}

// A work is what tasks, asks and grants have alike.
type work struct {
	Key         string           `json:"key"`
	Queue       string           `json:"queue"`
	Application string           `json:"application"`
	Node        string           `json:"node,omitempty"` // asks have none
	Resources   scenario.Amounts `json:"resources"`
	Priority    int32            `json:"priority"`
	Class       string           `json:"priorityClass,omitempty"`
	Age         string           `json:"age"`
	Required    string           `json:"requiredNode,omitempty"`
	Cost        int64            `json:"cost,omitempty"`
	Preemptions int              `json:"preemptions,omitempty"`
	Budgets     []string         `json:"budgets,omitempty"`
	Ports       []string         `json:"ports,omitempty"`
	Originator  bool             `json:"originator,omitempty"`
	Job         string           `json:"job,omitempty"`
	Preemptible bool             `json:"preemptible"`
}

type task struct {
	work
	ScheduledAge    string `json:"scheduledAge"`
	AllowPreemption bool   `json:"allowPreemption"`
	State           string `json:"state"`
	CheckpointAge   string `json:"checkpointAge,omitempty"`

	Ends     string            `json:"ends,omitempty"`
	Movable  bool              `json:"movable,omitempty"`
	Selector map[string]string `json:"nodeSelector,omitempty"` // if it moves
}

type ask struct {
	work
	AllowPreemptOther bool              `json:"allowPreemptOther"`
	Selector          map[string]string `json:"nodeSelector,omitempty"`
}

// A quotaEntry is what a queue may use for jobs.
type quotaEntry struct {
	Queue   string            `json:"queue"`
	Min     *scenario.Amounts `json:"min,omitempty"`
	Max     *scenario.Amounts `json:"max,omitempty"`
	Waiting *scenario.Amounts `json:"waitingNonPreemptible,omitempty"`
}

// A job's members that run, or hold a grant, are among the tasks and grants.
type job struct {
	Name        string   `json:"name"`
	Queue       string   `json:"queue"`
	Application string   `json:"application"`
	Priority    int32    `json:"priority"`
	Preemptible bool     `json:"preemptible"`
	MinMembers  int      `json:"minMembers,omitempty"`
	Policy      string   `json:"preemptionPolicy,omitempty"`
	Domain      int      `json:"domain,omitempty"`
	Age         string   `json:"age"`
	Members     []member `json:"members"`
}

type member struct {
	Key       string            `json:"key"`
	Resources scenario.Amounts  `json:"resources"`
	Selector  map[string]string `json:"nodeSelector,omitempty"`
}

type enforceQuota struct {
	Queue     string           `json:"queue"`
	Max       scenario.Amounts `json:"max"`
	Overshoot string           `json:"overshoot"`
	Order     string           `json:"order"`
	Whole     bool             `json:"whole,omitempty"` // of the order fewest
}

// A request has one of these.
type request struct {
	Ask     *ask          `json:"ask,omitempty"`
	Job     *job          `json:"job,omitempty"`
	Enforce *enforceQuota `json:"enforceQuota,omitempty"`
	Then    string        `json:"then"`
}

type options struct {
	Toleration bool `json:"toleration"`
	choices.Choices
	OwnLeaf    string   `json:"ownLeaf"`
	JobTrigger string   `json:"jobTrigger,omitempty"`
	Scarce     []string `json:"scarce,omitempty"`
	Levels     []string `json:"levels,omitempty"`
	Moves      string   `json:"moves,omitempty"`
	MaxMoved   int64    `json:"maxMoved,omitempty"`
}
