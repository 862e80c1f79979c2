// SPDX-License-Identifier: Apache-2.0

// Yunikorn puts the library into Apache YuniKorn's core: it copies the core from the
// module cache into a temporary folder, renames three of its methods, adds the
// adapter, and runs there YuniKorn's own tests, or the two engines beside each other.
//
//	go run . -tests                     YuniKorn's tests, and the table of what comes of them
//	go run . -live -seeds 10            the same load with each engine
//	go run . -drift 100000              hold the kept mirror to a fresh one in so many decisions
//	go run . -keep DIR                  leave the copy in DIR, to look at
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	var (
		keep    = flag.String("keep", "", "make the copy in this new folder, and leave it there")
		tests   = flag.Bool("tests", false, "run YuniKorn's tests with the library deciding")
		live    = flag.Bool("live", false, "compare the engines under load")
		seeds   = flag.Int("seeds", 1, "with -live: loads to compare them under")
		nodes   = flag.Int("nodes", 60, "with -live: nodes of 16 cores")
		seconds = flag.Int("seconds", 60, "with -live: how long each run takes, after the cluster has filled up")
		at      = flag.Int("parallel", 1, "with -live: runs at the same time")
		drift   = flag.Int("drift", 0, "decide until so many decisions have been checked")
	)
	flag.Parse()
	if err := run(*keep, func(c *rig) error {
		if *tests {
			results, err := c.tests()
			if err != nil {
				return err
			}
			fmt.Print(table(results))
		}
		if *live {
			return c.compare(os.Stdout, load{nodes: *nodes, seconds: *seconds}, *seeds, *at)
		}
		if *drift > 0 {
			return c.drift(os.Stdout, *drift)
		}
		return nil
	}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run makes a rig, in a folder of its own or in keep, and takes it away afterwards.
func run(keep string, f func(*rig) error) error {
	dir := keep
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "yunikorn-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	c, err := newRig(dir)
	if err != nil {
		return err
	}
	return f(c)
}
