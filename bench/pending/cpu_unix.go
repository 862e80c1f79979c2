// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"log"
	"syscall"
	"time"
)

// cpu returns the CPU time that the process has taken.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
