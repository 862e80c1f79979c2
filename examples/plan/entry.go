//go:build !js

package main

import (
	"os"
	"runtime/debug"
)

func main() {
	debug.SetGCPercent(25) // a long document is read once: its garbage is not worth its memory
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
