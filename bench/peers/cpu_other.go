// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package main

import "time"

// processTime is not known here.
func processTime() time.Duration { return 0 }
