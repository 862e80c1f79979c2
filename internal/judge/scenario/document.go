// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/choices"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Document is a cluster and what is asked of it, as [Parse] found it:
// checked in itself, with defaults filled in and lists in the document's order.
// The order of fields means nothing.
// Whoever has it owns it.
//
// Amounts are vectors over Schema, all of its length, and limits are bounds on
// some of its types; a limit that is absent is the zero Limit. Every thing
// knows its place, At; a field of it is at At.Field(name).
type Document struct {
	File   string // as given to Parse
	Name   string
	Note   string
	Schema *resources.Schema // the types listed, or all that are named, sorted
	Now    time.Time         // UTC
	Strict bool              // over-committed guarantees are errors

	Root        Queue
	Classes     []Class
	Nodes       []Node
	Budgets     []Budget // by name
	Tasks       []Task
	Grants      []Grant
	Pending     []Pending // by queue
	Quotas      []Quota
	JobMinimums []JobMinimum // by job
	Requests    []Request
	Options     Options
	Expect      []Expectation

	long *longTasks // if they are not in Tasks
}

// Options hold for the whole document.
type Options struct {
	choices.Choices
	Toleration               bool           // classes' policies exempt victims
	JobsNeedPreemptibleLabel bool           // who does not say so is not preemptible
	OwnLeaf                  string         // "", "met" or "branch": whether asks and jobs may take tasks of their own leaf
	JobTrigger               string         // "", "guarantee" or "priority": what entitles a job to have victims
	Levels                   string         // what decides between plans, in words with blanks between; "": the default
	Scarce                   resources.Mask // the types whose guarantees count; 0: all
	FairShares               bool           // guarantees are the leaves' fair shares
	Moves                    string         // "", "never", "entitled" or "any": for whom tasks may move
	MaxMoved                 int64          // times what is asked; 0: any
}

// Parse reads one document. The name of the file is for messages only.
//
// The error joins an *[Error] for each mistake: first what is wrong with the
// text as JSON, then with the things that are named, then with those that refer
// to them. If the text is no JSON at all, that is the only one. A mistake
// that follows from another is left out: if a queue cannot be read, tasks in it
// are not told to be in no queue. Of very many mistakes the first hundred are
// told. Nothing is returned with an error. The document does not alias data.
func Parse(file string, data []byte) (*Document, error) { return newDecoder().parse(file, data) }

// ParseLong is Parse for documents that may have a million tasks. They are
// checked but not kept: Tasks is nil, and a run reads each from data, which must
// not change, when its cluster is built.
func ParseLong(file string, data []byte) (*Document, error) {
	d := newDecoder()
	d.long = new(longTasks)
	return d.parse(file, data)
}

func (d *decoder) parse(file string, data []byte) (*Document, error) {
	root, wrong := readLong(data, &d.found)
	return d.decode(file, root, wrong)
}

// decode makes a document of the value that is its text, unless that is no JSON.
func (d *decoder) decode(file string, root value, wrong *Error) (*Document, error) {
	if wrong != nil {
		d.found.add(wrong)
		return nil, d.found.err(file)
	}
	if len(d.found.all) > 0 {
		d.known.doubtAll()
	}
	d.schemaOf(root)
	doc := d.document(root)
	if err := d.found.err(file); err != nil {
		return nil, err
	}
	doc.File = file
	if doc.long = d.long; doc.long != nil {
		d.known.tasks = nil // which are many
		doc.long.d = *d
	}
	return doc, nil
}

// Fail returns the error that what is found at a place of the document is
// wrong: for rules that only show when the document is run. The value is
// clipped if it is too long for a message.
func (doc *Document) Fail(at *Path, value string, err error) error {
	return &Error{File: doc.File, Path: at, Value: clip(value), Err: err}
}

// documentFields are the fields of the document itself.
var documentFields = []string{
	"name", "note", "types", "now", "strict", "queues", "priorityClasses", "nodes",
	"budgets", "tasks", "grants", "pending", "quotas", "jobMinimums", "requests", "options", "expect",
}

// document reads everything but the types. What is referred to comes before
// the references, whatever the order in the document.
func (d *decoder) document(v value) *Document {
	o := d.object(v, documentFields...)
	if o.strange || o.find("queues").kind == 0 {
		d.known.doubtAll() // a misspelt field may have been any of them
	}
	doc := &Document{
		Name:     required(o, "name", d.text),
		Note:     optional(o, "note", d.text, ""),
		Schema:   d.types.schema,
		Now:      optional(o, "now", d.instant, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
		Strict:   optional(o, "strict", d.boolean, false),
		Root:     required(o, "queues", naming(d, &d.known.doubt.queues, d.queueBelow(d.known.queues))),
		Classes:  optional(o, "priorityClasses", naming(d, &d.known.doubt.classes, each(d, d.class)), nil),
		Nodes:    optional(o, "nodes", naming(d, &d.known.doubt.nodes, each(d, d.node)), nil),
		Budgets:  optional(o, "budgets", naming(d, &d.known.doubt.budgets, d.budgets), nil),
		Tasks:    optional(o, "tasks", naming(d, &d.known.doubt.tasks, d.tasks), nil),
		Grants:   optional(o, "grants", naming(d, &d.known.doubt.tasks, each(d, d.grant)), nil),
		Pending:  optional(o, "pending", d.pending, nil),
		Quotas:   optional(o, "quotas", d.quotas, nil),
		Requests: optional(o, "requests", naming(d, &d.known.doubt.requests, each(d, d.request)), nil),
		Options:  optional(o, "options", d.options, Options{}),
	}
	// The jobs that minimums refer to may come with the requests.
	doc.JobMinimums = optional(o, "jobMinimums", d.jobMinimums, nil)
	if d.types.schema != nil {
		doc.Expect = optional(o, "expect", each(d, d.expectation(o.find("requests").length())), nil)
	}
	return doc
}

// ownLeafs are the words for what may be taken of the own leaf.
var ownLeafs = []string{"", "met", "branch"}

// jobTriggers are the words for what entitles a job to have victims.
var jobTriggers = []string{"", "guarantee", "priority"}

// movesWords are the words for whom tasks may move for.
var movesWords = []string{"", "never", string(victims.MovesEntitled), string(victims.MovesAny)}

// movesFor returns for whom tasks may move.
func (o *Options) movesFor() victims.Moves {
	if o.Moves == "never" {
		return ""
	}
	return victims.Moves(o.Moves)
}

// ownLeaf reads what may be taken of the own leaf.
func (d *decoder) ownLeaf(v value) string {
	if v.kind == text && v.text == "any" {
		d.fail(v, "%w: there is no such option any more, for it let tasks replace each other for ever: use met, with which a guarantee once met stays met", ErrValue)
		return ""
	}
	return oneOf(d, ownLeafs)(v)
}

// options reads the options, all of them false or empty by default.
func (d *decoder) options(v value) Options {
	names := []string{"toleration", "jobsNeedPreemptibleLabel", "ownLeaf", "jobTrigger", "fairShares", "moves", "maxMoved", "scarce", "levels"}
	for _, r := range choices.Rows() {
		names = append(names, r.Name)
	}
	o := d.object(v, names...)
	options := Options{
		Toleration:               optional(o, "toleration", d.boolean, false),
		JobsNeedPreemptibleLabel: optional(o, "jobsNeedPreemptibleLabel", d.boolean, false),
		OwnLeaf:                  optional(o, "ownLeaf", d.ownLeaf, ""),
		JobTrigger:               optional(o, "jobTrigger", oneOf(d, jobTriggers), ""),
		FairShares:               optional(o, "fairShares", d.boolean, false),
		Moves:                    optional(o, "moves", oneOf(d, movesWords), ""),
		MaxMoved:                 optional(o, "maxMoved", d.whole(0, math.MaxInt32), 0),
		Scarce:                   optional(o, "scarce", d.scarce, 0),
	}
	options.Levels = optional(o, "levels", d.levels, "")
	for i, r := range choices.Rows() {
		switch at := options.Pointer(i).(type) {
		case *bool:
			*at = optional(o, r.Name, d.boolean, false)
		case *int:
			*at = int(optional(o, r.Name, d.whole(0, math.MaxInt32), 0))
		}
	}
	if scarce := o.find("scarce"); options.FairShares && scarce.kind != 0 {
		d.fail(scarce, "%w: fair shares are of scarce types already", ErrValue)
	}
	return options
}

// levels reads what decides between plans.
func (d *decoder) levels(v value) string {
	var words []string
	known, all := rulebook.AllWords(), true
	for item := range d.list(v) {
		words = append(words, oneOf(d, known)(item))
		all = all && slices.Contains(known, item.text)
	}
	if err := lent.To(&victims.Options{Levels: words}).Check(); err != nil && all {
		d.fail(v, "%w: %v", ErrValue, err)
	}
	return strings.Join(words, " ")
}

// levels returns them as planners take them.
func (o *Options) levels() []string { return strings.Fields(o.Levels) }

// scarce reads the types whose guarantees count. They are types that the rest of the document
// uses.
func (d *decoder) scarce(v value) (types resources.Mask) {
	if d.want(v, list) && len(v.items) == 0 {
		d.fail(v, "%w: an empty list would have no guarantee count", ErrValue)
	}
	name := d.unique(make(seen))
	for item := range d.list(v) {
		s, t := name(item), &d.types
		if t.schema == nil || s == "" {
			continue
		}
		if i, ok := t.schema.Index(s); ok {
			types |= 1 << i
		} else {
			d.refer(item, t.doubt, "no resource type of this name")
		}
	}
	return types
}
