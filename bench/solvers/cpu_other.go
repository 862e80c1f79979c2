// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import "time"

var start = time.Now()

// cpu returns the time since the start: that of a thread is not known here.
func cpu() time.Duration { return time.Since(start) }
