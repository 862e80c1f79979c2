package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// The largest numbers that a trace may hold, so that no product or sum below
// can leave the range of int64.
const (
	maxAmount = 1 << 40
	maxGPUs   = 1 << 20
	maxTime   = 1 << 31 // seconds, 68 years
)

var (
	nodeColumns = []string{"sn", "cpu_milli", "memory_mib", "gpu", "model"}
	podColumns  = []string{
		"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec", "qos",
		"creation_time", "deletion_time",
	}
)

var (
	errNumber = errors.New("not a number that a trace can hold")
	errColumn = errors.New("no such column")
	errName   = errors.New("empty, or used before")
	errQoS    = errors.New("unknown class of service")
	errShare  = errors.New("more than one GPU, or a share of several")
	errOrder  = errors.New("deleted before it is created")
)

// readWorkload reads the two files of a trace.
func readWorkload(nodes, pods string) (*Workload, error) {
	w := &Workload{}
	var err error
	if w.Nodes, err = readFile(nodes, readNodes); err != nil {
		return nil, err
	}
	if w.Pods, err = readFile(pods, readPods); err != nil {
		return nil, err
	}
	return w, nil
}

func readFile[T any](file string, read func(io.Reader, string) ([]T, error)) ([]T, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f, file)
}

// readNodes reads nodes in the columns sn, cpu_milli, memory_mib, gpu and
// model. Errors name file, line, column and value, and wrap one of the
// sentinels or an error of encoding/csv.
func readNodes(r io.Reader, file string) ([]Node, error) {
	t, err := openTable(r, file, nodeColumns)
	if err != nil {
		return nil, err
	}
	var nodes []Node
	for t.next() {
		nodes = append(nodes, Node{
			Name:   t.name("sn"),
			CPU:    t.number("cpu_milli", maxAmount),
			Memory: t.number("memory_mib", maxAmount),
			GPUs:   t.number("gpu", maxGPUs),
			Model:  t.text("model"),
		})
	}
	return nodes, t.err
}

// readPods reads pods and sorts them by time of creation; those of the same
// second stay as they are in the file. Columns that the replay has no use for
// are passed over. Errors are as those of readNodes.
func readPods(r io.Reader, file string) ([]Pod, error) {
	t, err := openTable(r, file, podColumns)
	if err != nil {
		return nil, err
	}
	var pods []Pod
	for t.next() {
		p := Pod{
			Name:    t.name("name"),
			CPU:     t.number("cpu_milli", maxAmount),
			Memory:  t.number("memory_mib", maxAmount),
			QoS:     t.qos("qos"),
			Created: t.number("creation_time", maxTime),
			Deleted: t.number("deletion_time", maxTime),
		}
		gpus, share := t.number("num_gpu", maxGPUs), t.number("gpu_milli", maxGPUs)
		p.GPU = gpus * share
		if spec := t.text("gpu_spec"); spec != "" {
			p.Models = strings.Split(spec, "|")
		}
		switch {
		case share > wholeGPU || gpus > 1 && share != wholeGPU:
			t.fail("gpu_milli", errShare)
		case p.Deleted < p.Created:
			t.fail("deletion_time", errOrder)
		}
		pods = append(pods, p)
	}
	slices.SortStableFunc(pods, func(a, b Pod) int { return int(a.Created - b.Created) })
	return pods, t.err
}

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

func (t *table) qos(column string) QoS {
	for q, class := range classes {
		if class.name == t.text(column) {
			return QoS(q)
		}
	}
	t.fail(column, errQoS)
	return 0
}
