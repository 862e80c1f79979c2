// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/resources"
)

// A Difference is a place where a result is not what the document expects.
type Difference struct {
	At         *Path
	Want, Have string // as in a document; "nothing" where there is none
}

// String writes a difference on one line, without the file.
func (d Difference) String() string {
	return fmt.Sprintf("%v: want %s, have %s", d.At, d.Want, d.Have)
}

// Check compares the results of a run with what its document expects: one
// expectation per result, and of each every field that is there. None are left
// where the two agree.
//
// Amounts, counts and targets that are absent are the same as 0, and of the
// targets only those of queues that are expected count; a retryAt is the same
// instant in any zone.
func (r *Run) Check() []Difference {
	results, expect := r.Report().Results, r.Document.Expect
	c := comparison{schema: r.Document.Schema}
	if len(results) != len(expect) {
		c.differ((*Path)(nil).Field("expect"), fmt.Sprintf("%d results", len(expect)), strconv.Itoa(len(results)))
	}
	for i := range min(len(results), len(expect)) {
		c.result(&expect[i], &results[i])
	}
	return c.found
}

// A comparison collects differences.
type comparison struct {
	schema *resources.Schema
	found  []Difference
}

// differ notes a difference.
func (c *comparison) differ(at *Path, want, have string) {
	c.found = append(c.found, Difference{at, want, have})
}

// result compares one result with what is expected of it.
func (c *comparison) result(want *Expectation, have *Result) {
	field(c, want.At.Field("outcome"), &want.Outcome, have.Outcome)
	field(c, want.At.Field("request"), want.Request, have.Request)
	field(c, want.At.Field("key"), want.Key, have.Key)
	field(c, want.At.Field("node"), want.Node, have.Node)
	c.victims(want, have.Victims)
	c.byKey(want.At.Field("placements"), want.Placements, have.Placements)
	c.byKey(want.At.Field("moves"), want.Moves, have.Moves)
	field(c, want.At.Field("reason"), want.Reason, have.Reason)
	c.counts(want.At.Field("counts"), want.Counts, have.Counts)
	c.protectedBy(want, have.ProtectedBy)
	c.cause(want, have.Cause)
	c.retryAt(want, have)
	c.target(want, have.Target)
	if want.Shortfall != nil {
		c.amounts(want.At.Field("shortfall"), *want.Shortfall, have.Shortfall)
	}
	field(c, want.At.Field("overrun"), want.Overrun, have.Overrun)
	field(c, want.At.Field("ownLeaf"), want.OwnLeaf, have.OwnLeaf)
	field(c, want.At.Field("proof"), want.Proof, have.Proof)
	if want.WaitsFor != nil && !slices.Equal(want.WaitsFor, have.WaitsFor) {
		c.differ(want.At.Field("waitsFor"), show(want.WaitsFor), show(have.WaitsFor))
	}
	if want.Proven != nil && (have.Proven == nil || *have.Proven != *want.Proven) {
		c.differ(want.At.Field("proven"), show(want.Proven), show(have.Proven))
	}
}

// retryAt compares instants.
func (c *comparison) retryAt(want *Expectation, have *Result) {
	if want.RetryAt == nil || want.RetryAt.Equal(have.RetryAt) {
		return
	}
	text := "nothing"
	if !have.RetryAt.IsZero() {
		text = show(have.RetryAt)
	}
	c.differ(want.At.Field("retryAt"), show(want.RetryAt), text)
}

// field compares a field that is expected if want is not nil.
func field[T comparable](c *comparison, at *Path, want *T, have T) {
	if want != nil && *want != have {
		c.differ(at, show(*want), show(have))
	}
}

// victims compares the victims with the sets that will do, or their number.
func (c *comparison) victims(want *Expectation, have []string) {
	if want.VictimCount != nil && *want.VictimCount != len(have) {
		c.differ(want.At.Field("victimCount"), strconv.Itoa(*want.VictimCount), fmt.Sprintf("%d: %s", len(have), show(have)))
	}
	agrees := func(set []string) bool { return slices.Equal(set, have) }
	if want.Victims == nil || slices.ContainsFunc(want.Victims, agrees) {
		return
	}
	if len(want.Victims) == 1 {
		c.differ(want.At.Field("victims"), show(want.Victims[0]), show(have))
		return
	}
	c.differ(want.At.Field("victimsAnyOf"), "one of "+show(want.Victims), show(have))
}

// byKey compares maps of names that are expected if want is not nil.
func (c *comparison) byKey(at *Path, want, have map[string]string) {
	if want != nil && !maps.Equal(want, have) {
		c.differ(at, show(want), show(have))
	}
}

// counts compares numbers per rule.
func (c *comparison) counts(at *Path, want, have map[string]int) {
	if want == nil {
		return
	}
	for _, rule := range union(want, have) {
		if want[rule] != have[rule] {
			c.differ(at.Field(rule), strconv.Itoa(want[rule]), strconv.Itoa(have[rule]))
		}
	}
}

// protectedBy compares who protects.
func (c *comparison) protectedBy(want *Expectation, have *ProtectedBy) {
	if want.ProtectedBy == nil {
		return
	}
	if have == nil {
		c.differ(want.At.Field("protectedBy"), show(want.ProtectedBy), show(have))
		return
	}
	at := want.At.Field("protectedBy")
	present(c, at.Field("queue"), want.ProtectedBy.Queue, have.Queue)
	present(c, at.Field("type"), want.ProtectedBy.Type, have.Type)
	present(c, at.Field("job"), want.ProtectedBy.Job, have.Job)
	present(c, at.Field("minimum"), want.ProtectedBy.Minimum, have.Minimum)
}

// cause compares causes.
func (c *comparison) cause(want *Expectation, have *Cause) {
	switch {
	case want.Cause == nil:
		return
	case have == nil:
		c.differ(want.At.Field("cause"), show(want.Cause), "nothing")
		return
	}
	at := want.At.Field("cause")
	present(c, at.Field("kind"), want.Cause.Kind, have.Kind)
	present(c, at.Field("type"), want.Cause.Type, have.Type)
	present(c, at.Field("most"), want.Cause.Most, have.Most)
	present(c, at.Field("node"), want.Cause.Node, have.Node)
	present(c, at.Field("queue"), want.Cause.Queue, have.Queue)
}

// present compares a field that is expected unless want is zero.
func present[T comparable](c *comparison, at *Path, want, have T) {
	var zero T
	if want != zero {
		field(c, at, &want, have)
	}
}

// target compares amounts queue by queue, of those that are expected.
func (c *comparison) target(want *Expectation, have map[string]Amounts) {
	for _, queue := range slices.Sorted(maps.Keys(want.Target)) {
		c.amounts(want.At.Field("target").Field(queue), want.Target[queue], have[queue])
	}
}

// amounts compares amounts type by type.
func (c *comparison) amounts(at *Path, want resources.Limit, have Amounts) {
	for i := range (want.Defined | have.Limit.Defined).All() {
		w, _ := want.Bound(i)
		h, _ := have.Limit.Bound(i)
		if w != h {
			c.differ(at.Field(c.schema.Name(i)), vectors.Text(c.schema, i, w), vectors.Text(c.schema, i, h))
		}
	}
}

// union returns the keys of both maps, sorted.
func union[A, B any](a map[string]A, b map[string]B) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}

// show writes a value as documents do; what is empty is nothing.
func show(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err.Error() // no value that is compared here can fail
	}
	switch text := strings.TrimSpace(b.String()); text {
	case "null", `""`, "{}":
		return "nothing"
	default:
		return text
	}
}
