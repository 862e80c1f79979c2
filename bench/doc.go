// SPDX-License-Identifier: Apache-2.0

// Package bench measures the hot paths of the module on the workloads of
// internal/judge/workload. A benchmark is named by key=value for what it does and how
// large it is. Its tests hold no timing; run its benchmarks with
//
//	go test ./bench -run '^$' -bench .
//
// and add -bench-large, behind the package, for those that need a cluster of a
// million tasks. A design that was tried and not taken stays as a benchmark beside
// the one that was.
//
// How long something takes says something about the machine. The program
// ratios prints what holds on any: how decisions compare with a bare pass over
// all tasks and with a naive decision over maps, and how they grow. The script
// compare.sh compares two revisions with benchstat.
//
//	go run ./bench/ratios
package bench
