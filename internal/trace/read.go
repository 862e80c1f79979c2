package trace

import (
	"cmp"
	"errors"
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

// Read reads the two files of a trace. Pods of the same second stay as they are
// in the file. Errors name file, line, column and value; where a file is not
// there, the error is fs.ErrNotExist.
func Read(nodes, pods string) (*Workload, error) {
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
// second stay as they are in the file. Columns that nobody has a use for are
// passed over. Errors are as those of readNodes.
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
			Created: t.number("creation_time", MaxTime),
			Deleted: t.number("deletion_time", MaxTime),
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
	slices.SortStableFunc(pods, func(a, b Pod) int { return cmp.Compare(a.Created, b.Created) })
	return pods, t.err
}
