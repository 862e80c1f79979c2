// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"bufio"
	"bytes"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// savedText returns what Save writes of a cluster.
func savedText(t require.TestingT, c *Cluster) string {
	var b bytes.Buffer
	require.NoError(t, c.Save(&b))
	return b.String()
}

// allOf is all that can be seen of a cluster, rows, lists and what is free included.
func allOf(c *Cluster) string {
	return lookAt(c).String() + withoutRows(c) + c.Version().String()
}

// Restart saves the cluster and goes on with the one that is loaded. The twin knows of
// nothing but the versions: all that follows is held to it as before.
func (x *clusterMachine) Restart(t *rapid.T) {
	text := savedText(t, x.c)
	loaded, err := Load(strings.NewReader(text))
	require.NoError(t, err, text)
	require.Equal(t, text, savedText(t, loaded), "saved again")
	require.Equal(t, allOf(x.c), allOf(loaded))
	require.Equal(t, x.c.Tree().String(), loaded.Tree().String())
	x.c, x.version, x.seen = loaded, loaded.Version(), map[Version]string{}
	x.final()
}

// savedExample is the text of a cluster with everything in it that a cluster can have.
func savedExample(t require.TestingT) string {
	schema, err := resources.NewSchema("gpu", "cpu")
	require.NoError(t, err)
	gpus := func(n int64) resources.Limit {
		return resources.Limit{Value: resources.Vector{n}, Defined: 1}
	}
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Max: gpus(4), Children: []queue.Config{
		{Name: "a", Guaranteed: gpus(5), Properties: map[string]string{"priority.offset": "x"}},
		{Name: "b", Properties: map[string]string{"preemption.policy": "disabled"}},
	}})
	require.NoError(t, err)
	c := NewCluster(tree)
	require.NoError(t, c.SetBudget("web", Budget{Left: 3, Hard: true}))
	require.NoError(t, c.SetMinMembers("j", 2))
	require.NoError(t, c.SetMinMembers("to come", 3))
	for _, name := range []string{"n0", "n1", "n2", "n3"} {
		_, err := c.AddNode(&Node{Name: name, Capacity: resources.Vector{8, 64}, Domains: []string{"r1"}, Penalty: 2})
		require.NoError(t, err)
	}
	for i, key := range []string{"t0", "t1", "t2", "t3", "t4", "t5"} {
		_, err := c.AddTask(&Task{
			Key: key, Queue: queue.ID(1 + i%2), Node: NodeID(1 + i%3), Size: resources.Vector{1, 2}, Application: key[:1],
			Job: "j", Budgets: []string{"web"}, Created: leapDay, Scheduled: leapDay, Checkpoint: leapDay, Cost: 3,
		})
		require.NoError(t, err)
	}
	require.NoError(t, c.RemoveTask("t0"))
	require.NoError(t, law.ErrOf(c.RemoveNode("n3")))
	require.NoError(t, law.ErrOf(c.RemoveNode("n2")))
	_, err = c.SyncNode("n1", []Task{{Key: "t1", Queue: 2, Size: resources.Vector{1}}, {Key: "new", Queue: 0, Size: resources.Vector{2}}})
	require.NoError(t, err)
	_, err = c.AddTask(&Task{Key: "late", Queue: 1, NodeName: "n9"})
	require.NoError(t, err)
	for _, key := range []string{"x", "y", "z"} {
		_, err = c.AddTask(&Task{Key: key, Queue: 1, Node: 1})
		require.NoError(t, err)
	}
	require.NoError(t, c.RemoveTask("x"))
	require.NoError(t, c.RemoveTask("y"))
	id, _ := c.Lookup("t3")
	require.NoError(t, c.applyChange(change{
		For: "ask", Version: c.Version(), At: leapDay, Victims: []Victim{{Task: id, Key: "t3"}},
		Places: []changePlace{{Ask: Ask{Key: "ask", Queue: 1, Size: resources.Vector{1}}, Node: 1}},
	}))
	return savedText(t, c)
}

func TestLoad_Example(t *testing.T) {
	text := savedExample(t)
	c, err := Load(strings.NewReader(text))
	require.NoError(t, err)
	require.Equal(t, text, savedText(t, c))
	for i, err := range c.Tree().Warnings() {
		want := []string{"over-committed", "bad property"}[i]
		require.ErrorContains(t, err, want)
	}
	require.ErrorIs(t, c.Undo(), ErrState)
}

// TestLoad_Cut cuts a text at each byte, under -short at every seventh.
func TestLoad_Cut(t *testing.T) {
	text, step := savedExample(t), 1
	if testing.Short() {
		step = 7
	}
	for n := 0; n < len(text); n += step {
		c, err := Load(strings.NewReader(text[:n]))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "at %d", n)
		require.Nil(t, c)
	}
}

// TestLoad_Bad spoils one thing in a text.
func TestLoad_Bad(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{"preempt cluster 3", "preempt cluster 4", `line 1: bad saved text: "preempt cluster 4", want "preempt cluster 3" or less`},
		{"preempt queues 3", "preempt queues 7", `line 3: bad saved text: "preempt queues 7"`},
		{`"versions":25`, `"versions":9999999999999999999`, "line 2: version"},
		{`"version":`, `"colour":`, `unknown field "colour"`},
		{`"version":`, `"version":0,"versions":`, "version 0 of"},
		{`"types":["gpu","cpu"]`, `"types":["gpu","gpu"]`, "line 4: "},
		{`"max":{"gpu":4}`, `"max":{"tpu":4}`, "a bound of a type that there is not"},
		{`"max":{"gpu":4}`, `"max":{"gpu":-4}`, `bound -4 of type "gpu"`},
		{`"depth":1,"name":"b"`, `"depth":3,"name":"b"`, `queue "b" at depth 3`},
		{`"depth":1,"name":"b"`, `"depth":1,"name":"a"`, `a second queue "root.a"`},
		{`"weight":1`, `"weight":0`, "weight 0"},
		{`"delay":"30s"`, `"delay":"-30s"`, `delay "-30s"`},
		{`"priority":"default"`, `"priority":"high"`, `priority "high"`},
		{`"left":2`, `"left":-9223372036854775808`, `budget "web": left -9223372036854775808: out of range`},
		{`"name":"n1"`, `"name":"n0"`, `node "n0": duplicate key`},
		{`"name":"n1"`, `"name":""`, `node "": duplicate key`},
		{`"capacity":[8,64]`, `"capacity":[-8,64]`, `node "n0": capacity gpu -8`},
		{`"capacity":[8,64]`, `"capacity":[9223372036854775807,64]`, `capacity of all nodes: gpu: out of range`},
		{`"order":2`, `"order":99`, "order 99 of"},
		{`"order":2`, `"order":1`, `order 1, which another one has`},
		{`"unknown":[2,0]`, `"unknown":[2]`, "unknown usage [2]"},
		{`"unknown":[2,0]`, `"unknown":[9223372036854775807,0]`, "9223372036854775807"},
		{`"queue":"root.a"}`, `"queue":"root.x"}`, `queue "root.x": unknown`},
		{`"queue":"root.a"}`, `"queue":"root"}`, `queue root: not a leaf queue`},
		{`"node":"n0"`, `"node":"n7"`, `node "n7": unknown`},
		{`"budgets":["web"]`, `"budgets":["wob"]`, `budget "wob": unknown`},
		{`"job":"to come"`, `"job":"j"`, `minimum of job "j": duplicate key`},
		{`"job":"to come"`, `"job":""`, `minimum of job "": empty name`},
		{`"members":3`, `"members":0`, `minimum of job "to come": 0: out of range`},
		{`"members":3`, `"members":3,"placed":true`, `minimum of job "to come": it has no tasks: unknown`},
		{`"size":[1,0]`, `"size":[9223372036854775807,0]`, "in use: out of range"},
		{`"size":[1,0]`, `"size":[1,0,3]`, "3 of type number 3, and the schema has 2: bad amount"},
		{`"size":[1,0]`, `"size":[1.5,0]`, "1.5"},
		{`"cost":3`, `"cost":-3`, "cost -3: bad amount"},
		{`"victims":[3]`, `"victims":[6]`, "row 6 is no task"},
		{`"victims":[3]`, `"victims":[3],"must":[3]`, "row 3 is no task, or is waited for already"},
		{`ask {"key":"ask"`, `ask {"key":""`, `ask "": duplicate key`},
		{`ask {"key":"ask"`, `ask {"key":"ask","needs":-1`, `ask "ask": it needs -1 members: out of range`},
		{`ask {"key":"ask","since":"2024`, `ask {"key":"ask","since":"9024`, `ask "ask": time 9024`},
		{`,"ask":1`, `,"ask":2`, `grant of "ask": ask 2: unknown`},
		{`,"ask":1`, ``, `grant of "ask": ask 0: unknown`},
		{`"state":"preempting"`, `"state":"dreaming"`, `"dreaming"`},
		{`"state":"granted"`, `"state":"releasing"`, "is no grant"},
		{`"key":"t3"`, `"key":"t1"`, `task "t1": duplicate key`},
		{`task {"row":1`, `task {"row":2147483647`, "row 2147483647 after"},
		{`task {"row":1`, `task {"row":-1`, "row -1 after"},
		{`node {"row":1`, `node {"row":0`, `node "n0": row 0 after 1 rows`},
		{`"freeTasks":[`, `"freeNodes":[0],"freeTasks":[`, "free row 0 of"},
		{`"freeTasks":[`, `"freeTasks":[1,`, "free row"},
		{`"created":"2024`, `"created":"9024`, "out of range"},
		{`"number":1`, `"number":2`, "number 2 after 0 of 1"},
		{`"wait":1`, `"wait":2`, "wait 2: unknown"},
		{`,"wait":1`, ``, "wait 1: no grant waits"},
		{`wait {"victims"`, `wiat {"victims"`, `word "wiat" out of place`},
		{"end ", "end 1", "lines"},
		{"node {", "node", "want a word and a value"},
		{`"hard":true}`, `"hard":true} {}`, "more than one value"},
	} {
		t.Run(test.new, func(t *testing.T) {
			text := savedExample(t)
			require.Contains(t, text, test.old)
			c, err := Load(strings.NewReader(strings.Replace(text, test.old, test.new, 1)))
			require.Nil(t, c)
			require.ErrorContains(t, err, test.want)
			require.Regexp(t, `^victims: load: .*line \d+: `, err.Error())
		})
	}
}

// TestSave_Bad has what cannot be written.
func TestSave_Bad(t *testing.T) {
	c, err := Load(strings.NewReader(savedExample(t)))
	require.NoError(t, err)
	require.ErrorIs(t, c.Save(fullDisk{}), io.ErrShortWrite)
	_, err = c.AddTask(&Task{Key: "a\xff", Queue: 1, Node: 1})
	require.NoError(t, err)
	require.EqualError(t, c.Save(io.Discard), `victims: save: task "a\xff": not UTF-8, which cannot be saved`)
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// TestLoad_Next reads two clusters, one after the other.
func TestLoad_Next(t *testing.T) {
	text := savedExample(t)
	r := bufio.NewReader(strings.NewReader(text + text))
	for range 2 {
		c, err := Load(r)
		require.NoError(t, err)
		require.Equal(t, text, savedText(t, c))
	}
	_, err := r.ReadByte()
	require.ErrorIs(t, err, io.EOF)
}

// FuzzLoad loads any text. What is taken is a cluster: saved again it is as it was, and
// it can be changed and decided over.
func FuzzLoad(f *testing.F) {
	text := savedExample(f)
	f.Add(text)
	f.Add(text[:len(text)/2])
	for _, name := range []string{"host-1.txt", "host-2.txt"} {
		old, err := os.ReadFile("../testdata/saved/" + name)
		require.NoError(f, err)
		f.Add(string(old))
	}
	for _, spoil := range [][2]string{{`"row":1`, `"row":3`}, {`"n1"`, `"n2"`}, {`granted`, `running`}, {`"size":[1,2]`, `"size":[]`}, {`"wait":1`, `"wait":0`}} {
		f.Add(strings.Replace(text, spoil[0], spoil[1], 1))
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Load(strings.NewReader(text))
		if err != nil {
			require.Nil(t, c)
			return
		}
		again := savedText(t, c)
		d, err := Load(strings.NewReader(again))
		require.NoError(t, err, again)
		require.Equal(t, again, savedText(t, d))
		require.Equal(t, allOf(c), allOf(d))
		for id := range c.Granted() {
			ask := Ask{Key: c.Key(id), Queue: c.Task(id).Queue, Size: c.Task(id).Size}
			require.NoError(t, (&planner{Cluster: c}).Decide(&Decision{}, &ask, leapDay))
		}
		for _, id := range slices.Collect(c.Tasks()) {
			if key := c.Key(id); c.State(id) != Granted {
				require.NoError(t, c.RemoveTask(key))
			}
		}
		for g := range maps.Clone(c.askIDs) {
			require.NoError(t, c.Drop(g))
		}
		for _, id := range slices.Collect(c.Nodes()) {
			require.NoError(t, law.ErrOf(c.RemoveNode(c.NodeName(id))))
		}
		require.Zero(t, c.TaskLen()+c.NodeLen())
		require.True(t, resources.IsZero(c.Tree().Usage(queue.Root)))
		for name := range c.Budgets() {
			require.Zero(t, c.budgets[c.budgetOrder[0]].uses, name)
			require.NoError(t, c.RemoveBudget(name))
			break
		}
	})
}
