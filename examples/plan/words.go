package main

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Documents name things as they like, but what they say must not reach the
// terminal as control characters, or break a line or a column.

// line returns a text on one line: what can't be printed becomes a blank.
func line(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}

// word returns a name as it is where it is plain, and quoted where it is not.
func word(s string) string {
	quoted := strconv.Quote(s)
	if quoted == `"`+s+`"` && !strings.Contains(s, " ") {
		return s
	}
	return quoted
}

// words joins names.
func words(all []string) string {
	plain := make([]string, len(all))
	for i, s := range all {
		plain[i] = word(s)
	}
	return strings.Join(plain, ", ")
}

// instant writes an instant as documents do.
func instant(t time.Time) string { return t.Format(time.RFC3339Nano) }

// queue and node return names. Neither queues nor nodes come or go in a run.
func (p page) queue(q queue.ID) string { return word(p.run.After.Tree().Path(q)) }

func (p page) node(n victims.NodeID) string { return word(p.run.After.Node(n).Name) }

// amounts and limit write quantities.
func (p page) amounts(v resources.Vector) string { return line(p.run.Document.Schema.Format(v)) }

func (p page) limit(l resources.Limit) string { return line(p.run.Document.Schema.FormatLimit(l)) }
