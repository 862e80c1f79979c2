// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-preempt/preempt/internal/judge/trace"
)

const (
	nodeHeads = "sn,cpu_milli,memory_mib,gpu,model\n"
	podHeads  = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,creation_time,deletion_time\n"
)

// files writes a trace of one node and two pods, of which one has to wait.
func files(t *testing.T) (nodes, pods string) {
	t.Helper()
	dir := t.TempDir()
	nodes, pods = filepath.Join(dir, "nodes.csv"), filepath.Join(dir, "pods.csv")
	for name, text := range map[string]string{
		nodes: nodeHeads + "n0,4000,64,0,\nn1,4000,64,0,\n",
		pods:  podHeads + "p,4000,64,0,0,,BE,0,10\nq,8000,64,0,0,,BE,0,10\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return nodes, pods
}

func TestRun(t *testing.T) {
	nodes, pods := files(t)
	for _, c := range []struct {
		name   string
		args   string
		status int
		out    string // part of standard output, or nothing at all
		errs   string // part of standard error, or nothing at all
	}{
		{"generated", "-quiet", sound, "workload    16 nodes, 1200 pods, ", ""},
		{"files", "-quiet -stretch 1 -nodes " + nodes + " -pods " + pods, sound, "workload    2 nodes, 2 pods, 10s\n", ""},
		{"figures", "-quiet -nodes " + nodes + " -pods " + pods, sound, "pods        1 placed at least once, 1 never; ", ""},
		{"timings", "-quiet -nodes " + nodes + " -pods " + pods, sound, "  refused too-early\n", ""},
		{"fewer nodes", "-quiet -every 2 -nodes " + nodes + " -pods " + pods, sound, "workload    1 nodes, 2 pods, ", ""},
		{"for ever", "-quiet -nodes " + nodes + " -pods " + pods, sound, "in the end  1 running, 1 pending\n", ""},
		{"help", "-h", sound, "", "-stretch N"},
		{"no such flag", "-x", bad, "", "flag provided but not defined: -x"},
		{"an argument", "file", bad, "", `replay: argument "file": want none`},
		{"nodes alone", "-nodes " + nodes, bad, "", "replay: -nodes and -pods go together"},
		{"pods alone", "-pods " + pods, bad, "", "replay: -nodes and -pods go together"},
		{"stretch", "-stretch -1", bad, "", "replay: -stretch -1: want 0 or more"},
		{"every", "-every 0", bad, "", "replay: -every 0: want 1 or more"},
		{"retries", "-retries -1", bad, "", "replay: -retries -1: want 0 or more"},
		{"grace", "-grace -1", bad, "", "replay: -grace -1: want 0 to 86400"},
		{"a day of grace", "-grace 86401", bad, "", "replay: -grace 86401: want 0 to 86400"},
		{"no such file", "-nodes /does/not/exist -pods " + pods, bad, "", "replay: open /does/not/exist: "},
		{"files swapped", "-nodes " + pods + " -pods " + nodes, bad, "", ":1: column sn: no such column"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			if status := run(strings.Fields(c.args), &out, &errs); status != c.status {
				t.Errorf("status %d, want %d", status, c.status)
			}
			for _, s := range []struct{ name, got, want string }{
				{"standard output", out.String(), c.out}, {"standard error", errs.String(), c.errs},
			} {
				if !strings.Contains(s.got, s.want) || s.want == "" && s.got != "" {
					t.Errorf("%s is\n%s\nwant %q", s.name, s.got, s.want)
				}
			}
		})
	}
}

// With -json there is one document, of which the figures are those of a replay
// that nobody watches.
func TestRunJSON(t *testing.T) {
	nodes, pods := files(t)
	var out, errs bytes.Buffer
	if status := run([]string{"-json", "-stretch", "1", "-nodes", nodes, "-pods", pods}, &out, &errs); status != sound || errs.Len() > 0 {
		t.Fatalf("status %d, %s", status, errs.String())
	}
	var got struct {
		Figures Figures
		Timings Timings
	}
	d := json.NewDecoder(&out)
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	w, err := trace.Read(nodes, pods)
	if err != nil {
		t.Fatal(err)
	}
	want, err := (&Replay{Workload: w, Stretch: 1, Retries: 4, Grace: 30}).Run()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*want, got.Figures, cmp.AllowUnexported(Figures{}), ignoreUnsaid); diff != "" {
		t.Error(diff)
	}
	var counts []string
	for _, o := range got.Timings.Outcomes {
		counts = append(counts, o.Outcome)
		if o.Count != 1 {
			t.Errorf("%d decisions of outcome %s, want 1", o.Count, o.Outcome)
		}
	}
	// q is created, and when p ends, q ends in the same second.
	if diff := cmp.Diff([]string{"fits", "refused too-early"}, counts); diff != "" {
		t.Error(diff)
	}
}

// What a list of pods lacks is assumed, and told.
func TestRun_FewColumns(t *testing.T) {
	nodes, _ := files(t)
	pods := filepath.Join(t.TempDir(), "five.csv")
	if err := os.WriteFile(pods, []byte("name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,0,0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if status := run([]string{"-quiet", "-nodes", nodes, "-pods", pods}, &out, &errs); status != sound {
		t.Fatal(status, errs.String())
	}
	if got, want := strings.Count(errs.String(), "replay: "+pods+" has no column "), 4; got != want {
		t.Errorf("%d assumptions are told, want %d: %s", got, want, errs.String())
	}
}

func TestRunFailsToWrite(t *testing.T) {
	nodes, pods := files(t)
	for _, format := range []string{"-json", "-quiet"} {
		var errs bytes.Buffer
		if status := run([]string{format, "-nodes", nodes, "-pods", pods}, full{}, &errs); status != bad {
			t.Errorf("%s: status %d, want %d", format, status, bad)
		}
		if got, want := errs.String(), "replay: no room\n"; got != want {
			t.Errorf("%s: %q, want %q", format, got, want)
		}
	}
}

// full is a disk that is full.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestEveryNth(t *testing.T) {
	nodes := []trace.Node{{Name: "0"}, {Name: "1"}, {Name: "2"}, {Name: "3"}, {Name: "4"}}
	for _, c := range []struct {
		n    int
		want string
	}{{1, "01234"}, {2, "024"}, {3, "03"}, {5, "0"}, {9, "0"}} {
		got := ""
		for _, n := range everyNth(nodes, c.n) {
			got += n.Name
		}
		if got != c.want {
			t.Errorf("every %d: nodes %s, want %s", c.n, got, c.want)
		}
	}
}
