// SPDX-License-Identifier: Apache-2.0

// Mutants changes the library a line at a time and says which changes its tests
// notice. A mutant that no test notices is a hole in the tests, or a line that
// decides nothing.
//
//	go run ./internal/judge/mutants [-only WORDS] [-v]
//
// Mutants are listed in list.txt: a file, what the change is called, the line
// as it is and as it shall be. They are keyed by text, so that they outlive
// changes elsewhere; one that is no longer there is stale, and told so. Each is
// applied to a copy of the module and judged by the tests of its package, and
// by those of other packages that the list names. The program prints a line per mutant and
// ends with an error if one survives, is stale or does not compile. It takes
// an hour for the whole list and is run by hand.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

//go:embed list.txt
var list string

func main() {
	only := flag.String("only", "", "take only mutants with these words in their file or name")
	verbose := flag.Bool("v", false, "print what the tests say of each")
	flag.Parse()
	failed, err := run(os.Stdout, *only, *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

// run judges the mutants of the list and returns how many were not killed.
func run(w io.Writer, only string, verbose bool) (failed int, err error) {
	mutants, err := parse(list)
	if err != nil {
		return 0, err
	}
	root, err := moduleRoot()
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if err := copyModule(dir, root); err != nil {
		return 0, err
	}
	judged := 0
	for i := range mutants {
		m := &mutants[i]
		if !strings.Contains(m.file+": "+m.name, only) {
			continue
		}
		verdict, output, err := judge(dir, m)
		if err != nil {
			return failed, err
		}
		judged++
		if verdict != killed {
			failed++
		}
		fmt.Fprintf(w, "%-8v %s: %s\n", verdict, m.file, m.name)
		if verbose || verdict == broken {
			fmt.Fprintln(w, output)
		}
	}
	fmt.Fprintf(w, "%d of %d killed\n", judged-failed, judged)
	return failed, nil
}

// moduleRoot returns the directory of go.mod, here or above.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", fmt.Errorf("no go.mod here or above")
		}
		dir = above
	}
}
