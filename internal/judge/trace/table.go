// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A table reads records of named columns until the first error.
type table struct {
	csv    *csv.Reader
	file   string
	column map[string]int
	record []string
	names  map[string]bool
	err    error
}

// openTable reads the line of headings.
func openTable(r io.Reader, file string, columns []string) (*table, error) {
	t := &table{csv: csv.NewReader(r), file: file, column: map[string]int{}, names: map[string]bool{}}
	heads, err := t.csv.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: headings: %w", file, err)
	}
	for i, head := range heads {
		if i == 0 {
			head = strings.TrimPrefix(head, "\ufeff") // a byte-order mark
		}
		t.column[head] = i
	}
	for _, name := range columns {
		if _, ok := t.column[name]; !ok {
			return nil, fmt.Errorf("%s:1: column %s: %w", file, name, errColumn)
		}
	}
	return t, nil
}

// next reads the next record and reports whether there is one.
func (t *table) next() bool {
	if t.err != nil {
		return false
	}
	record, err := t.csv.Read()
	if err != nil {
		if err != io.EOF {
			t.err = fmt.Errorf("%s: %w", t.file, err)
		}
		return false
	}
	t.record = record
	return true
}

// fail takes note of the first error.
func (t *table) fail(column string, err error) {
	if t.err == nil {
		line, _ := t.csv.FieldPos(t.column[column])
		t.err = fmt.Errorf("%s:%d: column %s: %q: %w", t.file, line, column, t.text(column), err)
	}
}

// has reports whether there is a column of the name.
func (t *table) has(column string) bool {
	_, ok := t.column[column]
	return ok
}

func (t *table) text(column string) string { return t.record[t.column[column]] }

// name returns a text that must be there, and be another in every record.
func (t *table) name(column string) string {
	name := t.text(column)
	if name == "" || t.names[name] {
		t.fail(column, errName)
	}
	t.names[name] = true
	return name
}

// number returns an integer from 0 to most.
func (t *table) number(column string, most int64) int64 {
	n, err := strconv.ParseInt(t.text(column), 10, 64)
	if err != nil || n < 0 || n > most {
		t.fail(column, fmt.Errorf("%w: want 0 to %d", errNumber, most))
		return 0
	}
	return n
}

// qos returns a class of service, spelled as a trace does.
func (t *table) qos(column string) QoS {
	for q, class := range classes {
		if class.name == t.text(column) {
			return QoS(q)
		}
	}
	t.fail(column, errQoS)
	return 0
}
