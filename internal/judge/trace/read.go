// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// The names of the files, as they are published.
const (
	NodeFile = "openb_node_list_all_node.csv"
	PodFile  = "openb_pod_list_default.csv"
)

// The largest numbers that a trace may hold, so that nothing that is worked out
// of one record can leave the range of int64.
const (
	maxAmount = 1 << 40
	maxGPUs   = 1 << 20

	// MaxTime is the latest time of a pod, in seconds: 68 years.
	MaxTime = 1 << 31
)

var (
	nodeColumns = []string{"sn", "cpu_milli", "memory_mib", "gpu", "model"}
	podColumns  = []string{"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"}

	// optional are the columns of pods that may be missing, with what is
	// assumed then.
	optional = []struct{ column, assumed string }{
		{"gpu_spec", "GPUs of any model will do"},
		{"qos", "every pod is of the class " + classes[assumedQoS].name},
		{"creation_time", "a pod is created every minute, in the order of the file"},
		{"deletion_time", "no pod ends"},
	}
)

// What is assumed of pods that do not say.
const (
	assumedQoS   = LatencySensitive
	assumedEvery = 60      // seconds between pods
	assumedLife  = 1 << 40 // seconds: longer than any replay
)

var (
	errNumber = errors.New("not a number that a trace can hold")
	errColumn = errors.New("no such column")
	errName   = errors.New("empty, or used before")
	errQoS    = errors.New("unknown class of service")
	errShare  = errors.New("more than one GPU, or a share of several")
	errOrder  = errors.New("deleted before it is created")
	errVC     = errors.New("not in the list of virtual clusters")
)

// Read reads the two files of a trace. Pods of the same second stay as they are
// in the file. Lists of pods may lack their classes, their times and the models
// of GPUs that they want; Assumed of the workload says what is taken instead.
// Errors name file, line, column and value; if a file is not there, the error is
// fs.ErrNotExist.
func Read(nodes, pods string) (*Workload, error) {
	w := &Workload{}
	err := open(nodes, func(f io.Reader) (err error) {
		w.Nodes, err = readNodes(f, nodes)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = open(pods, func(f io.Reader) (err error) {
		w.Pods, w.Assumed, err = readPods(f, pods)
		return err
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

func open(file string, read func(io.Reader) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return read(f)
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
// second stay as they are in the file. Columns that nobody has a use for are
// passed over, and of optional ones that are missing it says what is assumed.
// Errors are as those of readNodes.
func readPods(r io.Reader, file string) (pods []Pod, assumed []string, err error) {
	t, err := openTable(r, file, podColumns)
	if err != nil {
		return nil, nil, err
	}
	for _, o := range optional {
		if !t.has(o.column) {
			assumed = append(assumed, fmt.Sprintf("%s has no column %s: %s", file, o.column, o.assumed))
		}
	}
	for t.next() {
		p := Pod{
			Name:   t.name("name"),
			CPU:    t.number("cpu_milli", maxAmount),
			Memory: t.number("memory_mib", maxAmount),
		}
		t.class(&p)
		t.times(&p, len(pods))
		gpus, share := t.number("num_gpu", maxGPUs), t.number("gpu_milli", maxGPUs)
		p.GPU = gpus * share
		if share > wholeGPU || gpus > 1 && share != wholeGPU {
			t.fail("gpu_milli", errShare)
		}
		pods = append(pods, p)
	}
	slices.SortStableFunc(pods, func(a, b Pod) int { return cmp.Compare(a.Created, b.Created) })
	return pods, assumed, t.err
}

// class reads the class of a pod and the models that it wants.
func (t *table) class(p *Pod) {
	p.QoS = assumedQoS
	if t.has("qos") {
		p.QoS = t.qos("qos")
	}
	if t.has("gpu_spec") && t.text("gpu_spec") != "" {
		p.Models = strings.Split(t.text("gpu_spec"), "|")
	}
}

// times reads when a pod comes and goes, the ith of the file.
func (t *table) times(p *Pod, i int) {
	p.Created = int64(i) * assumedEvery
	if t.has("creation_time") {
		p.Created = t.number("creation_time", MaxTime)
	}
	p.Deleted = p.Created + assumedLife
	if t.has("deletion_time") {
		p.Deleted = t.number("deletion_time", MaxTime)
	}
	switch {
	case p.Deleted >= p.Created:
	case !t.has("creation_time"): // made up, and too late for it
		p.Created = p.Deleted
	default:
		t.fail("deletion_time", errOrder)
	}
}
