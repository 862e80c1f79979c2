// SPDX-License-Identifier: Apache-2.0

// Package saved writes and reads the text in which the library keeps what it knows
// over a restart. A text is sections, one after another or inside each other. Each
// has a first line with its format and version, lines of a word and one JSON value,
// and a last line with their number:
//
//	preempt quota clocks 3
//	timing {"now":"2026-01-01T12:00:00Z"}
//	end 1
//
// Lines are read one by one, so that memory does not grow with a text.
package saved

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/go-preempt/preempt/resources"
)

// The kinds of errors of a text.
var (
	ErrFormat = errors.New("bad saved text") // a line that is none, a part that is missing
	ErrUTF8   = errors.New("not UTF-8, which cannot be saved")
)

// version is that of all sections. Whoever changes what lines mean counts it up. Texts of all
// versions since 1, which is that of 0.1.0, can be read.
const version = 3

// A Writer writes sections. It keeps the first error and writes nothing after it.
type Writer struct {
	buf   *bufio.Writer
	json  *json.Encoder
	lines int
	err   error
}

// NewWriter returns a Writer to w, which is w itself if that is one: so a section is
// written inside another.
func NewWriter(w io.Writer) *Writer {
	if x, ok := w.(*Writer); ok {
		return x
	}
	x := &Writer{buf: bufio.NewWriter(w)}
	x.json = json.NewEncoder(x.buf)
	x.json.SetEscapeHTML(false) // it is for people, and nothing else reads it
	return x
}

// Write makes a Writer an [io.Writer] that can be handed on. See NewWriter.
func (w *Writer) Write(p []byte) (int, error) { return w.buf.Write(p) }

// Begin writes the first line of a section, and returns what End wants.
func (w *Writer) Begin(format string) (start int) {
	fmt.Fprintf(w.buf, "preempt %s %d\n", format, version)
	w.lines++
	return w.lines
}

// Line writes a line.
func (w *Writer) Line(word string, value any) {
	if w.err != nil {
		return
	}
	w.buf.WriteString(word + " ") // which keeps its error for Flush
	w.err = w.json.Encode(value)
	w.lines++
}

// Check notes texts that would not come back as they are: JSON knows UTF-8 only.
func (w *Writer) Check(what string, texts ...string) {
	for _, s := range texts {
		if w.err == nil && !utf8.ValidString(s) {
			w.err = fmt.Errorf("%s %q: %w", what, s, ErrUTF8)
		}
	}
}

// End writes the last line of a section, and returns the first error.
func (w *Writer) End(start int) error {
	if w.err == nil {
		fmt.Fprintf(w.buf, "end %d\n", w.lines-start)
		w.lines++
		w.err = w.buf.Flush()
	}
	return w.err
}

// A Reader reads sections, line by line.
type Reader struct {
	buf   *bufio.Reader
	line  int    // the number of the present one
	text  []byte // the memory of it
	value []byte // its JSON, a part of text
	// Version is that of the section that was begun last.
	Version int
}

// NewReader returns a Reader of r, which is r itself if that is one. From a
// [bufio.Reader] it takes the lines of one section and no more.
func NewReader(r io.Reader) *Reader {
	if x, ok := r.(*Reader); ok {
		return x
	}
	return &Reader{buf: bufio.NewReader(r)}
}

// Read makes a Reader an [io.Reader] that can be handed on. See NewReader.
func (r *Reader) Read(p []byte) (int, error) { return r.buf.Read(p) }

// Errorf returns an error with the number of the present line.
func (r *Reader) Errorf(format string, args ...any) error {
	return fmt.Errorf("line %d: %w", r.line, fmt.Errorf(format, args...))
}

// Begin reads the first line of a section, and returns what Next wants.
func (r *Reader) Begin(format string) (start int, err error) {
	if err := r.read(); err != nil {
		return 0, err
	}
	head := "preempt " + format + " "
	for r.Version = version; r.Version > 0; r.Version-- {
		if string(r.text) == head+strconv.Itoa(r.Version) {
			return r.line, nil
		}
	}
	return 0, r.Errorf("%w: %s, want %q or less", ErrFormat, r.short(), head+strconv.Itoa(version))
}

// Follows reports whether a section of a format comes next.
func (r *Reader) Follows(format string) bool {
	head := "preempt " + format + " "
	next, _ := r.buf.Peek(len(head))
	return string(next) == head
}

// Next reads the next line and returns its word, or "" for the last one of the section.
func (r *Reader) Next(start int) (word string, err error) {
	if err := r.read(); err != nil {
		return "", err
	}
	first, value, ok := bytes.Cut(r.text, []byte(" "))
	if !ok || len(first) == 0 {
		return "", r.Errorf("%w: %s, want a word and a value", ErrFormat, r.short())
	}
	if r.value = value; string(first) != "end" {
		return string(first), nil
	}
	// A text that lost lines in its middle would be another cluster.
	if n := r.line - start - 1; string(value) != strconv.Itoa(n) {
		return "", r.Errorf("%w: %s after %d lines", ErrFormat, r.short(), n)
	}
	return "", nil
}

// Decode sets v to the value of the line. Fields that v does not have are errors.
func (r *Reader) Decode(v any) error {
	d := json.NewDecoder(bytes.NewReader(r.value))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return r.Errorf("%w: %s: %w", ErrFormat, r.short(), err)
	}
	if d.InputOffset() != int64(len(r.value)) {
		return r.Errorf("%w: %s: more than one value", ErrFormat, r.short())
	}
	return nil
}

// Unknown returns the error for a word that the section does not have, or not there.
func (r *Reader) Unknown(word string) error {
	return r.Errorf("%w: word %q out of place", ErrFormat, word)
}

// read reads a line into memory that the next one reuses.
func (r *Reader) read() error {
	r.text = r.text[:0]
	r.line++
	for {
		part, err := r.buf.ReadSlice('\n')
		r.text = append(r.text, part...)
		switch {
		case err == nil:
			r.text = r.text[:len(r.text)-1]
			return nil
		case errors.Is(err, bufio.ErrBufferFull): // a long line comes in parts
		case errors.Is(err, io.EOF):
			return r.Errorf("%w: it ends here: %w", ErrFormat, io.ErrUnexpectedEOF)
		default:
			return r.Errorf("%w", err)
		}
	}
}

// short returns the line for a message: quoted, and not all of a long one.
func (r *Reader) short() string {
	const most = 100
	if len(r.text) > most {
		return strconv.Quote(string(r.text[:most])) + "..."
	}
	return strconv.Quote(string(r.text))
}

// Bounds returns a limit by the names of types: what is not there is no bound.
func Bounds(s *resources.Schema, l resources.Limit) map[string]int64 {
	bounds := make(map[string]int64)
	for i := range l.Defined.All() {
		if i < s.Len() {
			bounds[s.Name(i)], _ = l.Bound(i)
		}
	}
	return bounds
}

// Limit returns the limit of some bounds. A type that the schema does not have, and
// a negative bound, is an error.
func Limit(s *resources.Schema, bounds map[string]int64) (l resources.Limit, err error) {
	l.Value = make(resources.Vector, s.Len())
	// In the order of the schema, so that of two errors it is always the same.
	for i := range s.Len() {
		name := s.Name(i)
		v, ok := bounds[name]
		if !ok {
			continue
		}
		if v < 0 {
			return l, fmt.Errorf("%w: bound %d of type %q", ErrFormat, v, name)
		}
		l.Value[i], l.Defined = v, l.Defined|1<<i
	}
	for name := range bounds {
		if _, ok := s.Index(name); !ok {
			return l, fmt.Errorf("%w: a bound of a type that there is not, among %v", ErrFormat, bounds)
		}
	}
	return l, nil
}
