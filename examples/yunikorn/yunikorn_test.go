// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var checks = flag.Int("checks", 300, "decisions in which the kept mirror is held to a fresh one")

// TestYuniKorn puts the adapter into a copy of YuniKorn's core. Every test of
// YuniKorn's that is concerned passes, or there is an explanation in differences; and
// what is explained does differ. Then the core runs under load with the mirror that is
// kept up to date: no difference, no error, no plan that breaks a law.
func TestYuniKorn(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles YuniKorn's core")
	}
	c, err := newRig(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Run("its tests", func(t *testing.T) {
		results, err := c.tests()
		if err != nil {
			t.Fatal(err)
		}
		for _, complaint := range unexplained(results) {
			t.Error(complaint)
		}
		decided, options := 0, 0
		for _, r := range results {
			if r.Decided {
				decided++
				if r.Options {
					options++
				}
			}
		}
		if decided < 40 || decided-options > 8 {
			t.Errorf("the library decided in %d tests, of which %d pass with YuniKorn's options", decided, options)
		}
	})
	t.Run("siblings", func(t *testing.T) {
		binary, err := c.build("siblings", "test", "-vet=off", "-c", "./"+objects)
		if err != nil {
			t.Fatal(err)
		}
		if ok, _, output := c.test(binary, objects, "TestSiblings", ""); !ok || !strings.Contains(output, "PASS: TestSiblings/shares") {
			t.Error(output)
		}
	})
	t.Run("drift", func(t *testing.T) {
		if err := c.drift(os.Stdout, *checks); err != nil {
			t.Error(err)
		}
	})
}

// TestUnexplained: a test that fails without an explanation is told, and so is an
// explanation of a test that passes or is not there.
func TestUnexplained(t *testing.T) {
	var good []result
	for _, d := range differences {
		good = append(good, result{Test: d.test, Decided: true, Options: !d.options})
	}
	if got := unexplained(good); got != nil {
		t.Fatalf("complaints about nothing: %q", got)
	}
	if got := unexplained(append(good, result{Test: "TestOther", Default: true})); len(got) != 1 {
		t.Errorf("a failing test is not told: %q", got)
	}
	if got := unexplained(good[1:]); len(got) != 1 {
		t.Errorf("a missing test is not told: %q", got)
	}
	good[0].Default = true
	if got := unexplained(good); len(got) != 1 {
		t.Errorf("a test that passes although it is explained is not told: %q", got)
	}
}

// TestRename: a method that is not where it should be is told.
func TestRename(t *testing.T) {
	file := t.TempDir() + "/a.go"
	for text, good := range map[string]bool{"package a\nfunc F() {}\n": true, "package a\n": false, "package a\nfunc F() {}\nfunc F() {}\n": false} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := rename(file, "func F()", "func nativeF()"); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}
