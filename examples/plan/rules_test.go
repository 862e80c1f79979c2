// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/golden"
)

// rulesScene returns the scene of a request of testdata/rules.json, in which
// each rule decides once.
func rulesScene(t *testing.T, request int) *scene {
	t.Helper()
	data, err := os.ReadFile("testdata/rules.json")
	require.NoError(t, err)
	return mustScene(t, string(data), request)
}

// A picture of each rule, to be looked at.
func TestSVG_Rules(t *testing.T) {
	for request, name := range map[int]string{
		0: "soft-budget", 1: "blockers", 4: "hard-budget", 7: "whole-job", 8: "own-queue", 9: "job",
	} {
		t.Run(name, func(t *testing.T) {
			golden.Compare(t, "testdata/rules-"+name+".svg", string(drawSVG(rulesScene(t, request))))
		})
	}
}

// The same pictures, by what is in them.
func TestSVG_RulesContents(t *testing.T) {
	type counts map[string]int // of boxes by class, without the legend's
	for _, test := range []struct {
		name    string
		request int
		boxes   counts
		texts   []string
		titles  []string
	}{
		{"a soft budget is overrun", 0, counts{"filtered": 3, "blocks": 0, "falls": 0, "kept": 1},
			[]string{"web, soft: 1 may still stop and 2 do, 1 too many", "budget web, own cost 5"},
			[]string{"web-2: root.batch, cpu=2, priority 0, a victim, budget web, own cost 5", "db-1: root.batch, cpu=2, priority 0, kept by budget db, budget db"}},
		{"a blocker goes, whatever the amounts", 1, counts{"filtered": 3, "blocks": 2, "falls": 0, "kept": 1},
			[]string{"it needs port 8080, held by web-1 on b1, web-3 on b2", "it runs only on nodes with zone=b, which 3 of 5 nodes lack: a1, g1, g2"},
			[]string{"web-3: root.batch, cpu=2, priority 0, a victim, blocks the node, budget web", "web-1: root.batch, cpu=2, priority 0, blocks the node, budget web"}},
		{"no node is left", 2, counts{"filtered": 5}, []string{"it runs only on nodes with zone=c, which no node has"}, nil},
		{"a whole job goes", 7, counts{"filtered": 0, "blocks": 0, "falls": 3},
			[]string{"all of job llm goes", "all of job llm goes", "all of job llm goes", "job llm stops: 3 of its 3 members go, and it needs 2"}, nil},
		{"one above the minimum goes", 6, counts{"falls": 0}, []string{"job llm runs on: 1 of its 3 members goes, and it needs 2"}, nil},
		{"it takes of its own queue", 8, counts{"filtered": 4},
			[]string{"plan: stop etl-1 of its own queue and run on a1", "taken from its own queue, for there is no plan without: etl-1"}, nil},
		{"members that may not run everywhere", 9, counts{"filtered": 0},
			[]string{"2 members run only on nodes with zone=b, which 3 of 5 nodes lack: a1, g1, g2", "taken from its own queue: shop"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := readPicture(t, drawSVG(rulesScene(t, test.request)))
			for class, n := range test.boxes {
				if n > 0 {
					n++ // and the legend has one
				}
				require.Len(t, p.rects[class], n, class)
			}
			have := make(map[string]int)
			for _, w := range p.texts {
				have[w.text]++
			}
			for _, text := range test.texts {
				have[text]--
				require.GreaterOrEqual(t, have[text], 0, "%q in %v", text, p.texts)
			}
			for _, title := range test.titles {
				require.Contains(t, p.titles, title)
			}
		})
	}
}

// An overrun is as long as it is: two victims where one may stop reach twice as
// far as the mark.
func TestSVG_BudgetBar(t *testing.T) {
	p := readPicture(t, drawSVG(rulesScene(t, 0)))
	var bars []int
	for _, r := range p.rects["goes"] {
		if r.X == margin && r.H == 10 && r.W > 16 {
			bars = append(bars, r.W)
		}
	}
	require.Equal(t, []int{160}, bars, "the whole bar is red, and the mark is at its middle")
	require.Contains(t, string(drawSVG(rulesScene(t, 0))), `class="limit" d="M104 `)
}

// The graph says the same.
func TestDot_Rules(t *testing.T) {
	for _, request := range []int{0, 1, 7} {
		out := call("", "-dot", "-request", strconv.Itoa(request), "testdata/rules.json")
		require.Equal(t, decided, out.status, out.stderr)
		golden.Compare(t, "testdata/rules-dot-"+strconv.Itoa(request)+".golden", out.stdout)
	}
}

// The page is told the same.
func TestLook_Rules(t *testing.T) {
	data, err := os.ReadFile("testdata/rules.json")
	require.NoError(t, err)
	at := func(step int) *sceneLook { return asked(t, question{Document: string(data), Step: step}).Scene }
	require.Equal(t, []budgetLook{{"db, hard: none may still stop", 0, 0}, {"web, soft: 1 may still stop and 2 do, 1 too many", 1, 2}}, at(0).Budgets)
	require.True(t, at(0).find("db-1").Kept)
	require.True(t, at(1).find("web-3").Blocks)
	require.False(t, at(1).find("web-2").Blocks)
	require.True(t, at(7).find("llm-0").Falls)
	require.False(t, at(6).find("llm-1").Falls)
	for step, out := range map[int][]string{1: {"a1", "g1", "g2"}, 2: {"a1", "b1", "b2", "g1", "g2"}, 9: nil} {
		var names []string
		for _, n := range at(step).Nodes {
			if n.Out {
				names = append(names, n.Name)
			}
		}
		require.Equal(t, out, names)
	}
}
