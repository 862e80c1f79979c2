// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package main

import "time"

var begun = time.Now()

// cpu returns the time since the program began: the CPU time is not to be had here.
func cpu() time.Duration { return time.Since(begun) }
