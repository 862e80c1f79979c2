// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"os/exec"
	"regexp"
	"runtime"
	"testing"
)

// TestInlining holds the small functions to being inlined, those that are
// called once for every type above all.
func TestInlining(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("budgets are counted for 64 bits")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip(err)
	}
	out, err := exec.Command(tool, "build", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	can := make(map[string]bool)
	for _, match := range regexp.MustCompile(` can inline (\S+)`).FindAllSubmatch(out, -1) {
		can[string(match[1])] = true
	}
	for _, want := range []string{
		"(*Schema).Index",
		"(*Schema).Len",
		"IsZero",
		"Limit.Bound",
		"Mask.All",
		"Mask.Has",
		"Over",
		"Positive",
		"Share.normal",
		"Short",
		"Vector.At",
		"grow",
		"only",
	} {
		if !can[want] {
			t.Errorf("%s can no longer be inlined", want)
		}
	}

	// The arithmetic of single amounts is generic, and inlined all the same.
	inlined := make(map[string]bool)
	for _, match := range regexp.MustCompile(` inlining call to sat\.(\w+)\[go\.shape\.int64\]`).FindAllSubmatch(out, -1) {
		inlined[string(match[1])] = true
	}
	for _, want := range []string{"Add", "Sub", "Mul", "Clamp"} {
		if !inlined[want] {
			t.Errorf("sat.%s is no longer inlined", want)
		}
	}
}
