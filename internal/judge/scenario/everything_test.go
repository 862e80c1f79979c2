// SPDX-License-Identifier: Apache-2.0

package scenario

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
