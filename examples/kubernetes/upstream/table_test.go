// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A result is what came of a top-level test: its cases, each in one or more runs. Runs of
// a case differ in feature gates.
type result struct {
	test  string
	cases map[string]bool // whether each run passed; the empty case is the test itself, if it has no others
	said  bytes.Buffer    // by runs that did not pass
}

// gates are the feature gates at the end of the name of a run. Another case of the same
// name has a number behind them.
var gates = regexp.MustCompile(`_\([^()]+:_(?:true|false)\)(#\d+)?$`)

// read reads the events of a top-level test. A run that does not end did not pass.
func read(test string, events []byte) (*result, error) {
	type event struct{ Action, Test, Output string }
	var runs []string
	ended, said := map[string]string{}, map[string][]string{}
	for d := json.NewDecoder(bytes.NewReader(events)); d.More(); {
		var e event
		if err := d.Decode(&e); err != nil {
			return nil, err
		}
		switch e.Action {
		case "run":
			runs = append(runs, e.Test)
		case "pass", "fail", "skip":
			ended[e.Test] = e.Action
		case "output":
			said[e.Test] = append(said[e.Test], e.Output)
		}
	}
	r := &result{test: test, cases: map[string]bool{}}
	if len(runs) == 0 || runs[0] != test {
		return nil, fmt.Errorf("%s did not run:\n%s", test, events)
	}
	for _, run := range runs[1:] {
		r.add(gates.ReplaceAllString(strings.TrimPrefix(run, test+"/"), "$1"), ended[run], said[run])
	}
	// The test as a whole may fail though all of its cases pass.
	if len(runs) == 1 || ended[test] != "pass" && len(r.failed()) == 0 {
		r.add("", ended[test], said[test])
	}
	return r, nil
}

// add adds a run of a case.
func (r *result) add(name, end string, said []string) {
	before, again := r.cases[name]
	r.cases[name] = end == "pass" && (before || !again)
	if end == "pass" {
		return
	}
	for _, line := range said {
		r.said.WriteString(line)
	}
}

// failed returns the cases of which a run did not pass, sorted.
func (r *result) failed() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(r.cases)) {
		if !r.cases[name] {
			names = append(names, name)
		}
	}
	return names
}

const heading = "| test | cases | pass |\n|---|--:|--:|\n"

// String returns the row of a test in Markdown.
func (r *result) String() string {
	return fmt.Sprintf("| %s | %d | %d |\n", r.test, len(r.cases), len(r.cases)-len(r.failed()))
}

// A table has the results of all tests that were run.
type table []*result

// The table is between these lines of a file.
const begin, end = "<!-- upstream -->\n", "<!-- /upstream -->\n"

// write puts the table into its place in a file, and what fails below it. Rows of tests
// that were not run now stay.
func (t table) write(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(text), begin)
	old, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s: there is no place for the table", file)
	}
	return os.WriteFile(file, []byte(before+begin+"\n"+heading+t.merge(old)+"\n"+list()+end+after), 0o644)
}

// merge returns the rows of the table and those of an older one, in the order of tests.
func (t table) merge(old string) string {
	rows := map[string]string{}
	for line := range strings.Lines(old) {
		if cells := strings.Split(line, "|"); len(cells) > 1 {
			rows[strings.TrimSpace(cells[1])] = line
		}
	}
	for _, r := range t {
		rows[r.test] = r.String()
	}
	var b strings.Builder
	for _, of := range tests {
		for _, name := range of.names {
			b.WriteString(rows[name])
		}
	}
	return b.String()
}

// list returns the cases that fail, by what they fail for.
func list() string {
	why := map[string][]string{}
	for test, cases := range failing { // in any order: it is sorted
		for name, cause := range cases {
			why[cause] = append(why[cause], strings.TrimSuffix(fmt.Sprintf("%s “%s”", test, strings.ReplaceAll(name, "_", " ")), " “”"))
		}
	}
	var b strings.Builder
	for _, cause := range slices.Sorted(maps.Keys(why)) {
		slices.Sort(why[cause])
		fmt.Fprintf(&b, "* %s: %s\n", cause, strings.Join(why[cause], "; "))
	}
	return b.String() + "\n"
}

// TestRead: runs of a case are put together, those that fail, are skipped or do not end did
// not pass, and neither did a test that fails after all of its cases.
func TestRead(t *testing.T) {
	events := func(lines ...string) []byte {
		var b bytes.Buffer
		for _, line := range lines {
			action, test, _ := strings.Cut(line, " ")
			fmt.Fprintf(&b, `{"Action":%q,"Test":%q,"Output":"said by %s\n"}`, action, test, test)
		}
		return b.Bytes()
	}
	r, err := read("TestA", events("run TestA",
		"run TestA/one_(of_two)_(Async:_true,_API:_false)", "output TestA/one_(of_two)_(Async:_true,_API:_false)", "pass TestA/one_(of_two)_(Async:_true,_API:_false)",
		"run TestA/one_(of_two)_(Async:_false,_API:_false)", "output TestA/one_(of_two)_(Async:_false,_API:_false)", "fail TestA/one_(of_two)_(Async:_false,_API:_false)",
		"run TestA/two", "pass TestA/two", "run TestA/two_(API:_true)#01", "pass TestA/two_(API:_true)#01", "run TestA/three", "skip TestA/three", "run TestA/four"))
	require.NoError(t, err)
	require.Equal(t, []string{"four", "one_(of_two)", "three"}, r.failed())
	require.Equal(t, "| TestA | 5 | 2 |\n", r.String())
	require.Equal(t, "said by TestA/one_(of_two)_(Async:_false,_API:_false)\n", r.said.String())

	r, err = read("TestB", events("run TestB", "run TestB/one", "pass TestB/one", "fail TestB"))
	require.NoError(t, err)
	require.Equal(t, []string{""}, r.failed())

	r, err = read("TestC", events("run TestC", "pass TestC"))
	require.NoError(t, err)
	require.Empty(t, r.failed())
	require.Equal(t, "| TestC | 1 | 1 |\n", r.String())

	_, err = read("TestD", events("start TestD"))
	require.ErrorContains(t, err, "TestD did not run")
}

// TestTable: rows of tests that ran replace older ones, others stay, in the order of tests.
func TestTable(t *testing.T) {
	row := func(test string, passed bool) *result {
		return &result{test: test, cases: map[string]bool{"a": passed}}
	}
	file := t.TempDir() + "/table.md"
	require.NoError(t, os.WriteFile(file, []byte("before\n"+begin+end+"after\n"), 0o600))
	require.NoError(t, table{row("TestNonPreemption", false), row("TestPreemption", true)}.write(file))
	require.NoError(t, table{row("TestAsyncPreemption", true), row("TestNonPreemption", true)}.write(file))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "before\n"+begin+"\n"+heading+
		"| TestPreemption | 1 | 1 |\n| TestAsyncPreemption | 1 | 1 |\n| TestNonPreemption | 1 | 1 |\n\n"+
		list()+end+"after\n", string(text))
	require.Error(t, table{}.write(os.DevNull))
}
