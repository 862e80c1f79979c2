// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/choices"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// byText compares schemas by their names and paths by their text.
var byText = cmp.Options{
	cmp.Transformer("names", func(s *resources.Schema) []string {
		var names []string
		for i := range s.Len() {
			names = append(names, s.Name(i))
		}
		return names
	}),
	cmp.Transformer("path", func(p *Path) string { return p.String() }),
}

// at makes a path from field names and item indices.
func at(steps ...any) *Path {
	var p *Path
	for _, s := range steps {
		if i, ok := s.(int); ok {
			p = p.Item(i)
		} else {
			p = p.Field(s.(string))
		}
	}
	return p
}

func ptr[T any](t T) *T { return &t }

// amounts is memory, cpu and gpu: the types of everything, in its order.
func amounts(memory, cpu, gpu int64) resources.Vector { return resources.Vector{memory, cpu, gpu} }

func TestParse_Everything(t *testing.T) {
	const memory, cpu, gpu = 1, 2, 4 // bits of a mask
	schema, err := resources.NewSchema("memory", "cpu", "gpu")
	require.NoError(t, err)
	want := &Document{
		File:   "all.json",
		Name:   "everything",
		Note:   "every field once",
		Schema: schema,
		Now:    time.Date(2026, 3, 4, 4, 6, 7, 0, time.UTC),
		Strict: true,
		Root: Queue{
			At:         at("queues"),
			Name:       "root",
			Max:        resources.Limit{Value: amounts(4096, 20_000, 0), Defined: memory | cpu},
			Properties: map[string]string{"preemption.policy": "fence", "fair.weight": "3"},
			Children: []Queue{
				{
					At:         at("queues", "queues", 0),
					Name:       "a",
					Guaranteed: resources.Limit{Value: amounts(0, 1500, 0), Defined: cpu},
					Max:        resources.Limit{Value: amounts(0, 0, 0)},
					Template: &queue.Config{
						Guaranteed: resources.Limit{Value: amounts(0, 7000, 0), Defined: cpu},
						Max:        resources.Limit{Value: amounts(0, 9000, 0), Defined: cpu},
						Properties: map[string]string{"priority.offset": "5"},
					},
				},
				{
					At:         at("queues", "queues", 1),
					Name:       "p",
					Properties: map[string]string{},
					Children: []Queue{
						{At: at("queues", "queues", 1, "queues", 0), Name: "x"},
						{At: at("queues", "queues", 1, "queues", 1), Name: "y"},
					},
				},
			},
		},
		Classes: []Class{
			{At: at("priorityClasses", 0), Name: "low", Value: -7, PreemptionPolicy: "Never", Annotations: map[string]string{"example.com/seconds": "600"}},
			{At: at("priorityClasses", 1), Name: "high", Value: 2147483647},
		},
		Nodes: []Node{
			{At: at("nodes", 0), Name: "n1", Capacity: amounts(0, 10_000, 2), Unschedulable: true, ReservedFor: "ask",
				Labels: map[string]string{"zone": "a", "spot": ""}, Rank: -3, Domains: []string{"b1", "r3"}},
			{At: at("nodes", 1), Name: "n2", Capacity: amounts(0, 0, 0)},
		},
		Budgets: []Budget{
			{At: at("budgets", "db"), Name: "db", Left: 2},
			{At: at("budgets", "web"), Name: "web", Left: -1, Hard: true},
		},
		Grants: []Grant{{
			Ask: Ask{
				At: at("grants", 0), Key: "g1", Queue: "root.a", Application: "app-g", Resources: amounts(0, 1000, 0),
				Priority: 3, Age: time.Hour, AllowPreemptOther: true,
				NodeSelector: Selector{"zone": "b"}, Ports: []string{"80"}, Cost: 4, Preemptions: 2, Budgets: []string{"db"},
			},
			Node: "n2",
		}},
		Pending: []Pending{
			{At: at("pending", "root.a"), Queue: "root.a", Resources: amounts(0, 0, 0)},
			{At: at("pending", "root.p.x"), Queue: "root.p.x", Resources: amounts(0, 0, 3)},
		},
		Tasks: []Task{
			{
				At: at("tasks", 0), Key: "t1", Queue: "root.p.x", Application: "app-x", Node: "n1",
				Resources: amounts(0, 2000, 0), Priority: 5, Class: "low", Age: 2 * time.Hour,
				ScheduledAge: 90 * time.Minute, Originator: true, AllowPreemption: ptr(false), RequiredNode: "n2",
				State: StateReleasing, Job: "gang", Preemptible: ptr(false),
			},
			{
				At: at("tasks", 1), Key: "t2", Queue: "root.a", Application: "app-a", Node: "n2",
				Resources: amounts(0, 0, 1), Priority: -7, Class: "low", Age: 10 * time.Second,
				ScheduledAge: 10 * time.Second, State: StateRunning,
				Cost: math.MaxInt64, Preemptions: 7, CheckpointAge: ptr(5 * time.Second), Ends: ptr(20 * time.Minute),
				Movable: true, NodeSelector: map[string]string{"zone": "c"},
				Budgets: []string{"web", "db"}, Ports: []string{"8080", "dns"},
			},
			{
				At: at("tasks", 2), Key: "t3", Queue: "root.a", Application: "app-a", Node: "n2",
				Resources: amounts(0, 0, 0), Age: time.Hour, NeverScheduled: true,
				State: StateRunning,
			},
		},
		Quotas: []Quota{{
			At: at("quotas", 0), Queue: "root.p",
			Min:     resources.Limit{Value: amounts(0, 3000, 0), Defined: cpu},
			Max:     resources.Limit{Value: amounts(0, 0, 4), Defined: gpu},
			Waiting: amounts(0, 1000, 0),
		}},
		JobMinimums: []JobMinimum{
			{At: at("jobMinimums", "gang"), Job: "gang", Members: 2},
			{At: at("jobMinimums", "j"), Job: "j", Members: 0},
		},
		Requests: []Request{
			{
				At: at("requests", 0), Kind: KindAsk, Then: ThenLeave, Repeat: 3,
				Ask: &Ask{
					At: at("requests", 0, "ask"), Key: "ask", Queue: "root.a", Application: "app-a",
					Resources: amounts(0, 1000, 0), Priority: -1, Class: "high", Age: 3 * time.Minute, RequiredNode: "n1",
					NodeSelector: Selector{"zone": "a"}, Ports: []string{"8080"}, Cost: 6, Budgets: []string{"web"},
					Job: "crew", Preemptible: ptr(false), Originator: true,
				},
				Proposed: &Proposal{
					At: at("requests", 0, "proposed"), Node: "n1", Placements: map[string]string{"j-0": "n2"},
					Victims: []Ref{{At: at("requests", 0, "proposed", "victims", 0), Key: "t1"}},
				},
			},
			{
				At: at("requests", 1), Kind: KindEnforceQuota, Then: ThenNothing,
				EnforceQuota: &EnforceQuota{
					At: at("requests", 1, "enforceQuota"), Queue: "root.p",
					Max:       &resources.Limit{Value: amounts(0, 2000, 0), Defined: cpu},
					Overshoot: OvershootExact, Miss: amounts(0, 1000, 0), Order: OrderClosestMatch,
				},
			},
			{
				At: at("requests", 2), Kind: KindJob, Then: ThenFinish,
				Job: &Job{
					At: at("requests", 2, "job"), Name: "j", Queue: "root.p.y", Application: "app-j",
					Priority: 100, Preemptible: ptr(true), MinMembers: 1, Age: 3 * time.Minute, PreemptionPolicy: "Never", Domain: 2,
					Members: []Member{
						{At: at("requests", 2, "job", "members", 0), Key: "j-0", Resources: amounts(0, 0, 1), Node: "n1", NodeSelector: Selector{"zone": "b"}},
						{At: at("requests", 2, "job", "members", 1), Key: "j-1", Resources: amounts(0, 0, 0)},
					},
				},
			},
			{At: at("requests", 3), Kind: KindAdvance, Advance: time.Minute},
			{
				At: at("requests", 4), Kind: KindFinish,
				Finish: []Ref{{At: at("requests", 4, "finish", 0), Key: "t1"}, {At: at("requests", 4, "finish", 1), Key: "t2"}},
			},
			{
				At: at("requests", 5), Kind: KindStart,
				Start: []Task{{
					At: at("requests", 5, "start", 0), Key: "t4", Queue: "root.p.x", Application: "app-x", Node: "n1",
					Resources: amounts(0, 1000, 0), Age: time.Hour, ScheduledAge: time.Hour,
					State: StateRunning,
				}},
			},
			{
				At: at("requests", 6), Kind: KindEnforceQuota, Then: ThenFinish,
				EnforceQuota: &EnforceQuota{
					At: at("requests", 6, "enforceQuota"), Queue: "root", Overshoot: OvershootOneTask,
					MissShare: resources.Share{Amount: 25, Of: 1000}, Order: OrderPack,
				},
			},
		},
		Options: Options{
			Toleration: true, JobsNeedPreemptibleLabel: true, OwnLeaf: "met", JobTrigger: "priority", FairShares: true,
			Moves: "entitled", MaxMoved: 4, Levels: "rank preemptions",
			Choices: choices.Choices{StrictPriority: true, VictimsOnNode: true, MaxVictims: 3, TakeOwnApplication: true},
		},
		Expect: []Expectation{
			{
				At: at("expect", 0), Outcome: OutcomePlan, Request: ptr(0), Key: ptr("ask-1"), Node: ptr("n1"),
				Victims: [][]string{{"t1", "t2"}}, Placements: map[string]string{"j-1": "n2"},
				Reason: ptr("over-guarantee"), Counts: map[string]int{"priority": 3},
				RetryAt:   ptr(time.Date(2026, 1, 1, 0, 10, 0, 0, time.UTC)),
				Target:    map[string]resources.Limit{"root.p": {Value: amounts(0, 5000, 0), Defined: cpu}},
				Shortfall: &resources.Limit{Value: amounts(0, 1000, 0), Defined: cpu},
				Proven:    ptr(true), Proof: ptr(ProofLevels), WaitsFor: []string{"t1"},
				Overrun: ptr(int64(1)), OwnLeaf: ptr(true), ProtectedBy: &ProtectedBy{Queue: "root.p", Type: "cpu"}, Moves: map[string]string{"t2": "n1"},
			},
			{At: at("expect", 1), Outcome: OutcomePartial, Victims: [][]string{{"t1"}, {}}},
			{At: at("expect", 2), Outcome: OutcomeMet, VictimCount: ptr(2)},
		},
	}
	got, err := Parse("all.json", []byte(everything))
	require.NoError(t, err)
	if diff := cmp.Diff(want, got, byText, cmpopts.IgnoreUnexported(Document{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestParse_Defaults(t *testing.T) {
	got, err := Parse("", []byte(`{
		"name": "",
		"queues": {"name": "all"},
		"nodes": [{"name": "n", "capacity": {}}],
		"tasks": [{"key": "t", "queue": "all", "application": "app", "node": "n", "resources": {}}],
		"requests": [
			{"ask": {"key": "x", "queue": "all", "application": "app", "resources": {}}},
			{"enforceQuota": {"queue": "all"}},
			{"job": {"name": "j", "queue": "all", "application": "app", "members": [{"key": "m", "resources": {}}]}}
		]
	}`))
	require.NoError(t, err)
	schema, err := resources.NewSchema()
	require.NoError(t, err)
	none := resources.Vector{}
	want := &Document{
		Schema: schema,
		Now:    time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		Root:   Queue{At: at("queues"), Name: "all"},
		Nodes:  []Node{{At: at("nodes", 0), Name: "n", Capacity: none}},
		Tasks: []Task{{
			At: at("tasks", 0), Key: "t", Queue: "all", Application: "app", Node: "n", Resources: none,
			Age: time.Hour, ScheduledAge: time.Hour, State: StateRunning,
		}},
		Requests: []Request{
			{At: at("requests", 0), Kind: KindAsk, Then: ThenFinish, Ask: &Ask{
				At: at("requests", 0, "ask"), Key: "x", Queue: "all", Application: "app", Resources: none,
				Age: time.Hour, AllowPreemptOther: true,
			}},
			{At: at("requests", 1), Kind: KindEnforceQuota, Then: ThenFinish, EnforceQuota: &EnforceQuota{
				At: at("requests", 1, "enforceQuota"), Queue: "all", Overshoot: OvershootOneTask, Order: OrderDefault,
			}},
			{At: at("requests", 2), Kind: KindJob, Then: ThenFinish, Job: &Job{
				At: at("requests", 2, "job"), Name: "j", Queue: "all", Application: "app",
				Age:     time.Hour,
				Members: []Member{{At: at("requests", 2, "job", "members", 0), Key: "m", Resources: none}},
			}},
		},
	}
	if diff := cmp.Diff(want, got, byText, cmpopts.IgnoreUnexported(Document{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// The schema holds what the document lists, in that order, or else whatever it
// names outside expectations, sorted.
func TestParse_Schema(t *testing.T) {
	const each = `"queues": {"name": "root", "resources": {"guaranteed": {"h": "1"}, "max": {"g": "1"}}},
		"nodes": [{"name": "n", "capacity": {"f": "1"}}],
		"tasks": [{"key": "t", "queue": "root", "application": "app", "node": "n", "resources": {"e": "0"}}],
		"grants": [{"key": "g", "queue": "root", "application": "app", "node": "n", "resources": {"E": "0"}}],
		"pending": {"root": {"F": "1"}},
		"quotas": [{"queue": "root", "min": {"d": "1"}, "max": {"c": "1"}, "waitingNonPreemptible": {"b": "1"}}],
		"requests": [
			{"ask": {"key": "x", "queue": "root", "application": "app", "resources": {"a": "1"}}},
			{"enforceQuota": {"queue": "root", "max": {"A": "1"}, "miss": {"B": "1"}}},
			{"job": {"name": "j", "queue": "root", "application": "app", "members": [{"key": "m", "resources": {"C": "1"}}]}},
			{"start": [{"key": "s", "queue": "root", "application": "app", "node": "n", "resources": {"D": "1"}}]}
		]`
	for _, test := range []struct {
		name, doc, want string
	}{
		{"nothing", `{"name": "", "queues": {"name": "root"}}`, ""},
		{"everywhere", `{"name": "", ` + each + `}`, "ABCDEFabcdefgh"},
		{"listed", `{"name": "", "types": ["h","g","f","e","unused","d","c","b","a","A","B","C","D","E","F"], ` + each + `}`, "hgfeunuseddcbaABCDEF"},
		{"none listed", `{"name": "", "types": [], "queues": {"name": "root"}}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			doc, err := Parse("", []byte(test.doc))
			require.NoError(t, err)
			var got string
			for i := range doc.Schema.Len() {
				got += doc.Schema.Name(i)
			}
			require.Equal(t, test.want, got)
		})
	}
}

// What is expected names no types of its own: it must not change the schema.
func TestParse_ExpectedType(t *testing.T) {
	_, err := Parse("x.json", []byte(`{"name": "", "queues": {"name": "root"}, "expect": [{"outcome": "met", "shortfall": {"cpu": "1"}}]}`))
	require.EqualError(t, err, `x.json: expect[0].shortfall.cpu: "1": bad reference: no resource type of this name`)
}

// One child makes a parent.
func TestParse_LoneChild(t *testing.T) {
	const doc = `{"name": "", "queues": {"name": "root", "queues": [{"name": "a"}]}, "nodes": [{"name": "n", "capacity": {}}],
		"tasks": [{"key": "t", "queue": "%s", "application": "app", "node": "n", "resources": {}}]}`
	_, err := Parse("x.json", fmt.Appendf(nil, doc, "root.a"))
	require.NoError(t, err)
	_, err = Parse("x.json", fmt.Appendf(nil, doc, "root"))
	require.EqualError(t, err, `x.json: tasks[0].queue: "root": bad reference: the queue has children, and only leaves hold tasks`)
}

func TestDocument_Fail(t *testing.T) {
	doc, err := Parse("all.json", []byte(everything))
	require.NoError(t, err)
	gone := errors.New("no such task")
	err = doc.Fail(doc.Requests[4].Finish[1].At, `"t2"`, gone)
	require.EqualError(t, err, `all.json: requests[4].finish[1]: "t2": no such task`)
	require.ErrorIs(t, err, gone)
	require.Equal(t, "queues.properties[\"preemption.policy\"]", doc.Root.PropertyAt("preemption.policy").String())
	require.Equal(t, "priorityClasses[0].annotations[\"example.com/seconds\"]", doc.Classes[0].AnnotationAt("example.com/seconds").String())
}

func TestWords(t *testing.T) {
	for _, test := range []struct {
		word interface{ String() string }
		want string
	}{
		{StateRunning, "running"},
		{StatePreempting, "preempting"},
		{KindAsk, "ask"},
		{KindStart, "start"},
		{ThenFinish, "finish"},
		{ThenNothing, "nothing"},
		{OvershootExact, "exact"},
		{OrderClosestMatch, "closest-match"},
		{OrderPack, "pack"},
		{OrderFewest, "fewest"},
		{State(0), "unknown"},
		{State(9), "unknown"},
	} {
		require.Equal(t, test.want, test.word.String())
	}
}

// everything is a document that uses every field.
const everything = `{
  "name": "everything",
  "note": "every field once",
  "types": ["memory", "cpu", "gpu"],
  "now": "2026-03-04T05:06:07+01:00",
  "strict": true,
  "queues": {
    "name": "root",
    "resources": {"max": {"cpu": "20", "memory": "4Ki"}},
    "properties": {"preemption.policy": "fence", "fair.weight": "3"},
    "queues": [
      {"name": "a", "resources": {"guaranteed": {"cpu": "1500m"}, "max": {}}, "template": {"resources": {"guaranteed": {"cpu": "7"}, "max": {"cpu": "9"}}, "properties": {"priority.offset": "5"}}},
      {"name": "p", "properties": {}, "queues": [{"name": "x"}, {"name": "y", "queues": []}]}
    ]
  },
  "priorityClasses": [
    {"name": "low", "value": -7, "preemptionPolicy": "Never", "annotations": {"example.com/seconds": "600"}},
    {"name": "high", "value": 2147483647}
  ],
  "nodes": [
    {"name": "n1", "capacity": {"cpu": "10", "gpu": "2"}, "unschedulable": true, "reservedFor": "ask",
     "labels": {"zone": "a", "spot": ""}, "rank": -3, "domains": ["b1", "r3"]},
    {"name": "n2", "capacity": {}}
  ],
  "budgets": {"web": {"left": -1, "hard": true}, "db": {"left": 2}},
  "grants": [
    {"key": "g1", "queue": "root.a", "application": "app-g", "resources": {"cpu": "1"}, "node": "n2", "priority": 3,
     "nodeSelector": {"zone": "b"}, "ports": ["80"], "cost": 4, "preemptions": 2, "budgets": ["db"]}
  ],
  "pending": {"root.p.x": {"gpu": "3"}, "root.a": {}},
  "tasks": [
    {"key": "t1", "queue": "root.p.x", "application": "app-x", "node": "n1", "resources": {"cpu": "2"},
     "priority": 5, "priorityClass": "low", "age": "2h", "scheduledAge": "90m", "originator": true,
     "allowPreemption": false, "requiredNode": "n2", "state": "releasing", "job": "gang", "preemptible": false},
    {"key": "t2", "queue": "root.a", "application": "app-a", "node": "n2", "resources": {"gpu": "1", "cpu": "0"},
     "priorityClass": "low", "age": "10s", "ends": "20m", "cost": 9223372036854775807, "preemptions": 7, "checkpointAge": "5s",
     "budgets": ["web", "db"], "ports": ["8080", "dns"], "movable": true, "nodeSelector": {"zone": "c"}},
    {"key": "t3", "queue": "root.a", "application": "app-a", "node": "n2", "resources": {}, "scheduledAge": "never"}
  ],
  "quotas": [
    {"queue": "root.p", "min": {"cpu": "3"}, "max": {"gpu": "4"}, "waitingNonPreemptible": {"cpu": "1"}}
  ],
  "jobMinimums": {"j": 0, "gang": 2},
  "requests": [
    {"ask": {"key": "ask", "queue": "root.a", "application": "app-a", "resources": {"cpu": "1"}, "priority": -1,
             "priorityClass": "high", "age": "3m", "requiredNode": "n1", "allowPreemptOther": false,
             "nodeSelector": {"zone": "a"}, "ports": ["8080"], "cost": 6, "budgets": ["web"], "job": "crew", "preemptible": false, "originator": true},
     "repeat": 3, "then": "leave", "proposed": {"node": "n1", "victims": ["t1"], "placements": {"j-0": "n2"}}},
    {"enforceQuota": {"queue": "root.p", "max": {"cpu": "2"}, "overshoot": "exact", "miss": {"cpu": "1"},
                      "order": "closest-match"}, "then": "nothing"},
    {"job": {"name": "j", "queue": "root.p.y", "application": "app-j", "priority": 100, "preemptible": true,
             "age": "3m", "minMembers": 1, "preemptionPolicy": "Never", "domain": 2,
             "members": [{"key": "j-0", "resources": {"gpu": "1"}, "node": "n1", "nodeSelector": {"zone": "b"}}, {"key": "j-1", "resources": {}}]},
     "then": "finish"},
    {"advance": "1m"},
    {"finish": ["t1", "t2"]},
    {"start": [{"key": "t4", "queue": "root.p.x", "application": "app-x", "node": "n1", "resources": {"cpu": "1"}}]},
    {"enforceQuota": {"queue": "root", "miss": "2.5%", "order": "pack"}}
  ],
  "options": {"toleration": true, "strictPriority": true, "jobsNeedPreemptibleLabel": true, "ownLeaf": "met", "jobTrigger": "priority", "fairShares": true,
    "moves": "entitled", "maxMoved": 4, "levels": ["rank", "preemptions"], "sameNode": true, "maxVictims": 3, "ownApplication": true},
  "expect": [
    {"outcome": "plan", "request": 0, "key": "ask-1", "node": "n1", "victims": ["t2", "t1"],
     "placements": {"j-1": "n2"}, "reason": "over-guarantee", "counts": {"priority": 3},
     "retryAt": "2026-01-01T00:10:00Z", "target": {"root.p": {"cpu": "5"}}, "shortfall": {"cpu": "1"},
     "proven": true, "proof": "levels", "waitsFor": ["t1"], "overrun": 1, "ownLeaf": true, "protectedBy": {"queue": "root.p", "type": "cpu"}, "moves": {"t2": "n1"}},
    {"outcome": "partial", "victimsAnyOf": [["t1"], []]},
    {"outcome": "met", "victimCount": 2}
  ]
}`
