// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"runtime"
	"time"
)

// A report is what is measured, and how large it is.
type report struct {
	clock
	small, big           int // nodes
	tasks                int // of a node
	million              int // tasks of the largest cluster; 0: none
	growNodes, growTasks []int
	batch                int    // changes at once
	traces               string // a folder; "": none
	sizes                bool   // hard loads are of random sizes
	members              int    // of the largest job

	rows     []Row
	unproven int
	allocs   float64
	floor    float64 // the last one, in nanoseconds
}

// full is the report that targets speak of.
func full() *report {
	return &report{
		clock: clock{turn: time.Millisecond, budget: time.Second, rounds: 101},
		small: 1000, big: 5000, tasks: 30, million: 1_000_000,
		growNodes: []int{500, 1000, 2000, 4000, 8000}, growTasks: []int{10, 20, 40, 80},
		batch: 1000, members: mostMembers,
		traces: filepath.Join("..", "shared", "traces"),
	}
}

// measure measures everything. What one part has built is gone before the next
// begins, so that nothing pays for the memory of another.
func (r *report) measure() {
	for _, part := range []func(){r.tracesAndTwin, r.decisions, r.hard, r.jobs, r.rest, r.maps, r.growth, r.building, r.others, r.packages, r.vectors} {
		runtime.GC()
		part()
	}
}

// A section takes rows into a report.
type section struct {
	r    *report
	name string
}

func (r *report) section(name string) *section { return &section{r, name} }

func (s *section) add(row Row) {
	row.Section = s.name
	s.r.rows = append(s.r.rows, row)
}

func must(err error) {
	if err != nil {
		panic("ratios: " + err.Error())
	}
}
