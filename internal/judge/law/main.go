// SPDX-License-Identifier: Apache-2.0

package law

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// Main is for the TestMain of a package whose tests make much garbage in a small heap.
// Garbage is collected less often, which takes a third off their time, unless there are
// benchmarks to run or GOGC is set.
func Main(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	m.Run()
}
