// SPDX-License-Identifier: Apache-2.0

package when

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/examples/plan/internal/moment"
	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/resources"
)

// textOf returns a document of no file.
func textOf(text string) scenario.Text { return scenario.Text{File: "doc", Data: []byte(text)} }

// object is a JSON object that a test edits.
type object = map[string]any

// outcomeOf decides a document of one request that a test has edited.
func outcomeOf(t require.TestingT, doc object) (scenario.Outcome, bool) {
	text, err := json.Marshal(doc)
	require.NoError(t, err)
	d, err := scenario.Parse("edited", text)
	require.NoError(t, err)
	run, err := d.Run()
	if err != nil {
		return "", false // bounds that contradict each other
	}
	return run.Steps[len(run.Steps)-1].Result.Outcome, true
}

// list returns the objects of a list.
func list(v any) (all []object) {
	items, _ := v.([]any)
	for _, item := range items {
		all = append(all, item.(object))
	}
	return all
}

// edited returns the document with an amount more of what a change names, as a
// person would edit it.
func edited(t require.TestingT, text string, s *Sooner, more int64) object {
	var doc object
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	require.NoError(t, d.Decode(&doc))
	add := func(at object, name, kind string) {
		limit, _ := at[name].(object)
		if limit == nil {
			limit = object{}
			at[name] = limit
		}
		base := int64(0)
		if was, ok := limit[kind].(string); ok {
			n, err := resources.ParseQuantity(kind, was)
			require.NoError(t, err)
			base = n
		}
		limit[kind] = resources.FormatQuantity(kind, base+more)
	}
	switch s.Change {
	case "node":
		nodes := list(doc["nodes"])
		for i := range more {
			for _, n := range nodes {
				if n["name"] == s.Of {
					twin := object{}
					for k, v := range n {
						twin[k] = v
					}
					twin["name"] = fmt.Sprint("twin ", i)
					delete(twin, "reservedFor")
					doc["nodes"] = append(doc["nodes"].([]any), twin)
				}
			}
		}
	case "budget":
		b := doc["budgets"].(object)[s.Of].(object)
		left, err := b["left"].(json.Number).Int64()
		require.NoError(t, err)
		b["left"] = max(0, left) + more
	case "guaranteed", "max":
		q := doc["queues"].(object)
		rest := strings.TrimPrefix(s.Of, q["name"].(string))
		for rest != "" {
			for _, child := range list(q["queues"]) {
				if tail, ok := strings.CutPrefix(rest, "."+child["name"].(string)); ok && (tail == "" || tail[0] == '.') {
					q, rest = child, tail
					break
				}
			}
		}
		if q["resources"] == nil {
			q["resources"] = object{}
		}
		add(q["resources"].(object), s.Change, s.Type)
	default:
		for _, q := range list(doc["quotas"]) {
			if q["queue"] == s.Of {
				add(q, strings.TrimPrefix(s.Change, "quota-"), s.Type)
			}
		}
	}
	return doc
}

// requireWhen checks everything that is said of a document, against a document of
// each request alone that is edited as text. It returns how much was said.
func requireWhen(t require.TestingT, text string) (starts, changes int) {
	_, all, err := Document(textOf(text))
	require.NoError(t, err, text)
	var whole object
	require.NoError(t, json.Unmarshal([]byte(text), &whole))
	for _, w := range all {
		if list(whole["requests"])[w.Request]["repeat"] != nil {
			continue // a snapshot is of the first only
		}
		alone, err := moment.Take(textOf(text), w.Request)
		require.NoError(t, err)
		place := func(o scenario.Outcome, ok bool) bool {
			return ok && (o == fitsWord || w.Outcome == refusedWord && o != refusedWord)
		}
		for i := range w.Sooner {
			s := &w.Sooner[i]
			kind := s.Type
			number := func(text string) int64 {
				n, err := resources.ParseQuantity(kind, text)
				if kind == "" {
					n, err = strconv.ParseInt(text, 10, 64)
				}
				require.NoError(t, err)
				return n
			}
			by, unit := number(s.By), number(s.Unit)
			require.Zero(t, by%unit)
			what := fmt.Sprintf("%+v\n%s", s, alone)
			require.True(t, place(outcomeOf(t, edited(t, string(alone), s, by))), "does: %s", what)
			require.False(t, place(outcomeOf(t, edited(t, string(alone), s, by-unit))), "one unit less: %s", what)
			changes++
		}
		// Ends are told from the document's beginning, and its clock stands still
		// unless a request says otherwise.
		if strings.Contains(text, `"advance"`) {
			continue
		}
		ends := make(map[string]time.Duration)
		for _, task := range list(whole["tasks"]) {
			if end, ok := task["ends"].(string); ok {
				ends[task["key"].(string)], err = time.ParseDuration(end)
				require.NoError(t, err)
			}
		}
		fits := func(gone func(time.Duration) bool) bool {
			var doc object
			require.NoError(t, json.Unmarshal(alone, &doc))
			var stay []object
			for _, task := range list(doc["tasks"]) {
				if end, ok := ends[task["key"].(string)]; !ok || !gone(end) {
					stay = append(stay, task)
				}
			}
			doc["tasks"] = append([]object{}, stay...)
			o, ok := outcomeOf(t, doc)
			return ok && o == fitsWord
		}
		if w.Start != nil {
			after, err := time.ParseDuration(w.Start.After)
			require.NoError(t, err)
			require.True(t, fits(func(end time.Duration) bool { return end <= after }), "starts: %+v\n%s", w.Start, alone)
			require.False(t, fits(func(end time.Duration) bool { return end < after }), "not before: %+v\n%s", w.Start, alone)
			starts++
		} else {
			require.NotEmpty(t, w.NoStart)
			require.False(t, fits(func(time.Duration) bool { return true }), "%s\n%s", w.NoStart, alone)
		}
	}
	return starts, changes
}

// waitingDocument draws a full little cluster in which much is refused: two types,
// bounds, selectors, domains, grants, budgets and ends.
func waitingDocument(t *rapid.T) string {
	number := func(name string, of ...int) int { return rapid.SampledFrom(of).Draw(t, name) }
	cpu := func(name string, of ...int) object {
		return object{"cpu": strconv.Itoa(number(name, of...)), "memory": strconv.Itoa(number(name+" memory", 0, 1, 2)) + "Gi"}
	}
	zones := []string{"a", "b"}
	var queues, nodes, tasks, grants []object
	for _, name := range []string{"p", "q"} {
		var leaves []object
		for _, leaf := range []string{"x", "y"} {
			l := object{"name": leaf}
			if rapid.Bool().Draw(t, "bounded") {
				l["resources"] = object{"guaranteed": object{"cpu": strconv.Itoa(number("guaranteed", 0, 1, 2))}, "max": object{"cpu": strconv.Itoa(number("max", 2, 4, 8))}}
			}
			leaves = append(leaves, l)
		}
		queues = append(queues, object{"name": name, "queues": leaves})
	}
	leaf := rapid.SampledFrom([]string{"root.p.x", "root.p.y", "root.q.x", "root.q.y"})
	for i := range number("nodes", 1, 2, 3) {
		node := "n" + strconv.Itoa(i)
		nodes = append(nodes, object{"name": node, "capacity": cpu("capacity", 4, 6), "labels": object{"zone": zones[i%2]}, "domains": []string{"r" + zones[i%2]}})
		for j := range number("tasks", 2, 3, 4) {
			task := object{
				"key": fmt.Sprint("t", i, j), "queue": leaf.Draw(t, "queue"), "application": fmt.Sprint(j), "node": node, "resources": cpu("task", 1, 2),
				"state": rapid.SampledFrom([]string{"running", "running", "releasing"}).Draw(t, "state"),
			}
			if end := number("ends", 0, 1, 5, 20); end > 0 {
				task["ends"] = fmt.Sprint(end, "m")
			}
			if rapid.Bool().Draw(t, "budget") {
				task["budgets"] = []string{"b"}
			}
			task["movable"] = rapid.Bool().Draw(t, "movable")
			tasks = append(tasks, task)
		}
		if rapid.Bool().Draw(t, "grant") {
			grants = append(grants, object{"key": fmt.Sprint("g", i), "queue": leaf.Draw(t, "queue"), "application": "g", "node": node, "resources": cpu("grant", 0, 1)})
		}
	}
	ask := object{"key": "ask", "queue": leaf.Draw(t, "queue"), "application": "ask", "resources": cpu("ask", 2, 4)}
	if rapid.Bool().Draw(t, "selects") {
		ask["nodeSelector"] = object{"zone": rapid.SampledFrom(zones).Draw(t, "zone")}
	}
	text, err := json.Marshal(object{
		"name": "random", "types": []string{"cpu", "memory"}, "queues": object{"name": "root", "queues": queues},
		"nodes": nodes, "tasks": tasks, "grants": append([]object{}, grants...), "budgets": object{"b": object{"left": number("left", 0, 1), "hard": true}},
		"options": object{"moves": rapid.SampledFrom([]string{"never", "entitled", "any"}).Draw(t, "moves"), "maxMoved": number("most moved", 0, 1)},
		"requests": []object{
			{"ask": ask, "then": rapid.SampledFrom([]string{"finish", "leave", "nothing"}).Draw(t, "then")},
			{"job": object{"name": "job", "queue": leaf.Draw(t, "queue"), "application": "job", "domain": number("domain", 0, 1), "members": []object{
				{"key": "m0", "resources": cpu("member", 1, 2), "nodeSelector": object{"zone": "a"}}, {"key": "m1", "resources": cpu("member", 1, 2)},
			}}},
		},
	})
	require.NoError(t, err)
	return string(text)
}

// Each answer does, and one unit less does not; before the start it does not fit.
func TestWhen_Verified(t *testing.T) {
	starts, changes := 0, 0
	both := func() bool { return starts > 0 && changes > 0 }
	law.CheckUntil(t, both, func(t *rapid.T) {
		s, c := requireWhen(t, waitingDocument(t))
		starts, changes = starts+s, changes+c
	})
}

// So it is in documents that people wrote.
func TestWhen_Documents(t *testing.T) {
	changes := 0
	for _, pattern := range []string{"../../testdata/[j-w]*.json", "../../../playground/documents/*.json", "../../../../internal/judge/scenario/testdata/scenarios/*[05].json"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range law.Some(files) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			_, c := requireWhen(t, string(text))
			changes += c
		}
	}
	require.Positive(t, changes)
}

// Each kind of change is found, and how much of it: the amount does, and one unit less
// does not.
func TestSooner_Kinds(t *testing.T) {
	document := func(queue, left, requests string) string {
		return `{"name": "d", "queues": {"name": "root", "queues": [{"name": "a"` + queue + `}, {"name": "b", "resources": {"guaranteed": {"cpu": "1"}}}]},
			"nodes": [{"name": "small", "capacity": {"cpu": "2"}, "labels": {"size": "s"}}, {"name": "large", "capacity": {"cpu": "4"}}],
			"tasks": [{"key": "x", "queue": "root.b", "application": "x", "node": "small", "resources": {"cpu": "2"}, "budgets": ["x"]},
				{"key": "y", "queue": "root.b", "application": "y", "node": "large", "resources": {"cpu": "4"}, "budgets": ["y"]}],
			"budgets": {"x": {"left": 5, "hard": true}, "y": {"left": ` + left + `, "hard": true}}, "requests": [` + requests + `]}`
	}
	ask := func(cpu string) string {
		return `{"ask": {"key": "new", "queue": "root.a", "application": "new", "resources": {"cpu": "` + cpu + `"}}}`
	}
	const job = `{"job": {"name": "new", "queue": "root.a", "application": "new", "members": [{"key": "m0", "resources": {"cpu": "2"}},
		{"key": "m1", "resources": {"cpu": "2"}}, {"key": "m2", "resources": {"cpu": "2"}}]}}`
	for _, test := range []struct {
		name, document string
		want           []string
	}{
		{"an ask needs one node at most", document("", "5", ask("3")), []string{"node large 1", "guaranteed root.a 1"}},
		{"members may need a node each", document("", "5", job), []string{"node small 3", "node large 2"}},
		{"a max", document(`, "resources": {"guaranteed": {"cpu": "1"}, "max": {"cpu": "2"}}`, "5", ask("3")), []string{"max root.a 1"}},
		{"a budget", document(`, "resources": {"guaranteed": {"cpu": "1"}}`, "0", ask("3")), []string{"node large 1", "budget y 1"}},
	} {
		_, all, err := Document(textOf(test.document))
		require.NoError(t, err, test.name)
		require.Len(t, all, 1, test.name)
		var got []string
		for _, s := range all[0].Sooner {
			got = append(got, s.Change+" "+s.Of+" "+s.By)
		}
		require.Equal(t, test.want, got, test.name)
		requireWhen(t, test.document)
	}
}

// Tasks may move in what is decided again, too: one node more does, beside a move.
func TestSooner_Moves(t *testing.T) {
	text, err := os.ReadFile("../../testdata/when-moves.json")
	require.NoError(t, err)
	_, all, err := Document(textOf(string(text)))
	require.NoError(t, err)
	ring := all[len(all)-1]
	require.Equal(t, "ring", ring.Key)
	require.Len(t, ring.Sooner, 3)
	for i, of := range []string{"n1", "r1", "s1"} {
		require.Equal(t, []string{"node", of, "1"}, []string{ring.Sooner[i].Change, ring.Sooner[i].Of, ring.Sooner[i].By})
	}
	require.Equal(t, map[string]string{"c": "one-more"}, ring.Sooner[0].Then.Moves)
	requireWhen(t, string(text))
}

// What waits for a task that is leaving starts when that ends, if it says when; and
// the clock of a document may move on before the request.
func TestWhen_Waits(t *testing.T) {
	const text = `{"name": "waits", "queues": {"name": "root", "queues": [{"name": "a"}]},
	  "nodes": [{"name": "n", "capacity": {"cpu": "1"}}],
	  "tasks": [{"key": "t", "queue": "root.a", "application": "t", "node": "n", "resources": {"cpu": "1"}, "state": "releasing", "ends": "10m"}],
	  "requests": [{"advance": "4m"}, {"ask": {"key": "x", "queue": "root.a", "application": "x", "resources": {"cpu": "1"}}}]}`
	_, all, err := Document(textOf(text))
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, waitsWord, all[0].Outcome)
	require.Equal(t, "6m0s", all[0].Start.After)
	require.Equal(t, []string{"t"}, all[0].Start.Gone)
	require.Len(t, all[0].Sooner, 1, "a node")
	require.Equal(t, "node", all[0].Sooner[0].Change)
}

// The search ends in time, and says what it left out.
func TestWhen_Effort(t *testing.T) {
	var queues strings.Builder
	for range 30 {
		queues.WriteString(`{"name": "q", "queues": [`)
	}
	queues.WriteString(`{"name": "leaf"}` + strings.Repeat("]}", 30))
	path := "root" + strings.Repeat(".q", 30) + ".leaf"
	text := fmt.Sprintf(`{"name": "deep", "queues": {"name": "root", "queues": [%s, {"name": "low"}]},
	  "nodes": [{"name": "n", "capacity": {"cpu": "1000000000000"}}],
	  "tasks": [{"key": "t", "queue": "root.low", "application": "t", "node": "n", "resources": {"cpu": "1000000000000"}}],
	  "requests": [{"ask": {"key": "x", "queue": %q, "application": "x", "resources": {"cpu": "1"}}}]}`, queues.String(), path)
	_, all, err := Document(textOf(text))
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Positive(t, all[0].Untried)
	require.NotEmpty(t, all[0].Sooner)
}

// What is left out is said.
func TestWaiting_Notes(t *testing.T) {
	w := &Waiting{Untried: 3, decisions: 111, Unsaid: []string{"a clock"}}
	require.Equal(t, []string{"3 other changes not tried: the search ended after 111 decisions", "decided without: a clock"}, w.Notes())
}
