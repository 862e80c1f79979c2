// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/law"
)

// The card of the page's first example says who starts, who stops, what work is
// lost and what is kept.
func TestCard(t *testing.T) {
	data, err := os.ReadFile("../playground/documents/00-gpus.json")
	require.NoError(t, err)
	text := asked(t, question{Document: string(data), Picture: "card"}).SVG
	p := readPicture(t, []byte(text))
	require.Equal(t, []string{"+ llm-0 (8 gpu) on node-3", "+ llm-1 (8 gpu) on node-4"}, p.textsLike(`\+ .*`))
	require.Equal(t, []string{"× sweep-1 (2 gpu) of root.batch", "× sweep-2 (2 gpu) of root.batch", "× sweep-3 (1 gpu) of root.batch",
		"× tune-0 (4 gpu) of root.batch", "× tune-1 (4 gpu) of root.batch"}, p.textsLike(`× .*`))
	require.Equal(t, []string{"✓ root.research has 17 of 20 gpu", "✓ root.serving has 8 of 8 gpu"}, p.textsLike(`[✓✗] .*`))
	require.Equal(t, []string{"2", "5", "2 of 2"}, p.textsLike(`[0-9]+( of [0-9]+)?`))
	require.Equal(t, []string{"Work lost: 7h30m"}, p.textsLike(`Work .*`))

	// In another type it says so.
	cpu := asked(t, question{Document: string(data), Picture: "card", Type: "cpu"}).SVG
	require.Contains(t, cpu, "✓ root.research has 136 of 160 cpu")
	require.Contains(t, cpu, "(64 cpu)")
}

// Who takes from another below its guarantee breaks that; what a queue gives up for
// its own work is said, and breaks nothing. No planner makes such a plan of the
// demo, so it is made here.
func TestCard_BelowGuarantee(t *testing.T) {
	d := newDrawing(demoScene(t, 1)) // for root.shop.web
	task, ok := d.cluster.Lookup("bob-2")
	require.True(t, ok)
	d.victims = append(slices.Clone(d.victims), d.cluster.Task(task))
	_, broken := d.guarantees()
	require.Equal(t, []string{"✗ root.lab has 3 of 6 cpu"}, broken)

	d.asker, ok = d.cluster.Tree().Lookup("root.lab.alice")
	require.True(t, ok)
	d.comes = nil
	holds, broken := d.guarantees()
	require.Empty(t, broken)
	require.Contains(t, holds, "✓ root.lab has 3 of 6 cpu, for its own work")
}

// Every card of every example is well-formed, and there are no plans without one.
func TestCard_Documents(t *testing.T) {
	for _, file := range law.Some(documents(t)) {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for i := range asked(t, question{Document: string(data)}).Steps {
			for _, picture := range []string{"plan", "card"} {
				readPicture(t, []byte(asked(t, question{Document: string(data), Step: i, Picture: picture}).SVG))
			}
		}
	}
}

// Units of GPUs are drawn one by one, and any type can be the one that is drawn.
func TestSVG_Cells(t *testing.T) {
	data, err := os.ReadFile("../playground/documents/00-gpus.json")
	require.NoError(t, err)
	gpu := asked(t, question{Document: string(data), Picture: "plan"}).SVG
	// A task of n units has n-1 lines.
	require.Equal(t, 7+7+3+3+3+3+1+1+1, strings.Count(gpu, `class="cell"`))
	require.Contains(t, gpu, "nodes, in gpu")
	cpu := asked(t, question{Document: string(data), Picture: "plan", Type: "cpu"}).SVG
	require.Zero(t, strings.Count(cpu, `class="cell"`), "96 are too many")
	require.Contains(t, cpu, "nodes, in cpu")
}

// A page shows the nodes that matter most, unless it asks for all.
func TestLook_ManyNodes(t *testing.T) {
	var nodes []string
	for range 50 {
		nodes = append(nodes, `{"name": "n`+strings.Repeat("x", len(nodes))+`", "capacity": {"cpu": "1"}}`)
	}
	last := "n" + strings.Repeat("x", 49)
	doc := `{"name": "many", "queues": {"name": "root", "queues": [{"name": "a"}]}, "nodes": [` + strings.Join(nodes, ",") + `], "tasks": [],
		"requests": [{"ask": {"key": "x", "queue": "root.a", "application": "x", "resources": {"cpu": "1"}, "requiredNode": "` + last + `"}}]}`
	a := asked(t, question{Document: doc})
	require.Empty(t, a.Mistakes)
	require.Len(t, a.Scene.Nodes, mostNodes)
	require.Equal(t, 50-mostNodes, a.Scene.More)
	require.Equal(t, last, a.Scene.Nodes[mostNodes-1].Name, "somebody comes there")
	a = asked(t, question{Document: doc, All: true})
	require.Len(t, a.Scene.Nodes, 50)
	require.Zero(t, a.Scene.More)
}
