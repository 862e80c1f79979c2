// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Documents name things as they like; package plain makes that fit to print.

// instant writes an instant as documents do.
func instant(t time.Time) string { return t.Format(time.RFC3339Nano) }

// queue and node return names. Neither queues nor nodes come or go in a run.
func (p page) queue(q queue.ID) string { return plain.Name(p.run.After.Tree().Path(q)) }

func (p page) node(n victims.NodeID) string { return plain.Name(p.run.After.Node(n).Name) }

// amounts and limit write quantities.
func (p page) amounts(v resources.Vector) string { return plain.Line(p.run.Document.Schema.Format(v)) }

func (p page) limit(l resources.Limit) string {
	return plain.Line(p.run.Document.Schema.FormatLimit(l))
}

// indented writes a text of whole lines, further in.
func (p page) indented(indent, text string) {
	for line := range strings.Lines(text) {
		p.printf("%s%s", indent, line)
	}
}

// lines writes lines, further in.
func (p page) lines(indent string, lines []string) {
	for _, line := range lines {
		p.printf("%s%s\n", indent, line)
	}
}
