// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"encoding/json"
	"io"
)

// emptyTasks is how [Write] writes a list without tasks. Strings have no line breaks, and the list
// of another object is further in.
const emptyTasks = "\n \"tasks\": []"

// Write writes a document for people: of a value with an empty list of tasks, and tasks that are put
// into it. Each is written by itself, for there may be a million. It panics if the value has no such
// list.
func Write[T any](w io.Writer, document any, tasks []T) error {
	whole, err := indented(new(bytes.Buffer), document, "")
	if err != nil {
		return err
	}
	before, after, ok := bytes.Cut(whole, []byte(emptyTasks))
	if !ok {
		panic("scenario: Write of a document without an empty list of tasks")
	}
	if len(tasks) == 0 {
		_, err := w.Write(whole)
		return err
	}
	out := errWriter{w: w}
	out.write(before)
	out.write([]byte(emptyTasks[:len(emptyTasks)-1]))
	var b bytes.Buffer
	for i := range tasks {
		b.Reset()
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n  ")
		text, err := indented(&b, &tasks[i], "  ")
		if err != nil {
			return err
		}
		out.write(bytes.TrimSuffix(text, []byte("\n")))
	}
	out.write([]byte("\n ]"))
	out.write(after)
	return out.err
}

// indented adds a value to a buffer, as JSON that is so far in, and a line break.
func indented(b *bytes.Buffer, v any, prefix string) ([]byte, error) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	e.SetIndent(prefix, " ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// An errWriter keeps the first error, and writes no more after it.
type errWriter struct {
	w   io.Writer
	err error
}

func (e *errWriter) write(text []byte) {
	if e.err == nil {
		_, e.err = e.w.Write(text)
	}
}
