// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/lent"
)

// settings returns what a queue is set to, as text.
func settings(t *Tree, q ID) string {
	p := t.Policies(q)
	own := p.Preemption
	by, disabled := disabledBy(t, q)
	if disabled && by != q {
		own = Default
	}
	text := fmt.Sprintf("%v disabled=%v delay=%v %v offset=%d quota=%v",
		own, disabled, *p.PreemptionDelay, p.PriorityFence, *p.PriorityOffset, *p.QuotaDelay)
	if p.Weight != 1 {
		text += fmt.Sprintf(" weight=%d", p.Weight)
	}
	if p.WithinQueue != "" {
		text += fmt.Sprintf(" within=%s", p.WithinQueue)
	}
	for i := range sayings {
		s, unset := &sayings[i], Policies{}
		switch s.field {
		case "Preemption", "PreemptionDelay", "PriorityFence", "PriorityOffset", "QuotaDelay", "Weight", "WithinQueue":
			continue
		}
		if s.fill(&unset, aboveRoot()); s.text(&p) != s.text(&unset) {
			text += fmt.Sprintf(" %s=%s", s.names[0], s.text(&p))
		}
	}
	return text
}

const unset = "default disabled=false delay=30s default offset=0 quota=0s"

// Each sets one property of a queue below the root, to what settings shows, or
// to nothing with a warning.
var propertyTests = []struct {
	key, value string
	settings   string
	warning    string
}{
	{"preemption.policy", "default", unset, ""},
	{"preemption.policy", "fence", "fence disabled=false delay=30s default offset=0 quota=0s", ""},
	{"preemption.policy", "disabled", "disabled disabled=true delay=30s default offset=0 quota=0s", ""},
	{"preemption.policy", "", unset, `"": want default, fence or disabled`},
	{"preemption.policy", "Fence", unset, `"Fence": want default, fence or disabled`},
	{"preemption.policy", " fence", unset, `" fence": want default, fence or disabled`},
	{"preemption.policy", "1", unset, `"1": want default, fence or disabled`},

	{"preemption.delay", "1ns", "default disabled=false delay=1ns default offset=0 quota=0s", ""},
	{"preemption.delay", "1h30m", "default disabled=false delay=1h30m0s default offset=0 quota=0s", ""},
	{"preemption.delay", "0.5s", "default disabled=false delay=500ms default offset=0 quota=0s", ""},
	{"preemption.delay", "30s", unset, ""},
	{"preemption.delay", "", unset, `"": want a duration, 0 or above; it counts as 30s`},
	{"preemption.delay", "0", "default disabled=false delay=0s default offset=0 quota=0s", ""},
	{"preemption.delay", "0s", "default disabled=false delay=0s default offset=0 quota=0s", ""},
	{"preemption.delay", "-1s", unset, `"-1s": want a duration, 0 or above; it counts as 30s`},
	{"preemption.delay", "60", unset, `"60": want a duration, 0 or above; it counts as 30s`},
	{"preemption.delay", "1d", unset, `"1d": want a duration, 0 or above; it counts as 30s`},
	{"preemption.delay", "1 s", unset, `"1 s": want a duration, 0 or above; it counts as 30s`},
	{"preemption.delay", "9999999h", unset, `"9999999h": want a duration, 0 or above; it counts as 30s`},
	{"preemption.delay", "0.1ns", "default disabled=false delay=0s default offset=0 quota=0s", ""},

	{"priority.policy", "default", unset, ""},
	{"priority.policy", "fence", "default disabled=false delay=30s fence offset=0 quota=0s", ""},
	{"priority.policy", "", unset, `"": want default or fence`},
	{"priority.policy", "disabled", unset, `"disabled": want default or fence`},
	{"priority.policy", "FENCE", unset, `"FENCE": want default or fence`},

	{"priority.offset", "100", "default disabled=false delay=30s default offset=100 quota=0s", ""},
	{"priority.offset", "+100", "default disabled=false delay=30s default offset=100 quota=0s", ""},
	{"priority.offset", "-0", unset, ""},
	{"priority.offset", "2147483647", "default disabled=false delay=30s default offset=2147483647 quota=0s", ""},
	{"priority.offset", "-2147483648", "default disabled=false delay=30s default offset=-2147483648 quota=0s", ""},
	{"priority.offset", "2147483648", unset, `"2147483648": want a 32-bit integer`},
	{"priority.offset", "-2147483649", unset, `"-2147483649": want a 32-bit integer`},
	{"priority.offset", "", unset, `"": want a 32-bit integer`},
	{"priority.offset", "1e3", unset, `"1e3": want a 32-bit integer`},
	{"priority.offset", "1.0", unset, `"1.0": want a 32-bit integer`},
	{"priority.offset", "0x10", unset, `"0x10": want a 32-bit integer`},
	{"priority.offset", "1_000", unset, `"1_000": want a 32-bit integer`},
	{"priority.offset", " 1", unset, `" 1": want a 32-bit integer`},

	{"quota.preemption.delay", "5m", "default disabled=false delay=30s default offset=0 quota=5m0s", ""},
	{"quota.preemption.delay", "90", "default disabled=false delay=30s default offset=0 quota=1m30s", ""},
	{"quota.preemption.delay", "0", unset, ""},
	{"quota.preemption.delay", "0s", unset, ""},
	{"quota.preemption.delay", "9223372036", "default disabled=false delay=30s default offset=0 quota=2562047h47m16s", ""},
	{"quota.preemption.delay", "9223372037", "default disabled=false delay=30s default offset=0 quota=2562047h47m16.854775807s", ""},
	{"quota.preemption.delay", "9223372036854775808", "default disabled=false delay=30s default offset=0 quota=2562047h47m16.854775807s", ""},
	{"quota.preemption.delay", "-9223372036854775809", unset, `"-9223372036854775809": want a duration or seconds, 0 or above`},
	{"quota.preemption.delay", "-1", unset, `"-1": want a duration or seconds, 0 or above`},
	{"quota.preemption.delay", "-5m", unset, `"-5m": want a duration or seconds, 0 or above`},
	{"quota.preemption.delay", "1.5", unset, `"1.5": want a duration or seconds, 0 or above`},
	{"quota.preemption.delay", "", unset, `"": want a duration or seconds, 0 or above`},
	{"quota.preemption.delay", "soon", unset, `"soon": want a duration or seconds, 0 or above`},

	{"fair.weight", "1", unset, ""},
	{"fair.weight", "4", unset + " weight=4", ""},
	{"fair.weight", "2147483647", unset + " weight=2147483647", ""},
	{"fair.weight", "2147483648", unset, `"2147483648": want an integer from 1 to 2147483647`},
	{"fair.weight", "0", unset, `"0": want an integer from 1 to 2147483647`},
	{"fair.weight", "-1", unset, `"-1": want an integer from 1 to 2147483647`},
	{"fair.weight", "1.5", unset, `"1.5": want an integer from 1 to 2147483647`},
	{"fair.weight", "0x4", unset, `"0x4": want an integer from 1 to 2147483647`},
	{"fair.weight", "", unset, `"": want an integer from 1 to 2147483647`},

	{"preemption.own-leaf", "never", unset + " within=never", ""},
	{"preemption.own-leaf", "Met", unset + " within=met", ""},
	{"preemption.own-leaf", "BRANCH", unset + " within=branch", ""},
	{"preemption.own-leaf", "any", unset, `"any": want never, met or branch`},
	{"preemption.own-leaf", "", unset, `"": want never, met or branch`},
	{"preemption.own-leaf", " met", unset, `" met": want never, met or branch`},

	{"preemption.quota.delay", "5m", "default disabled=false delay=30s default offset=0 quota=5m0s", ""},
	{"preemption.quota.delay", "90", "default disabled=false delay=30s default offset=0 quota=1m30s", ""},
	{"preemption.quota.delay", "soon", unset, `"soon": want a duration or seconds, 0 or above`},

	// Names that are none of ours, or nearly.
	{"application.sort.policy", "fifo", unset, ""},
	{"preemption", "fence", unset, ""},
	{"Preemption.policy", "fence", unset, ""},
	{"", "fence", unset, ""},
	{"preemption.polcy", "fence", unset, `"fence": unknown property`},
	{"preemption.", "fence", unset, `"fence": unknown property`},
	{"fair.wieght", "4", unset, `"4": unknown property`},
	{"priority.delay", "1s", unset, `"1s": unknown property`},
	{"quota.preemption.policy", "fence", unset, `"fence": unknown property`},
}

func TestProperty(t *testing.T) {
	for _, test := range propertyTests {
		t.Run(test.key+"="+test.value, func(t *testing.T) {
			a := with(node("a", "", ""), test.key, test.value)
			tree := mustNew(t, node("root", "", "", a), lenient)
			require.Equal(t, unset, settings(tree, Root))
			require.Equal(t, test.settings, settings(tree, 1))
			strict, err := New(schema, node("root", "", "", a))

			var want []string
			if test.warning != "" {
				want = []string{"queue: root.a: bad property: " + test.key + " " + test.warning}
				require.ErrorIs(t, tree.Warnings()[0], lent.ErrProperty)
				require.EqualError(t, err, want[0])
			} else {
				require.Equal(t, test.settings, settings(strict, 1))
			}
			require.Equal(t, want, texts(tree.Warnings()...))
		})
	}
}

// What holds below a queue. Each property is set at root.a; x is a leaf that
// says nothing, and y one that overrides.
func TestInheritance(t *testing.T) {
	tree := mustNew(t, node("root", "", "",
		with(node("a", "", "",
			node("x", "", ""),
			with(node("y", "", ""), "preemption.policy", "default", "preemption.delay", "2m", "priority.offset", "1", "quota.preemption.delay", "1s"),
			with(node("z", "", ""), "preemption.policy", "fenced", "preemption.delay", "never"),
			with(node("m", "", "", node("leaf", "", "")), "preemption.policy", "fence")),
			"preemption.policy", "disabled", "preemption.delay", "1m", "priority.policy", "fence", "priority.offset", "7", "quota.preemption.delay", "5m"),
		node("b", "", "")), lenient)
	for path, want := range map[string]string{
		"root":          unset,
		"root.a":        "disabled disabled=true delay=1m0s fence offset=7 quota=5m0s",
		"root.a.x":      "default disabled=true delay=1m0s default offset=0 quota=0s",
		"root.a.y":      "default disabled=false delay=2m0s default offset=1 quota=1s",
		"root.a.z":      "default disabled=true delay=30s default offset=0 quota=0s", // a bad delay is 30s, a bad policy unset
		"root.a.m":      "fence disabled=false delay=1m0s default offset=0 quota=0s",
		"root.a.m.leaf": "default disabled=false delay=1m0s default offset=0 quota=0s", // m's own policy ends it
		"root.b":        unset,
	} {
		require.Equal(t, want, settings(tree, mustLookup(t, tree, path)), path)
	}
	require.Equal(t, []string{
		`queue: root.a.z: bad property: preemption.delay "never": want a duration, 0 or above; it counts as 30s`,
		`queue: root.a.z: bad property: preemption.policy "fenced": want default, fence or disabled`,
	}, texts(tree.Warnings()...))
}

// TestQuotaDelay_BothNames shows which name of the delay wins.
func TestQuotaDelay_BothNames(t *testing.T) {
	a := with(node("a", "", ""), "preemption.quota.delay", "1m", "quota.preemption.delay", "2m")
	require.Equal(t, 2*time.Minute, *mustNew(t, node("root", "", "", a), strict).Policies(1).QuotaDelay)
}

// TestInheritProperties has the tree of TestInheritance, with what YuniKorn makes of
// it. Twice is like once, and the configuration that it was copied from stays.
func TestInheritProperties(t *testing.T) {
	root := with(node("root", "", "",
		with(node("a", "", "",
			node("x", "", ""),
			with(node("y", "", ""), "preemption.policy", "default", "preemption.delay", "2m", "quota.preemption.delay", "1s"),
			with(node("m", "", "", node("leaf", "", "")), "preemption.policy", "fence")),
			"preemption.policy", "disabled", "preemption.delay", "1m", "priority.policy", "fence", "priority.offset", "7", "preemption.quota.delay", "5m", "fair.weight", "3"),
		node("b", "", "")), "preemption.policy", "disabled", "quota.preemption.delay", "1h")
	dynamic := node("made", "", "")
	dynamic.Policies.Dynamic = true
	root.Children = append(root.Children, dynamic)
	before := root.Children[1].Properties
	root.InheritProperties = true
	tree := mustNew(t, root, lenient)
	for path, want := range map[string]string{
		"root":          "default disabled=false delay=30s default offset=0 quota=1h0m0s",
		"root.a":        "disabled disabled=true delay=1m0s fence offset=7 quota=5m0s weight=3",
		"root.a.x":      "disabled disabled=true delay=1m0s default offset=0 quota=5m0s",
		"root.a.y":      "default disabled=false delay=2m0s default offset=0 quota=1s",
		"root.a.m":      "fence disabled=false delay=1m0s default offset=0 quota=5m0s",
		"root.a.m.leaf": "default disabled=false delay=1m0s default offset=0 quota=5m0s", // a fence is not inherited, and ends disabled
		"root.b":        "disabled disabled=true delay=30s default offset=0 quota=1h0m0s",
		"root.made":     unset,
	} {
		require.Equal(t, want, settings(tree, mustLookup(t, tree, path)), path)
	}
	require.Equal(t, before, root.Children[1].Properties)
}

// TestRootProperties shows that of the root's properties all but the preemption
// policy are read, and that this one needs no message.
func TestRootProperties(t *testing.T) {
	for _, policy := range []string{"default", "fence", "disabled"} {
		tree := mustNew(t, with(node("root", "gpu=1", "", node("a", "", "")),
			"preemption.policy", policy, "preemption.delay", "1m", "priority.policy", "fence", "priority.offset", "7", "quota.preemption.delay", "5m"), lenient)
		require.Equal(t, "default disabled=false delay=1m0s fence offset=7 quota=5m0s", settings(tree, Root))
		require.Equal(t, "default disabled=false delay=1m0s default offset=0 quota=0s", settings(tree, 1))
		require.Empty(t, tree.Warnings())
	}
	tree := mustNew(t, with(node("root", "", ""), "preemption.policy", "off"), lenient)
	require.Equal(t, []string{`queue: root: bad property: preemption.policy "off": want default, fence or disabled`}, texts(tree.Warnings()...))
}

// TestBadDelay shows that a bad delay of a leaf counts as the default, and not
// as the delay of its parent.
func TestBadDelay(t *testing.T) {
	for value, want := range map[string]time.Duration{"soon": 30 * time.Second, "-1s": 30 * time.Second, "0s": 0, "2h": 2 * time.Hour} {
		tree := mustNew(t, with(node("root", "", "",
			with(node("a", "", "", node("x", "", "")), "preemption.delay", value)), "preemption.delay", "1h"), lenient)
		require.Equal(t, want, *tree.Policies(1).PreemptionDelay, value)
		require.Equal(t, want, *tree.Policies(2).PreemptionDelay, "below a queue with %s", value)
	}
}

func TestDynamic(t *testing.T) {
	a := node("a", "", "", node("x", "", ""))
	a.Policies.Dynamic = true
	tree := mustNew(t, node("root", "", "", a), lenient)
	require.False(t, tree.Policies(Root).Dynamic)
	require.True(t, tree.Policies(1).Dynamic)
	require.False(t, tree.Policies(2).Dynamic, "it is not inherited")
}

// TestPlainWarning shows that a name can neither break a line nor color it.
func TestPlainWarning(t *testing.T) {
	tree := mustNew(t, with(node("root", "", ""), "priority.\x1b[31m\n", "\n"), lenient)
	require.Equal(t, []string{`queue: root: bad property: "priority.\x1b[31m\n" "\n": unknown property`}, texts(tree.Warnings()...))
}

// FuzzProperty sets any property of a queue to any text. Whatever it is, there
// is at most one warning, and then nothing is set.
func FuzzProperty(f *testing.F) {
	for _, test := range propertyTests {
		f.Add(test.key, test.value)
	}
	f.Fuzz(func(t *testing.T, key, value string) {
		tree := mustNew(t, node("root", "", "", with(node("a", "", ""), key, value)), lenient)
		require.Equal(t, unset, settings(tree, Root))
		warnings := tree.Warnings()
		require.LessOrEqual(t, len(warnings), 1)
		if len(warnings) == 1 {
			require.ErrorIs(t, warnings[0], lent.ErrProperty)
			require.Equal(t, unset, settings(tree, 1))
		}
		require.GreaterOrEqual(t, *tree.Policies(1).PreemptionDelay, time.Duration(0))
		require.GreaterOrEqual(t, *tree.Policies(1).QuotaDelay, time.Duration(0))
	})
}

// TestInheritProperties_Below has a queue in the middle that says so: those below it inherit,
// down to the leaves, and nobody else does. What it inherits itself is what it says.
func TestInheritProperties_Below(t *testing.T) {
	b := with(node("b", "", "", node("m", "", "", node("x", "", "")), with(node("y", "", ""), "quota.preemption.delay", "2h")), "quota.preemption.delay", "1h")
	b.InheritProperties = true
	root := with(node("root", "", "", node("a", "", ""), b), "quota.preemption.delay", "3h")
	tree := mustNew(t, root, strict)
	for path, want := range map[string]time.Duration{
		"root": 3 * time.Hour, "root.a": 0, "root.b": time.Hour, "root.b.m": time.Hour, "root.b.m.x": time.Hour, "root.b.y": 2 * time.Hour,
	} {
		require.Equal(t, want, *tree.Policies(mustLookup(t, tree, path)).QuotaDelay, path)
	}
}
