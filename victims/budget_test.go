// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/law"
)

// left returns what is left of the budget web.
func left(t *testing.T, c *Cluster) int64 {
	t.Helper()
	b, ok := c.Budget("web")
	if !ok {
		t.Fatal("no budget web")
	}
	return b.Left
}

// TestBudgetApplied shows that a plan takes its victims off their budgets, below
// zero if need be, that Undo gives them back, and that taking a mark back does
// not. DESIGN.md, Budgets.
func TestBudgetApplied(t *testing.T) {
	c := tableCluster(t)
	if err := c.SetBudget("web", Budget{Left: 0, Hard: true}); err != nil {
		t.Fatal(err)
	}
	if err := apply(func(*Plan) {})(c); err != nil {
		t.Fatal(err)
	}
	if n := left(t, c); n != -1 {
		t.Errorf("%d left after the plan, want -1", n)
	}
	if err := c.Undo(); err != nil {
		t.Fatal(err)
	}
	if n := left(t, c); n != 0 {
		t.Errorf("%d left after undo, want 0", n)
	}
	// An error changes nothing, though the victim was marked on the way.
	if err := apply(func(p *Plan) { p.Places[0].Node = 10 })(c); err == nil || left(t, c) != 0 {
		t.Errorf("%d left after %v, want 0", left(t, c), err)
	}
	if err := apply(func(*Plan) {})(c); err != nil {
		t.Fatal(err)
	}
	if err := c.SetState("run", Running); err != nil {
		t.Fatal(err)
	}
	if n := left(t, c); n != -1 {
		t.Errorf("%d left after the mark was taken back, want -1", n)
	}
	if b, _ := c.Budget("web"); !b.Hard {
		t.Error("the budget became soft")
	}
}

// TestBudgetEnds shows that tasks that end or leave by themselves change no
// budget, and that a budget can be removed once nobody names it.
func TestBudgetEnds(t *testing.T) {
	c := tableCluster(t)
	if err := c.SetState("run", Releasing); err != nil {
		t.Fatal(err)
	}
	if err := c.RemoveTask("run"); err != nil {
		t.Fatal(err)
	}
	if n := left(t, c); n != 1 {
		t.Errorf("%d left, want 1", n)
	}
	if _, err := c.GrantPlace(&Ask{Key: "ask", Queue: 2, Budgets: []string{"web"}}, 1, leapDay); err != nil {
		t.Fatal(err)
	}
	if err := c.RemoveBudget("web"); !errors.Is(err, ErrState) {
		t.Errorf("removing what a grant names: %v", err)
	}
	// The task that takes the place of the grant names no budget.
	if _, err := c.AddTask(&Task{Key: "ask", Queue: 2, Node: 1}); err != nil {
		t.Fatal(err)
	}
	if err := c.RemoveBudget("web"); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Budget("web"); ok {
		t.Error("the budget is still there")
	}
}

// TestUnknownBudgets shows that a task may name a budget before it is set: it is listed, counts as
// the zero Budget, is saved so, and goes with the last task that names it.
func TestUnknownBudgets(t *testing.T) {
	c := tableCluster(t)
	before := c.Clone()
	require.NoError(t, law.ErrOf(c.AddTask(&Task{Key: "early", Queue: 1, Node: 1, Size: vec{9, 9}, Budgets: []string{"web", "wob"}})))
	require.Equal(t, []string{"wob"}, slices.Collect(c.UnknownBudgets()))
	b, ok := c.Budget("wob")
	require.True(t, ok)
	require.Zero(t, b)
	require.ErrorIs(t, c.RemoveBudget("wob"), ErrState)

	id, _ := c.Lookup("early")
	require.NoError(t, c.applyChange(change{For: "x", Version: c.Version(), Victims: []Victim{{Task: id, Key: "early"}}}))
	var text bytes.Buffer
	require.NoError(t, c.Save(&text))
	loaded, err := Load(&text)
	require.NoError(t, err)
	for _, c := range []*Cluster{c, loaded} {
		b, _ := c.Budget("wob")
		require.Equal(t, Budget{Left: -1}, b)
		require.Equal(t, []string{"wob"}, slices.Collect(c.UnknownBudgets()))
	}
	require.NoError(t, loaded.SetBudget("wob", Budget{Left: 3, Hard: true}))
	require.Empty(t, slices.Collect(loaded.UnknownBudgets()))
	require.NoError(t, loaded.RemoveTask("early"))
	b, ok = loaded.Budget("wob")
	require.True(t, ok)
	require.Equal(t, Budget{Left: 3, Hard: true}, b)

	require.NoError(t, c.Undo())
	require.NoError(t, c.RemoveTask("early"))
	require.Empty(t, slices.Collect(c.UnknownBudgets()))
	require.Equal(t, lookAt(before).String(), lookAt(c).String())
}

// TestBudgets shows that budgets come in the order of their names, and that
// tasks show theirs as they were named.
func TestBudgets(t *testing.T) {
	c := tableCluster(t)
	for i, name := range []string{"db", "zoo", "api"} {
		if err := c.SetBudget(name, Budget{Left: int64(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.RemoveBudget("db"); err != nil {
		t.Fatal(err)
	}
	var got []string
	for name, b := range c.Budgets() {
		got = append(got, fmt.Sprint(name, b))
	}
	if diff := cmp.Diff([]string{"api{2 false}", "web{1 false}", "zoo{1 false}"}, got); diff != "" {
		t.Error(diff)
	}
	for _, names := range [][]string{{"zoo", "api"}, {"api", "zoo"}, nil} {
		key := fmt.Sprint(names)
		id, err := c.AddTask(&Task{Key: key, Queue: 1, Node: 1, Budgets: names})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(names, c.Task(id).Budgets); diff != "" {
			t.Error(diff)
		}
	}
}
