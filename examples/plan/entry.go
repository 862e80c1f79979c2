// SPDX-License-Identifier: Apache-2.0

//go:build !js

package main

import "os"

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
