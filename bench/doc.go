// Package bench measures the hot paths of the module on the workloads of
// internal/workload. Its tests hold no timing; run its benchmarks with
//
//	go test -bench . ./bench
package bench
