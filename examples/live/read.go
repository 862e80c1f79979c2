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
	mostBytes     = 1 << 30 // of an object, and of a file of queues
	mostYAMLBytes = 64 << 20
	mostDepth     = 200
)

// An object is a JSON object of a file, and where it is.
type object struct {
	file, place string // the place is the file, and which of its objects this is
	raw         json.RawMessage
	end         int64 // the byte of the text after it
	head
	value any // what it was decoded to, if it was
	err   error
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

// ofHead is what is read of a head.
var ofHead = selection{"apiVersion": nil, "kind": nil, "metadata": {"name": nil, "namespace": nil}}

// id returns the group and the kind of an object.
func (o *object) id() string {
	group, _, ok := strings.Cut(o.APIVersion, "/")
	if !ok {
		group = ""
	}
	return group + "/" + o.Kind
}

// guess returns what is likely to be its id, before it is read.
func (o *object) guess() string {
	like := object{head: o.head}
	for name, is := range map[string]*string{"kind": &like.Kind, "apiVersion": &like.APIVersion} {
		if text := find(o.raw, name); len(text) > 1 && text[0] == '"' {
			*is = string(text[1 : len(text)-1])
		}
	}
	return like.id()
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

// openText opens a file, or standard input for "-", and returns its name for messages.
func openText(file string, stdin io.Reader) (in *bufio.Reader, done func(), shown string, err error) {
	source, done, shown := stdin, func() {}, "stdin"
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, done, file, err
		}
		source, done, shown = f, func() { f.Close() }, file
	}
	in = bufio.NewReaderSize(source, 1<<16)
	switch mark, _ := in.Peek(3); {
	case string(mark) == "\xef\xbb\xbf": // a byte-order mark
		_, err = in.Discard(3)
	case bytes.HasPrefix(mark, []byte("\xff\xfe")), bytes.HasPrefix(mark, []byte("\xfe\xff")):
		err = fmt.Errorf("%s: it is UTF-16: save it as UTF-8", shown)
	}
	return in, done, shown, err
}

// readText returns the text of a file, or of standard input for "-", and its name for
// messages.
func readText(file string, stdin io.Reader) (data []byte, shown string, err error) {
	in, done, shown, err := openText(file, stdin)
	defer done()
	if err != nil {
		return nil, shown, err
	}
	if data, err = io.ReadAll(io.LimitReader(in, mostBytes+1)); err != nil {
		return nil, shown, fmt.Errorf("%s: %w", shown, err)
	}
	if len(data) > mostBytes {
		return nil, shown, fmt.Errorf("%s: more than %d bytes", shown, mostBytes)
	}
	return data, shown, nil
}

// readObjects returns the objects of a text. Lists are taken apart.
func readObjects(data []byte, shown string) (all []object, err error) {
	err = eachObject(bytes.NewReader(data), shown, func(o object) { all = append(all, o) })
	for i := 0; i < len(all) && err == nil; i++ {
		err = all[i].readHead(all[i].raw)
	}
	return all, err
}

// eachObject hands the objects of a text to take, one after another. Lists are taken apart as
// they are read, so that of a large dump nothing is kept but what take keeps.
func eachObject(in io.Reader, shown string, take func(object)) error {
	s := newScanner(in)
	first, err := s.peek()
	if err == io.EOF {
		return nil
	} else if err == nil && first != '{' && first != '[' {
		return eachYAML(s.in, shown, take)
	}
	for n := 1; err == nil; n++ {
		place := shown
		if n > 1 {
			place = numbered(shown, n)
		}
		if err = readObject(s, shown, place, take); err == nil {
			_, err = s.peek()
		}
	}
	switch {
	case err == io.EOF:
		return nil
	case errors.As(err, new(*placed)):
		return err
	}
	return fmt.Errorf("%s: %w", shown, err)
}

func numbered(shown string, n int) string { return shown + " (document " + strconv.Itoa(n) + ")" }

// eachYAML is eachObject for YAML, which is read whole.
func eachYAML(in io.Reader, shown string, take func(object)) error {
	data, err := io.ReadAll(io.LimitReader(in, mostYAMLBytes+1))
	if err != nil {
		return fmt.Errorf("%s: %w", shown, err)
	}
	texts, err := split(data)
	if err != nil {
		return fmt.Errorf("%s: %w", shown, err)
	}
	for i, text := range texts {
		place := shown
		if len(texts) > 1 {
			place = numbered(shown, i+1)
		}
		if err := readObject(newScanner(bytes.NewReader(text)), shown, place, take); err != nil {
			return err
		}
	}
	return nil
}

// split returns the JSON values of a text: of JSON, one after another, or of YAML.
func split(data []byte) (all []json.RawMessage, err error) {
	if text := bytes.TrimSpace(data); len(text) > 0 && text[0] == '{' {
		s := newScanner(bytes.NewReader(data))
		for {
			raw, err := s.value(nil)
			if err == io.EOF {
				return all, nil
			} else if err == nil {
				err = s.valid(raw)
			}
			if err != nil {
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
		if string(raw) != "null" {
			all = append(all, raw)
		}
	}
}

// A placed error says already where it is.
type placed struct{ error }

func (p *placed) Unwrap() error { return p.error }

// A listing is the object at hand, which may be a list.
type listing struct {
	object
	items int
	early []object // without a kind of their own, before that of the list is known
	take  func(object)
}

// readObject hands the next object to take, or the items of a list.
func readObject(s *scanner, shown, place string, take func(object)) error {
	l := &listing{object: object{file: shown, place: place, raw: []byte("{")}, take: take}
	if b, err := s.peek(); err != nil {
		return err
	} else if b != '{' {
		return notOne(s, place)
	}
	isList := false
	err := s.inside('{', '}', func() error {
		name, err := s.name()
		if err != nil {
			return err
		}
		if b, err := s.peek(); err == nil && b == '[' && name == `"items"` {
			isList = true
			l.kindSoFar()
			return s.each(func(raw []byte) error { l.item(raw, s.at); return nil })
		}
		if len(l.raw) > 1 {
			l.raw = append(l.raw, ',')
		}
		l.raw, err = s.whole(append(append(l.raw, name...), ':'))
		return err
	})
	if err != nil {
		return err
	}
	l.raw, l.end = append(l.raw, '}'), s.at
	return l.finish(isList)
}

// item takes an item of the list, which ends at a byte.
func (l *listing) item(raw []byte, end int64) {
	o := object{file: l.file, place: l.place + ": items[" + strconv.Itoa(l.items) + "]", raw: raw, end: end}
	l.items++
	kind := find(raw, "kind")
	switch own := kind != nil && string(kind) != `""`; {
	case !own && l.Kind == "":
		l.early = append(l.early, o)
	case !own:
		l.give(o)
	default:
		l.take(o)
	}
}

// kindSoFar reads the kind of the list, if it stands before the items, as it does in what the API
// server writes.
func (l *listing) kindSoFar() {
	so := object{}
	if so.readHead(append(slices.Clone(l.raw), '}')) == nil {
		l.Kind, l.APIVersion = so.Kind, so.APIVersion
	}
}

// give takes an item that has no kind of its own: those of the API have it in the list.
func (l *listing) give(o object) {
	if len(l.Kind) > 4 {
		o.Kind, o.APIVersion = l.Kind[:len(l.Kind)-4], l.APIVersion
	}
	l.take(o)
}

// finish takes the object, unless it is a list, and what was left over.
func (l *listing) finish(isList bool) error {
	if !isList && string(find(l.raw, "items")) != "null" { // some writers have null for none
		l.take(l.object)
		return nil
	}
	if err := l.readHead(l.raw); err != nil {
		return &placed{err}
	}
	if !isList && !strings.HasSuffix(l.Kind, "List") {
		l.take(l.object)
	}
	for _, o := range l.early {
		l.give(o)
	}
	return nil
}

// readHead reads the head of an object from a text.
func (o *object) readHead(text []byte) error {
	v, err := decode[head](o, text)
	if _, invalid := errors.AsType[*json.SyntaxError](err); invalid {
		return fmt.Errorf("%s: %w", o.file, (&scanner{at: o.end}).valid(text))
	}
	if err != nil {
		return err
	}
	if v.Kind == "" {
		v.Kind, v.APIVersion = o.Kind, o.APIVersion
	}
	o.head = *v
	return nil
}

// notOne returns the error that the next value is no object, but an array: jq -s prints one,
// for example.
func notOne(s *scanner, place string) error {
	o := object{place: place}
	b, _ := s.peek()
	if b != '[' {
		raw, err := s.whole(nil)
		if err == nil {
			err = s.valid(raw)
		}
		if err == nil {
			err = o.readHead(raw)
		}
		return &placed{err}
	}
	first := ""
	err := s.each(func(raw []byte) error {
		item := object{}
		if first == "" && item.readHead(raw) == nil && item.Kind != "" {
			first = ", the first of which is " + item.Kind + " " + name(item.Metadata.Namespace, item.Metadata.Name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return &placed{o.wrong("", errors.New("an array of objects"+first+": want them one after another, or in a List; jq prints them so without -s"))}
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

// decode decodes what is read of an object. What is wrong is told with its field.
func decode[T any](o *object, text []byte) (*T, error) {
	v := new(T)
	err := json.Unmarshal(text, v)
	if err == nil {
		return v, nil
	}
	wrong := func(raw []byte) bool { return json.Unmarshal(raw, new(T)) != nil }
	return nil, o.wrong(blame(text, wrong), cause(err))
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
