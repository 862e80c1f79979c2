// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// The fields of a document that are its policy. All others are its state: what is
// there, and what is asked.
var policyFields = []string{"strict", "queues", "priorityClasses", "budgets", "quotas", "options"}

// A Text is a document that was not parsed yet. The name of its file is for messages.
type Text struct {
	File string
	Data []byte
}

// Under returns a document with its own state and the policy of another one.
// Errors are mistakes in one of the
// texts, or in what becomes of them: tasks in a queue that the policy does not have.
//
// Fields of the policy that the other document leaves out have their defaults, with
// two exceptions, because tasks name these. A budget that only the state knows
// bounds nothing. A priority class that only the state knows keeps its value and
// its preemptionPolicy, and loses its annotations. What the document expects is left
// out. The types are those of the state and of both policies, so that a state is
// decided over the same types under either; alike is the other policy.
func Under(state, policy, alike Text) (*Document, error) {
	own, err := documentParts(state)
	if err != nil {
		return nil, err
	}
	theirs, err := documentParts(policy)
	if err != nil {
		return nil, err
	}
	third, err := documentParts(alike)
	if err != nil {
		return nil, err
	}
	kept, classes, budgets := own.doc.Classes, theirs.classes, theirs.budgets
	for i := range kept {
		c := &kept[i]
		if slices.ContainsFunc(theirs.doc.Classes, func(x Class) bool { return x.Name == c.Name }) {
			continue
		}
		plain := map[string]any{"name": c.Name, "value": c.Value}
		if c.PreemptionPolicy != "" {
			plain["preemptionPolicy"] = c.PreemptionPolicy
		}
		classes = append(classes, mustJSON(plain))
	}
	for i := range own.doc.Budgets {
		if name := own.doc.Budgets[i].Name; budgets[name] == nil {
			budgets[name] = json.RawMessage(`{"left": 9223372036854775807}`)
		}
	}
	all := own.fields
	for _, name := range policyFields {
		if delete(all, name); theirs.fields[name] != nil {
			all[name] = theirs.fields[name]
		}
	}
	delete(all, "expect") // of the policy that the document was written for
	all["priorityClasses"], all["budgets"] = mustJSON(classes), mustJSON(budgets)
	delete(all, "types")
	if types := unionOfTypes(own.doc, theirs.doc, third.doc); len(types) > 0 {
		all["types"] = mustJSON(types)
	}
	file := state.File
	if file != policy.File {
		file += " under the policy of " + policy.File
	}
	return Parse(file, mustJSON(all))
}

// unionOfTypes returns the types of a state, and then those of two policies in
// alphabetical order: which one is the old one does not matter.
func unionOfTypes(state *Document, policies ...*Document) []string {
	var all, more []string
	for i := range state.Schema.Len() {
		all = append(all, state.Schema.Name(i))
	}
	for _, p := range policies {
		for i := range p.Schema.Len() {
			name := p.Schema.Name(i)
			if !slices.Contains(all, name) && !slices.Contains(more, name) {
				more = append(more, name)
			}
		}
	}
	slices.Sort(more)
	return append(all, more...)
}

// parts are a document, and the text of it in pieces.
type parts struct {
	doc     *Document
	fields  map[string]json.RawMessage
	classes []json.RawMessage
	budgets map[string]json.RawMessage
}

func documentParts(t Text) (*parts, error) {
	doc, err := Parse(t.File, t.Data)
	if err != nil {
		return nil, err
	}
	p := &parts{doc: doc, classes: []json.RawMessage{}, budgets: make(map[string]json.RawMessage)}
	err = json.Unmarshal(t.Data, &p.fields)
	if f := p.fields["priorityClasses"]; f != nil {
		err = errors.Join(err, json.Unmarshal(f, &p.classes))
	}
	if f := p.fields["budgets"]; f != nil {
		err = errors.Join(err, json.Unmarshal(f, &p.budgets))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.File, err)
	}
	return p, nil
}

// mustJSON writes what cannot fail: it was read from JSON, or is of plain values.
func mustJSON(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
