// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// writeDump writes what kubectl would of a full cluster: pods of few fields, of which some
// wait.
func writeDump(out io.Writer, nodes, pods, waiting int) error {
	w := bufio.NewWriter(out)
	fmt.Fprint(w, `{"apiVersion": "v1", "kind": "List", "items": [`)
	for i := range nodes {
		fmt.Fprintf(w, `
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-%05d", "uid": "%032x", "labels": {"topology.kubernetes.io/zone": "zone-%d"}},
 "status": {"allocatable": {"cpu": "64", "memory": "256Gi", "pods": "110", "nvidia.com/gpu": "8"}}},`, i, i, i%3)
	}
	for i := range pods + waiting {
		placed := ""
		if i < pods {
			placed = fmt.Sprintf(`"nodeName": "node-%05d", `, i%nodes)
		}
		fmt.Fprintf(w, `
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod-%06d", "namespace": "team-%d", "uid": "%032x", "creationTimestamp": "2026-08-%02dT08:00:00Z",
  "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "app-%d", "uid": "x", "controller": true}]},
 "spec": {%s"priority": %d, "containers": [{"name": "main", "image": "registry.example/app:1", "resources": {"requests": {"cpu": "%dm", "memory": "%dMi"}}}]},
 "status": {"phase": "%s", "conditions": [{"type": "PodScheduled", "status": "%s", "lastTransitionTime": "2026-08-%02dT08:00:05Z"}]}}`,
			i, i%20, i, 1+i%28, i%999, placed, i%3+i/pods, 1000+500*(i%999%5)+40000*(i/pods), 1024*(1+i%999%9), []string{"Running", "Pending"}[i/pods], []string{"True", "False"}[i/pods], 1+i%28)
		if i < pods+waiting-1 {
			fmt.Fprint(w, ",")
		}
	}
	fmt.Fprintln(w, "]}")
	return w.Flush()
}

// BenchmarkDump reads and answers dumps of large clusters.
func BenchmarkDump(b *testing.B) {
	for _, nodes := range []int{1000, 5000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			file := filepath.Join(b.TempDir(), "dump.json")
			f, err := os.Create(file)
			if err != nil {
				b.Fatal(err)
			}
			if err := writeDump(f, nodes, 28*nodes, 200); err != nil {
				b.Fatal(err)
			}
			size, _ := f.Seek(0, io.SeekCurrent)
			f.Close()
			b.SetBytes(size)
			for b.Loop() {
				peak := watch()
				if code := run([]string{"-now", "2026-09-01T12:00:00Z", file}, nil, io.Discard, os.Stderr); code != done {
					b.Fatal(code)
				}
				b.ReportMetric(float64(peak())/(1<<20), "MB-peak")
			}
		})
	}
}

// watch looks at what the runtime has from the system for the heap, until its result is called, which returns
// the most.
func watch() (peak func() uint64) {
	stop, most := make(chan bool), make(chan uint64)
	go func() {
		var top uint64
		var m runtime.MemStats
		for {
			runtime.ReadMemStats(&m)
			top = max(top, m.HeapInuse+m.StackInuse)
			select {
			case <-stop:
				most <- top
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() uint64 { stop <- true; return <-most }
}
