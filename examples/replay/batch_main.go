// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/go-preempt/preempt/internal/judge/trace"
	"github.com/go-preempt/preempt/victims"
)

// replayGangs replays a batch under all policies.
func replayGangs(o *options, stdout, stderr io.Writer) int {
	b := trace.PhillyTwin()
	if o.jobs != "" {
		var err error
		if b, err = trace.ReadPhilly(o.jobs, o.vcs); err != nil {
			return fail(stderr, err)
		}
		b.Window(o.first, o.days)
	}
	var all []*BatchFigures
	status := sound
	for _, policy := range policies {
		r := BatchReplay{Batch: b, Policy: policy}
		if !o.quiet {
			r.observe(stderr)
		}
		f, err := r.Run()
		if err != nil {
			return fail(stderr, err)
		}
		if f.Laws.Violations > 0 {
			status = broken
		}
		all = append(all, f)
	}
	if o.svg != "" {
		if err := os.WriteFile(o.svg, drawGangs(b, all), 0o644); err != nil {
			return fail(stderr, err)
		}
	}
	if err := writeGangs(stdout, o, b, all); err != nil {
		return fail(stderr, err)
	}
	return status
}

// observe has a replay report its progress.
func (r *BatchReplay) observe(stderr io.Writer) {
	start := time.Now()
	p := progress{w: stderr, all: len(r.Batch.Jobs), what: "jobs submitted", about: ", " + r.Policy.Name, next: interval}
	r.Observe = func(now int64, d *victims.Decision, submitted int) {
		p.decided(d.Outcome)
		p.report(now, submitted, time.Since(start))
	}
}

func writeGangs(w io.Writer, o *options, b *trace.Batch, all []*BatchFigures) error {
	if o.json {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(struct {
			Policies []*BatchFigures `json:"policies"`
		}{all})
	}
	var out bytes.Buffer
	writeBatch(&out, b, all)
	_, err := w.Write(out.Bytes())
	return err
}

// aboutBatch says what a batch is.
func aboutBatch(b *trace.Batch, f *BatchFigures) string {
	return fmt.Sprintf("%s, %d of them gangs of several hosts, in %d virtual clusters on %d hosts of %d GPUs",
		counted(len(b.Jobs), "job"), f.Gangs.Jobs, len(b.VCs), b.Hosts, trace.HostGPUs)
}
