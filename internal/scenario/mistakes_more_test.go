// SPDX-License-Identifier: Apache-2.0

package scenario

// mistakesBeside are mistakes in what a scheduler knows beside amounts: labels,
// ports, budgets, costs, domains, what was granted and what waits.
var mistakesBeside = []mistake{
	// Queues and nodes.
	{`{"priority.offset": "5"}`, `{"priority.offset": 5}`, `queues.queues[0].template.properties["priority.offset"]`, "5", ErrKind},
	{`"max": {"cpu": "9"}}, "properties"`, `"max": {"cpu": "-9"}}, "properties"`, "queues.queues[0].template.resources.max.cpu", `"-9"`, ErrValue},
	{`"max": {"cpu": "9"}}, "properties"`, `"most": {"cpu": "9"}}, "properties"`, "queues.queues[0].template.resources.most", `{"cpu":"9"}`, ErrField},
	{`{"priority.offset": "5"}}`, `{"priority.offset": "5"}, "queues": []}`, "queues.queues[0].template.queues", "[]", ErrField},
	{`"fair.weight": "3"`, `"fair.weight": 3`, `queues.properties["fair.weight"]`, "3", ErrKind},
	{`"labels": {"zone": "a", "spot": ""}`, `"labels": {"zone": "a", "spot": true}`, "nodes[0].labels.spot", "true", ErrKind},
	{`"labels": {"zone": "a", "spot": ""}`, `"labels": {"zone": "a", "zone": "b"}`, "nodes[0].labels.zone", `"b"`, ErrDuplicate},
	{`"labels": {"zone": "a", "spot": ""}`, `"labels": ["zone"]`, "nodes[0].labels", `["zone"]`, ErrKind},
	{`"rank": -3`, `"rank": 1.5`, "nodes[0].rank", "1.5", ErrValue},
	{`"rank": -3`, `"rank": 9223372036854775808`, "nodes[0].rank", "9223372036854775808", ErrValue},
	{`"rank": -3`, `"rank": -9223372036854775809`, "nodes[0].rank", "-9223372036854775809", ErrValue},
	{`"rank": -3`, `"rank": "low"`, "nodes[0].rank", `"low"`, ErrKind},
	{`"domains": ["b1", "r3"]`, `"domains": {"b1": "r3"}`, "nodes[0].domains", `{"b1":"r3"}`, ErrKind},
	{`"domains": ["b1", "r3"]`, `"domains": ["b1", 3]`, "nodes[0].domains[1]", "3", ErrKind},
	{`"domains": ["b1", "r3"]`, `"domains": ["", "r3"]`, "nodes[0].domains[0]", `""`, ErrValue},

	// Budgets.
	{`"db": {"left": 2}`, `"db": {}`, "budgets.db.left", "", ErrMissing},
	{`"db": {"left": 2}`, `"db": {"left": 2.0}`, "budgets.db.left", "2.0", ErrValue},
	{`"db": {"left": 2}`, `"db": {"left": "2"}`, "budgets.db.left", `"2"`, ErrKind},
	{`"db": {"left": 2}`, `"db": {"left": 2, "soft": true}`, "budgets.db.soft", "true", ErrField},
	{`"db": {"left": 2}`, `"db": 2`, "budgets.db", "2", ErrKind},
	{`"db": {"left": 2}`, `"db": {"left": 2}, "": {"left": 1}`, `budgets[""]`, `{"left":1}`, ErrValue},
	{`"db": {"left": 2}`, `"db": {"left": 2}, "web": {"left": 1}`, "budgets.web", `{"left":1}`, ErrDuplicate},
	{`"hard": true`, `"hard": "yes"`, "budgets.web.hard", `"yes"`, ErrKind},

	// Grants and what is pending.
	{`"resources": {"cpu": "1"}, "node": "n2", "priority": 3`, `"resources": {"cpu": "1"}, "priority": 3`, "grants[0].node", "", ErrMissing},
	{`"node": "n2", "priority": 3`, `"node": "", "priority": 3`, "grants[0].node", `""`, ErrReference},
	{`"node": "n2", "priority": 3`, `"node": "n9", "priority": 3`, "grants[0].node", `"n9"`, ErrReference},
	{`"node": "n2", "priority": 3`, `"node": "n2", "state": "running"`, "grants[0].state", `"running"`, ErrField},
	{`{"key": "g1"`, `{"key": "t1"`, "grants[0].key", `"t1"`, ErrDuplicate},
	{`"application": "app-g"`, `"application": ""`, "grants[0].application", `""`, ErrValue},
	{`"budgets": ["db"]`, `"budgets": ["dba"]`, "grants[0].budgets[0]", `"dba"`, ErrReference},
	{`"root.p.x": {"gpu": "3"}`, `"root.p": {"gpu": "3"}`, `pending["root.p"]`, `"root.p"`, ErrReference},
	{`"root.p.x": {"gpu": "3"}`, `"root.q": {"gpu": "3"}`, `pending["root.q"]`, `"root.q"`, ErrReference},
	{`"root.p.x": {"gpu": "3"}`, `"root.p.x": {"gpu": "-3"}`, `pending["root.p.x"].gpu`, `"-3"`, ErrValue},
	{`"root.p.x": {"gpu": "3"}`, `"root.p.x": "3"`, `pending["root.p.x"]`, `"3"`, ErrKind},

	// Tasks and asks.
	{`"cost": 9223372036854775807`, `"cost": 9223372036854775808`, "tasks[1].cost", "9223372036854775808", ErrValue},
	{`"cost": 9223372036854775807`, `"cost": -1`, "tasks[1].cost", "-1", ErrValue},
	{`"checkpointAge": "5s"`, `"checkpointAge": "never"`, "tasks[1].checkpointAge", `"never"`, ErrValue},
	{`"checkpointAge": "5s"`, `"checkpointAge": "-5s"`, "tasks[1].checkpointAge", `"-5s"`, ErrValue},
	{`"checkpointAge": "5s"`, `"checkpointAge": 5`, "tasks[1].checkpointAge", "5", ErrKind},
	{`"budgets": ["web", "db"]`, `"budgets": ["web", "web"]`, "tasks[1].budgets[1]", `"web"`, ErrDuplicate},
	{`"budgets": ["web", "db"]`, `"budgets": ["web", "dbs"]`, "tasks[1].budgets[1]", `"dbs"`, ErrReference},
	{`"budgets": ["web", "db"]`, `"budgets": ["web", ""]`, "tasks[1].budgets[1]", `""`, ErrValue},
	{`"budgets": ["web", "db"]`, `"budgets": "web"`, "tasks[1].budgets", `"web"`, ErrKind},
	{`"ports": ["8080", "dns"]`, `"ports": ["8080", 53]`, "tasks[1].ports[1]", "53", ErrKind},
	{`"ports": ["8080", "dns"]`, `"ports": ["8080", "8080"]`, "tasks[1].ports[1]", `"8080"`, ErrDuplicate},
	{`"ports": ["8080", "dns"]`, `"ports": ["", "dns"]`, "tasks[1].ports[0]", `""`, ErrValue},
	{`"nodeSelector": {"zone": "a"}`, `"nodeSelector": {"zone": ["a"]}`, "requests[0].ask.nodeSelector.zone", `["a"]`, ErrKind},
	{`"ports": ["8080"]`, `"ports": [""]`, "requests[0].ask.ports[0]", `""`, ErrValue},
	{`"cost": 6`, `"cost": 0.5`, "requests[0].ask.cost", "0.5", ErrValue},
	{`"cost": 6`, `"checkpointAge": "6s"`, "requests[0].ask.checkpointAge", `"6s"`, ErrField},
	{`"budgets": ["web"]`, `"budgets": ["wob"]`, "requests[0].ask.budgets[0]", `"wob"`, ErrReference},

	// What is proposed.
	{`"proposed": {"node": "n1"`, `"proposed": {"node": "n5"`, "requests[0].proposed.node", `"n5"`, ErrReference},
	{`"victims": ["t1"]`, `"victims": ["t1", "t1"]`, "requests[0].proposed.victims[1]", `"t1"`, ErrDuplicate},
	{`"victims": ["t1"]`, `"victim": "t1"`, "requests[0].proposed.victim", `"t1"`, ErrField},
	{`"placements": {"j-0": "n2"}`, `"placements": {"j-0": "n5"}`, `requests[0].proposed.placements.j-0`, `"n5"`, ErrReference},
	{`{"advance": "1m"}`, `{"advance": "1m", "proposed": {}}`, "requests[3].proposed", "{}", ErrValue},

	// Quotas to enforce and jobs.
	{`"miss": "2.5%"`, `"miss": "2.5"`, "requests[6].enforceQuota.miss", `"2.5"`, ErrValue},
	{`"miss": "2.5%"`, `"miss": "101%"`, "requests[6].enforceQuota.miss", `"101%"`, ErrValue},
	{`"miss": "2.5%"`, `"miss": "-1%"`, "requests[6].enforceQuota.miss", `"-1%"`, ErrValue},
	{`"miss": "2.5%"`, `"miss": ".5%"`, "requests[6].enforceQuota.miss", `".5%"`, ErrValue},
	{`"miss": "2.5%"`, `"miss": "2.%"`, "requests[6].enforceQuota.miss", `"2.%"`, ErrValue},
	{`"miss": "2.5%"`, `"miss": "1e1%"`, "requests[6].enforceQuota.miss", `"1e1%"`, ErrValue},
	{`"miss": "2.5%"`, `"miss": "%"`, "requests[6].enforceQuota.miss", `"%"`, ErrValue},
	{`"miss": "2.5%"`, `"miss": "0.00000000000000000001%"`, "requests[6].enforceQuota.miss", `"0.00000000000000000001%"`, ErrValue},
	{`"miss": "2.5%"`, `"miss": 10`, "requests[6].enforceQuota.miss", "10", ErrKind},
	{`"order": "pack"`, `"order": "packed"`, "requests[6].enforceQuota.order", `"packed"`, ErrValue},
	{`"domain": 2`, `"domain": -1`, "requests[2].job.domain", "-1", ErrValue},
	{`"domain": 2`, `"domain": "rack"`, "requests[2].job.domain", `"rack"`, ErrKind},
	{`"nodeSelector": {"zone": "b"}}, {"key": "j-1"`, `"nodeSelector": "b"}, {"key": "j-1"`, "requests[2].job.members[0].nodeSelector", `"b"`, ErrKind},
	{`"nodeSelector": {"zone": "b"}}, {"key": "j-1"`, `"ports": ["80"]}, {"key": "j-1"`, "requests[2].job.members[0].ports", `["80"]`, ErrField},

	// Options and expectations.
	{`"ownLeaf": "met"`, `"ownLeaf": "never"`, "options.ownLeaf", `"never"`, ErrValue},
	{`"ownLeaf": "met"`, `"ownLeaf": true`, "options.ownLeaf", "true", ErrKind},
	{`"jobTrigger": "priority"`, `"jobTrigger": "Priority"`, "options.jobTrigger", `"Priority"`, ErrValue},
	{`"fairShares": true`, `"fairShares": "yes"`, "options.fairShares", `"yes"`, ErrKind},
	{`"sameNode": true`, `"sameNode": "yes"`, "options.sameNode", `"yes"`, ErrKind},
	{`"ownApplication": true`, `"ownApplication": 1`, "options.ownApplication", "1", ErrKind},
	{`"proof": "levels"`, `"proof": "full"`, "expect[0].proof", `"full"`, ErrValue},
	{`"proof": "levels"`, `"proof": true`, "expect[0].proof", "true", ErrKind},
	{`"waitsFor": ["t1"]`, `"waitsFor": ["t1", "t1"]`, "expect[0].waitsFor[1]", `"t1"`, ErrDuplicate},
	{`"waitsFor": ["t1"]`, `"waitsFor": "t1"`, "expect[0].waitsFor", `"t1"`, ErrKind},
	{`"overrun": 1`, `"overrun": -1`, "expect[0].overrun", "-1", ErrValue},
	{`"ownLeaf": true`, `"ownLeaf": "met"`, "expect[0].ownLeaf", `"met"`, ErrKind},
}
