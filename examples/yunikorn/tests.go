// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// packages are those of YuniKorn whose tests may ask an engine.
var packages = []string{"pkg/scheduler/objects", "pkg/scheduler"}

// concerned matches the names of tests on preemption, reservations and quotas.
var concerned = regexp.MustCompile(`(?i)preempt|reserv|quota|victim|requirednode|daemon`)

// A result is what became of one of YuniKorn's tests.
type result struct {
	Package, Test string
	Decided       bool // the library was asked
	Default       bool // it passes with the library's defaults
	Options       bool // it passes with YuniKorn's options
	Output        string
}

// tests runs the tests that are concerned, each in a process of its own, for one that
// panics would end the others.
func (c *rig) tests() ([]result, error) {
	var all []result
	for i, pkg := range packages {
		binary, err := c.build(fmt.Sprint("tests", i), "test", "-vet=off", "-c", "./"+pkg)
		if err != nil {
			return nil, err
		}
		names, err := command("", nil, binary, "-test.list", ".")
		if err != nil {
			return nil, err
		}
		for _, name := range strings.Fields(names) {
			if !concerned.MatchString(name) {
				continue
			}
			r := result{Package: pkg, Test: name}
			var output string
			r.Default, r.Decided, output = c.test(binary, pkg, name, "")
			if r.Options = r.Default; r.Decided {
				r.Options, _, r.Output = c.test(binary, pkg, name, "yunikorn")
			} else {
				r.Output = output
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// test runs a test, and reports whether it passes and whether the library was asked.
func (c *rig) test(binary, pkg, name, options string) (passes, decided bool, output string) {
	env := []string{"PREEMPT_MIRROR=fresh", "PREEMPT_TRACE=1", "PREEMPT_OPTIONS=" + options}
	cmd := exec.Command(binary, "-test.run", "^"+name+"$", "-test.v", "-test.timeout", time.Minute.String())
	cmd.Dir, cmd.Env = filepath.Join(c.core, pkg), append(cmd.Environ(), env...)
	out, err := cmd.CombinedOutput() // what the adapter traces is among the errors
	return err == nil, bytes.Contains(out, []byte("preempt: ")), string(out)
}

// A difference explains a test of YuniKorn's that does not pass with some options.
type difference struct {
	test    string
	options bool   // nor with YuniKorn's options
	why     string // a law, or an issue of YuniKorn's
}

// differences are all that there are, and what explains each.
var differences = []difference{
	{"TestTryAllocatePreemptNode", false, "cost: of equal plans the least work lost goes before the node; YuniKorn takes the first node"},
	{"TestTryAllocatePreemptNodeWithReservations", false, "cost: the same"},
	{"TestTryAllocatePreemptNodeWithReservationsWithHighPriority", false, "cost: the same"},
	{"TestTryAllocatePreemptNodeWithReservationsNotPossibleToCancel", false, "cost: the same"},
	{"TestRequiredNodePreemption", false, "law 3: nobody of the ask's own application; YuniKorn lets daemon sets"},
	{"TestPreemptionForRequiredNodeNormalAlloc", false, "law 3: the same"},
	{"TestPreemptionForRequiredNodeReservedAlloc", false, "law 3: the same"},
	{"TestPreemptionForRequiredNodeMultipleAttemptsAvoided", false, "law 3: the same"},
	{"TestTryPreemption_VictimsOnDifferentNodes_InsufficientResource", false, "rooms: what makes room under a max may be on any node; YuniKorn takes from the ask's node only"},
	{"TestTryPreemption_VictimsAvailableOnDifferentNodes", false, "rooms: the same"},

	{"TestTryAllocatePreemptQueue", true, "fits: node and queues have room, so nobody goes (minimality); the test passes a headroom of 0 that no queue has"},
	{"TestCheckPreemptionQueueGuaranteesWithNoGuaranteedResources", true, "fits: there is room on both nodes and under every max"},
	{"TestTryPreemption_AskResTypesSame_GuaranteedSetOnPreemptorSide", true, "fits: 3 of 5 are used and the ask wants 2"},
	{"TestTryPreemption_AskResTypesSame_GuaranteedSetOnVictimAndPreemptorSides", true, "fits: the same"},
	{"TestTryPreemption_VictimReleased_InsufficientResource", true, "supply: a pod that leaves is waited for, so one victim is enough; the test wants none once a listed victim is released"},
	{"TestQuotaChangeTryPreemptionForParentQueue", true, "quota: as many victims (13), another choice of equals; YuniKorn skips a leaf whose only pod is larger than its rounded part"},
	{"TestGetVictims", true, "bug of YuniKorn: free space of the node is not counted, so four pods go for a daemon set if one is enough (minimality)"},
	{"TestTryPreemption_VictimsAvailable_InsufficientResource", true, "bug of YuniKorn, YUNIKORN-3449: the shortfall forgets what is free"},
}

// failsAlone are tests of these names that fail when they run by themselves, without
// the library, too.
var failsAlone = []string{"TestPlaceholderLargerEvent", "TestAllocationEvents"}

// unexplained returns the results that differences do not tell, and differences
// that are none.
func unexplained(results []result) (complaints []string) {
	seen := make(map[string]bool)
	for _, r := range results {
		seen[r.Test] = true
		i := slices.IndexFunc(differences, func(d difference) bool { return d.test == r.Test })
		wantDefault, wantOptions := i < 0, i < 0 || !differences[i].options
		if slices.Contains(failsAlone, r.Test) || r.Default == wantDefault && r.Options == wantOptions {
			continue
		}
		complaints = append(complaints, fmt.Sprintf("%s: passes with the defaults: %v, with YuniKorn's options: %v; want %v, %v\n%s",
			r.Test, r.Default, r.Options, wantDefault, wantOptions, r.Output))
	}
	for _, d := range differences {
		if !seen[d.test] {
			complaints = append(complaints, d.test+" did not run")
		}
	}
	return complaints
}

// table writes what came of the tests in which the library was asked.
func table(results []result) string {
	var b strings.Builder
	decided, defaults, options := 0, 0, 0
	word := map[bool]string{true: "passes", false: "differs"}
	fmt.Fprintln(&b, "| test | defaults | YuniKorn's options | |\n|---|---|---|---|")
	for _, r := range results {
		if !r.Decided {
			continue
		}
		decided++
		if r.Default {
			defaults++
		}
		if r.Options {
			options++
		}
		why := ""
		if i := slices.IndexFunc(differences, func(d difference) bool { return d.test == r.Test }); i >= 0 {
			why = differences[i].why
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", strings.TrimPrefix(r.Test, "Test"), word[r.Default], word[r.Options], why)
	}
	fmt.Fprintf(&b, "\n%d tests asked the library. %d pass with its defaults, %d with YuniKorn's options.\n", decided, defaults, options)
	for _, complaint := range unexplained(results) {
		fmt.Fprintf(&b, "UNEXPLAINED: %s\n", complaint)
	}
	return b.String()
}
