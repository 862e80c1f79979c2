// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	nodeHeads = "sn,cpu_milli,memory_mib,gpu,model\n"
	podHeads  = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
)

func TestReadNodes(t *testing.T) {
	// Columns are found by their headings, in whatever order and company.
	got, err := readNodes(strings.NewReader("model,gpu,zone,sn,memory_mib,cpu_milli\nT4,2,z,n0,1024,32000\n,0,z,n1,0,0\n"), "n.csv")
	if err != nil {
		t.Fatal(err)
	}
	want := []Node{{Name: "n0", CPU: 32000, Memory: 1024, GPUs: 2, Model: "T4"}, {Name: "n1"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadPods(t *testing.T) {
	got, assumed, err := readPods(strings.NewReader(podHeads+
		"late,4000,8,0,0,,Guaranteed,Running,20,30,20\n"+
		"whole,1000,16,8,1000,G2|G3,LS,Running,10,40,15\n"+
		"share,1000,16,1,460,,BE,Pending,10,10,\n"+
		"first,2000,32,1,1000,T4,Burstable,Failed,0,5,1\n"), "p.csv")
	if err != nil {
		t.Fatal(err)
	}
	// By time of creation; of the same second, as in the file.
	want := []Pod{
		{Name: "first", CPU: 2000, Memory: 32, GPU: 1000, Models: []string{"T4"}, QoS: Burstable, Created: 0, Deleted: 5},
		{Name: "whole", CPU: 1000, Memory: 16, GPU: 8000, Models: []string{"G2", "G3"}, QoS: LatencySensitive, Created: 10, Deleted: 40},
		{Name: "share", CPU: 1000, Memory: 16, GPU: 460, QoS: BestEffort, Created: 10, Deleted: 10},
		{Name: "late", CPU: 4000, Memory: 8, QoS: Guaranteed, Created: 20, Deleted: 30},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if assumed != nil {
		t.Errorf("assumed %q, and all columns are there", assumed)
	}
}

// A list of pods has five columns at least. What is missing is assumed, and
// said.
// TestByteOrderMark: some programs write one before the headings.
func TestByteOrderMark(t *testing.T) {
	for _, mark := range []string{"", "\ufeff"} {
		table, err := openTable(strings.NewReader(mark+"sn,cpu\n"), "nodes", []string{"sn"})
		if err != nil {
			t.Fatal(err)
		}
		if i, ok := table.column["sn"]; !ok || i != 0 {
			t.Errorf("%q: columns are %v", mark, table.column)
		}
	}
}

func TestReadPods_FewColumns(t *testing.T) {
	const five = "name,cpu_milli,memory_mib,num_gpu,gpu_milli"
	for _, c := range []struct {
		more, values string
		pod          Pod // the second of two
		assumed      int
	}{
		{"", "", Pod{QoS: LatencySensitive, Created: 60, Deleted: 60 + assumedLife}, 4},
		{",qos", ",BE", Pod{QoS: BestEffort, Created: 60, Deleted: 60 + assumedLife}, 3},
		{",gpu_spec", ",T4|P100", Pod{QoS: LatencySensitive, Models: []string{"T4", "P100"}, Created: 60, Deleted: 60 + assumedLife}, 3},
		{",creation_time", ",7", Pod{QoS: LatencySensitive, Created: 7, Deleted: 7 + assumedLife}, 3},
		{",deletion_time", ",99", Pod{QoS: LatencySensitive, Created: 60, Deleted: 99}, 3},
		{",deletion_time", ",9", Pod{QoS: LatencySensitive, Created: 9, Deleted: 9}, 3},
		{",qos,creation_time,deletion_time", ",Guaranteed,5,6", Pod{QoS: Guaranteed, Created: 5, Deleted: 6}, 1},
	} {
		pods, assumed, err := readPods(strings.NewReader(five+c.more+"\na,2000,32,1,460"+c.values+"\nb,2000,32,1,460"+c.values+"\n"), "p.csv")
		if err != nil {
			t.Fatal(err)
		}
		want := c.pod
		want.Name, want.CPU, want.Memory, want.GPU = "b", 2000, 32, 460
		if diff := cmp.Diff(want, pods[1]); diff != "" {
			t.Errorf("with%s: %s", c.more, diff)
		}
		if len(assumed) != c.assumed {
			t.Errorf("with%s: assumed %q", c.more, assumed)
		}
	}
	_, assumed, err := readPods(strings.NewReader(five+"\n"), "p.csv")
	want := []string{
		"p.csv has no column gpu_spec: GPUs of any model will do",
		"p.csv has no column qos: every pod is of the class LS",
		"p.csv has no column creation_time: a pod is created every minute, in the order of the file",
		"p.csv has no column deletion_time: no pod ends",
	}
	if diff := cmp.Diff(want, assumed); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestReadErrors(t *testing.T) {
	nodes := func(r io.Reader) error { _, err := readNodes(r, "n.csv"); return err }
	pods := func(r io.Reader) error { _, _, err := readPods(r, "p.csv"); return err }
	const good = "ok,1,1,0,0,,LS,Running,0,1,0\n"
	for _, c := range []struct {
		name string
		read func(io.Reader) error
		text string
		is   error
		want string
	}{
		{"empty file", nodes, "", io.EOF, `n.csv: headings: EOF`},
		{"a column is missing", nodes, "sn,cpu_milli,gpu,model\n", errColumn,
			`n.csv:1: column memory_mib: no such column`},
		{"a field is missing", nodes, nodeHeads + "n0,1,1,1\n", csv.ErrFieldCount,
			`n.csv: record on line 2: wrong number of fields`},
		{"not a number", nodes, nodeHeads + "n0,1,1,1,\nn1,1,2x,1,\n", errNumber,
			`n.csv:3: column memory_mib: "2x": not a number that a trace can hold: want 0 to 1099511627776`},
		{"a negative number", nodes, nodeHeads + "n0,-1,1,1,\n", errNumber,
			`n.csv:2: column cpu_milli: "-1": not a number that a trace can hold: want 0 to 1099511627776`},
		{"too large a number", nodes, nodeHeads + "n0,1,1,1048577,\n", errNumber,
			`n.csv:2: column gpu: "1048577": not a number that a trace can hold: want 0 to 1048576`},
		{"a number beyond int64", nodes, nodeHeads + "n0,9223372036854775808,1,1,\n", errNumber,
			`n.csv:2: column cpu_milli: "9223372036854775808": not a number that a trace can hold: want 0 to 1099511627776`},
		{"no name", nodes, nodeHeads + ",1,1,1,\n", errName, `n.csv:2: column sn: "": empty, or used before`},
		{"a name twice", nodes, nodeHeads + "n0,1,1,1,\nn0,1,1,1,\n", errName, `n.csv:3: column sn: "n0": empty, or used before`},
		{"the first of two", nodes, nodeHeads + "n0,x,y,1,\n", errNumber,
			`n.csv:2: column cpu_milli: "x": not a number that a trace can hold: want 0 to 1099511627776`},
		{"a line break in quotes", nodes, nodeHeads + "\"n\n0\",1,1,1,\nn1,x,1,1,\n", errNumber,
			`n.csv:4: column cpu_milli: "x": not a number that a trace can hold: want 0 to 1099511627776`},
		{"an open quote", pods, podHeads + "\"ok,1\n", csv.ErrQuote,
			`p.csv: parse error on line 2, column 7: extraneous or missing " in quoted-field`},
		{"no such class", pods, podHeads + good + "p,1,1,0,0,,ls,Running,0,1,0\n", errQoS,
			`p.csv:3: column qos: "ls": unknown class of service`},
		{"more than one GPU in a share", pods, podHeads + "p,1,1,1,1001,,LS,Running,0,1,0\n", errShare,
			`p.csv:2: column gpu_milli: "1001": more than one GPU, or a share of several`},
		{"a share of several", pods, podHeads + "p,1,1,2,500,,LS,Running,0,1,0\n", errShare,
			`p.csv:2: column gpu_milli: "500": more than one GPU, or a share of several`},
		{"deleted before it is created", pods, podHeads + "p,1,1,0,0,,LS,Running,5,4,0\n", errOrder,
			`p.csv:2: column deletion_time: "4": deleted before it is created`},
		{"no time", pods, podHeads + "p,1,1,0,0,,LS,Running,5,,0\n", errNumber,
			`p.csv:2: column deletion_time: "": not a number that a trace can hold: want 0 to 2147483648`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.read(strings.NewReader(c.text))
			if !errors.Is(err, c.is) {
				t.Errorf("error %v is none of %v", err, c.is)
			}
			if err != nil && err.Error() != c.want {
				t.Errorf("error\n%v, want\n%v", err, c.want)
			}
		})
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	nodes := file("nodes.csv", nodeHeads+"n0,1,1,1,\n")
	pods := file("pods.csv", podHeads+"p,1,1,0,0,,LS,Running,0,1,0\n")
	missing := filepath.Join(dir, "missing.csv")

	w, err := Read(nodes, pods)
	if err != nil || len(w.Nodes) != 1 || len(w.Pods) != 1 {
		t.Errorf("read %+v, %v; want a node and a pod", w, err)
	}
	for _, files := range [][2]string{{missing, pods}, {nodes, missing}} {
		if _, err := Read(files[0], files[1]); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v, want that a file does not exist", err)
		}
	}
}

// FuzzReadPods holds that whatever is read is either an error that names the
// file or pods that can be replayed.
func FuzzReadPods(f *testing.F) {
	f.Add(podHeads + "p,1,1,1,460,G2|T4,LS,Running,5,9,0\n")
	f.Add(podHeads + "p,1,1,8,1000,,BE,Running,5,9,0\nq,1,1,0,0,,Guaranteed,Failed,0,0,\n")
	f.Fuzz(func(t *testing.T, text string) {
		pods, _, err := readPods(strings.NewReader(text), "p.csv")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "p.csv:") {
				t.Errorf("error %v does not name the file", err)
			}
			return
		}
		names := map[string]bool{}
		before := int64(0)
		for _, p := range pods {
			if p.Name == "" || names[p.Name] {
				t.Errorf("name %q: empty, or there twice", p.Name)
			}
			names[p.Name] = true
			if p.Created < before || p.Deleted < p.Created || p.Deleted > MaxTime && p.Deleted != p.Created+assumedLife {
				t.Errorf("%s: created %d after %d, deleted %d", p.Name, p.Created, before, p.Deleted)
			}
			before = p.Created
			for i, v := range p.Size() {
				if v < 0 {
					t.Errorf("%s: %d of type %d", p.Name, v, i)
				}
			}
			if int(p.QoS) >= Classes {
				t.Errorf("%s: class %d", p.Name, p.QoS)
			}
		}
	})
}
