// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/examples/plan/internal/against"
	"github.com/go-preempt/preempt/examples/plan/internal/lint"
	"github.com/go-preempt/preempt/examples/plan/internal/moment"
	"github.com/go-preempt/preempt/examples/plan/internal/when"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/plain"
)

// What is asked of documents without being told what is decided: -lint, -against,
// -when and -snapshot.

// lintOptions are the arguments of -lint.
type lintOptions struct {
	on, clean bool
	lint.Options
}

func (o *lintOptions) flags(f *flag.FlagSet) {
	f.BoolVar(&o.on, "lint", false, "say what can go wrong with the documents as policies; also with -json")
	f.BoolVar(&o.clean, "expect-clean", false, "with -lint: status 1 if anything but notes was found")
	f.IntVar(&o.States, "lint-states", 100_000, "with -lint: look at so many states of small worlds, `N`")
	f.StringVar(&o.Rules, "lint-rules", lint.Rules[0], "with -lint: `WHOSE` rules the worlds follow: "+lintRules())
}

// lintRules lists whose rules there are.
func lintRules() string {
	last := len(lint.Rules) - 1
	return strings.Join(lint.Rules[:last], ", ") + " or " + lint.Rules[last]
}

func (o *lintOptions) problem() error {
	switch {
	case o.States < 0:
		return fmt.Errorf("-lint-states %d: want 0 or more", o.States)
	case !slices.Contains(lint.Rules, o.Rules):
		return fmt.Errorf("-lint-rules %q: want %s", o.Rules, lintRules())
	case o.clean && !o.on:
		return errors.New("-expect-clean is for -lint")
	}
	return nil
}

// writeLint writes what can go wrong with each document, and returns the exit status.
// Its error is what is wrong with each of them.
func (o *options) writeLint(out io.Writer, sources []scenario.Text) (int, error) {
	var problems []error
	status := decided
	e := encoder(out)
	for _, s := range sources {
		r, err := lint.Document(s, o.lint.Options)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if o.lint.clean && !r.Clean() {
			status = differs
		}
		if o.json {
			problems = append(problems, e.Encode(r))
		} else {
			r.Write(out)
		}
	}
	return status, errors.Join(problems...)
}

// writeWhen writes when what has no place in each document could start, as text or JSON.
func (o *options) writeWhen(out io.Writer, sources []scenario.Text) error {
	e := encoder(out)
	var problems []error
	for i, s := range sources {
		name, all, err := when.Document(s)
		problems = append(problems, err)
		if err != nil {
			continue
		}
		if o.json {
			problems = append(problems, e.Encode(struct {
				Name    string          `json:"name"`
				Waiting []*when.Waiting `json:"waiting"`
			}{name, append([]*when.Waiting{}, all...)}))
			continue
		}
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, plain.Line(name))
		if len(all) == 0 {
			fmt.Fprintln(out, "  every request has a place")
		}
		for _, w := range all {
			w.Write(out)
		}
	}
	return errors.Join(problems...)
}

// writeAgainst compares the sources under two policies, and writes what changes as
// text or JSON; the picture, if there is to be one, is of all of them. It returns
// the exit status.
func (o *options) writeAgainst(out io.Writer, sources []scenario.Text, stdin io.Reader) (status int, picture []byte, err error) {
	all, err := o.contrasts(sources, stdin)
	if err != nil {
		return bad, nil, err
	}
	whole := against.Sum(all)
	if o.svg != "" {
		picture = drawAgainst(all, whole)
	}
	switch {
	case o.svg == "-":
	case o.json:
		err = against.WriteJSON(out, all, whole)
	default:
		against.WriteText(out, all, whole)
	}
	if o.expectSame && whole.Changed > 0 {
		return differs, picture, err
	}
	return decided, picture, err
}

// contrasts decides each source under both policies. Its error is what is wrong with
// each of them.
func (o *options) contrasts(sources []scenario.Text, stdin io.Reader) (all []*against.Contrast, err error) {
	if o.against == "-" && slices.Contains(o.files, "-") || o.policy == "-" && (o.against == "-" || slices.Contains(o.files, "-")) {
		return nil, errors.New("standard input is one file only")
	}
	old, err := readOne(o.against, stdin)
	var theirs scenario.Text
	if o.policy != "" {
		var problem error
		theirs, problem = readOne(o.policy, stdin)
		err = errors.Join(err, problem)
	}
	if err != nil {
		return nil, err
	}
	var problems []error
	for _, s := range sources {
		if o.policy == "" {
			theirs = s
		}
		c, err := against.Document(s, old, theirs)
		problems = append(problems, err)
		all = append(all, c)
	}
	return all, errors.Join(problems...)
}

// writeSnapshots writes what each document decides at a request, or at its first
// decision, as a document of its own.
func (o *options) writeSnapshots(out io.Writer, sources []scenario.Text) error {
	var problems []error
	for _, s := range sources {
		text, err := moment.Take(s, o.request)
		if err == nil {
			_, err = out.Write(text)
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// encoder returns what writes JSON as all of plan does.
func encoder(out io.Writer) *json.Encoder {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e
}
