// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

// Bounds for what strangers may give us. The reader of YAML itself refuses documents
// that aliases blow up.
const (
	mostBytes     = 1 << 30
	mostYAMLBytes = 64 << 20
	mostDepth     = 200
)

// An object is a JSON object of a file, and where it is.
type object struct {
	place string // the file, and which of its objects this is
	raw   json.RawMessage
	head
}

// A head is what all objects of Kubernetes have.
type head struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
}

// wrong returns the error that a field of an object is not as it should be.
func (o *object) wrong(field string, err error) error {
	text := o.place + ": "
	if o.Kind != "" {
		text += o.Kind + " " + name(o.Metadata.Namespace, o.Metadata.Name) + ": "
	}
	if field != "" {
		text += field + ": "
	}
	return fmt.Errorf("%s%w", text, err)
}

// name returns namespace/name, or the name of what is in no namespace.
func name(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// readText returns the text of a file, or of standard input for "-", and its name for
// messages.
func readText(file string, stdin io.Reader) (data []byte, shown string, err error) {
	in, shown := stdin, "stdin"
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, file, err
		}
		defer f.Close()
		in, shown = f, file
	}
	data, err = io.ReadAll(io.LimitReader(in, mostBytes+1))
	if err != nil {
		return nil, shown, fmt.Errorf("%s: %w", shown, err)
	}
	if len(data) > mostBytes {
		return nil, shown, fmt.Errorf("%s: more than %d bytes", shown, mostBytes)
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, shown, fmt.Errorf("%s: it is UTF-16: save it as UTF-8", shown)
	}
	return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), shown, nil // a byte-order mark
}

// readObjects returns the objects of a text. Lists are taken apart.
func readObjects(data []byte, shown string) ([]object, error) {
	texts, err := split(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown, err)
	}
	var all []object
	for i, text := range texts {
		place := shown
		if len(texts) > 1 {
			place += " (document " + strconv.Itoa(i+1) + ")"
		}
		if all, err = unlist(all, object{place: place, raw: text}); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// split returns the JSON values of a text: of JSON, one after another, or of YAML.
func split(data []byte) (all []json.RawMessage, err error) {
	if text := bytes.TrimSpace(data); len(text) > 0 && text[0] == '{' {
		for dec := json.NewDecoder(bytes.NewReader(data)); ; {
			var raw json.RawMessage
			if err := dec.Decode(&raw); err == io.EOF {
				return all, nil
			} else if err != nil {
				return nil, fmt.Errorf("not valid JSON at byte %d: %w", dec.InputOffset(), err)
			}
			if err := shallow(raw); err != nil {
				return nil, err
			}
			all = append(all, raw)
		}
	}
	if len(data) > mostYAMLBytes {
		return nil, fmt.Errorf("more than %d bytes of YAML: use -o json", mostYAMLBytes)
	}
	for r := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data))); ; {
		text, err := r.Read()
		if err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		if err := flat(text); err != nil {
			return nil, err
		}
		raw, err := sigsyaml.YAMLToJSONStrict(text)
		if err != nil {
			return nil, err
		}
		if err := shallow(raw); err != nil {
			return nil, err
		}
		if string(raw) != "null" {
			all = append(all, raw)
		}
	}
}

var errDeep = fmt.Errorf("more than %d objects and lists in each other", mostDepth)

// flat bounds how deep the flow style of a YAML text goes before anybody parses it:
// the parser's work may grow with the square of that. Brackets in strings count too,
// if they are never closed; no manifest has that many.
func flat(text []byte) error {
	depth := 0
	for _, c := range text {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		}
		if depth > 10*mostDepth {
			return errDeep
		}
	}
	return nil
}

// shallow bounds how deep a value is.
func shallow(raw []byte) error {
	depth := 0
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // any number will do
	for {
		t, err := dec.Token()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth > mostDepth {
			return errDeep
		}
	}
}

// A listText is an object that may be a list.
type listText struct {
	head
	Items items `json:"items"`
}

// items are those of a list. Some writers have null for none.
type items struct {
	there bool
	all   []json.RawMessage
}

func (i *items) UnmarshalJSON(raw []byte) error {
	i.there = true
	return json.Unmarshal(raw, &i.all)
}

// inArray is the error that an object is an array: jq -s prints one, for example.
func inArray(o object) error {
	var all []head
	first := ""
	if json.Unmarshal(o.raw, &all) == nil && len(all) > 0 && all[0].Kind != "" {
		first = ", the first of which is " + all[0].Kind + " " + name(all[0].Metadata.Namespace, all[0].Metadata.Name)
	}
	return o.wrong("", errors.New("an array of objects"+first+": want them one after another, or in a List; jq prints them so without -s"))
}

// unlist appends an object, or the items of a list.
func unlist(all []object, o object) ([]object, error) {
	if text := bytes.TrimSpace(o.raw); len(text) > 0 && text[0] == '[' {
		return nil, inArray(o)
	}
	var list listText
	if _, err := decode(&o, func() any { return new(listText) }); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(o.raw, &list); err != nil {
		return nil, err // it was read a line ago
	}
	o.head = list.head
	if !list.Items.there || list.Items.all == nil && !strings.HasSuffix(o.Kind, "List") {
		return append(all, o), nil
	}
	for i, raw := range list.Items.all {
		item := object{place: fmt.Sprintf("%s: items[%d]", o.place, i), raw: raw}
		if _, err := decode(&item, func() any { return new(head) }); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(raw, &item.head); err != nil {
			return nil, err // it was read a line ago
		}
		if item.Kind == "" && len(o.Kind) > 4 { // those of the API have the kind in the list
			item.Kind, item.APIVersion = o.Kind[:len(o.Kind)-4], o.APIVersion
		}
		all = append(all, item)
	}
	return all, nil
}

// decode reads an object. What is wrong is told with its field.
func decode(o *object, into func() any) (any, error) {
	v := into()
	err := json.Unmarshal(o.raw, v)
	if err == nil {
		return v, nil
	}
	wrong := func(raw []byte) bool { return json.Unmarshal(raw, into()) != nil }
	return nil, o.wrong(blame(o.raw, wrong), cause(err))
}

// cause returns what is wrong, without the field of the reader's own types.
func cause(err error) error {
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("wrong kind of value: %s", t.Value)
	}
	return err
}

// blame returns the field without which a value would be read. Readers of single
// values, such as quantities, do not say where they are.
func blame(raw []byte, wrong func([]byte) bool) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) == nil {
		names := make([]string, 0, len(fields))
		for n := range fields {
			names = append(names, n)
		}
		slices.Sort(names)
		for _, n := range names {
			with := func(part []byte) bool {
				one, err := json.Marshal(map[string]json.RawMessage{n: part})
				return err == nil && wrong(one)
			}
			if with(fields[n]) {
				return join(n, blame(fields[n], with))
			}
		}
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) == nil {
		for i := range items {
			with := func(part []byte) bool {
				one, err := json.Marshal([]json.RawMessage{part})
				return err == nil && wrong(one)
			}
			if with(items[i]) {
				return join("["+strconv.Itoa(i)+"]", blame(items[i], with))
			}
		}
	}
	return ""
}

// join returns a path of two parts.
func join(a, b string) string {
	if b == "" || b[0] == '[' {
		return a + b
	}
	return a + "." + b
}
