package workload

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// ErrTrace is what a record of a trace that makes no sense is an error of.
var ErrTrace = errors.New("not a record of a trace")

// readNodes reads the nodes of a trace.
func readNodes(file string) ([]victims.Node, error) {
	records, err := readFile(file, "sn", "cpu_milli", "memory_mib", "gpu")
	if err != nil {
		return nil, err
	}
	var nodes []victims.Node
	for i, r := range records {
		n, err := numbers(r[1:])
		if err != nil {
			return nil, fmt.Errorf("%s: node %d, %q: %w", file, i+1, r[0], err)
		}
		nodes = append(nodes, victims.Node{Name: r[0], Capacity: resources.Vector{n[0], n[1] << 20, n[2] * wholeGPU}})
	}
	return nodes, nil
}

// readPods reads the pods of a trace.
func readPods(file string) ([]pod, error) {
	records, err := readFile(file, "name", "qos", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "creation_time")
	if err != nil {
		return nil, err
	}
	var pods []pod
	for i, r := range records {
		n, err := numbers(r[2:])
		tenant := tenantOf(r[1])
		if err == nil && tenant < 0 {
			err = fmt.Errorf("class of service %q: %w", r[1], ErrTrace)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: pod %d, %q: %w", file, i+1, r[0], err)
		}
		pods = append(pods, pod{r[0], resources.Vector{n[0], n[1] << 20, n[2] * n[3]}, tenant, n[4]})
	}
	return pods, nil
}

// tenantOf returns the tenant of a class of service, -1 for none.
func tenantOf(qos string) int {
	for i, t := range tenants {
		if t.name == qos {
			return i
		}
	}
	return -1
}

// numbers reads whole numbers of up to 31 bits, more than a trace has any use for.
func numbers(texts []string) (list []int64, err error) {
	for _, text := range texts {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, ErrTrace)
		}
		list = append(list, int64(n))
	}
	return list, nil
}

// readFile returns the fields of some columns, in their order, of all records.
func readFile(file string, columns ...string) (fields [][]string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil || len(records) == 0 {
		return nil, fmt.Errorf("%s: no records: %w", file, errors.Join(err, ErrTrace))
	}
	var at []int
	for _, name := range columns {
		i := slices.Index(records[0], name)
		if i < 0 {
			return nil, fmt.Errorf("%s: no column %q: %w", file, name, ErrTrace)
		}
		at = append(at, i)
	}
	for _, r := range records[1:] {
		row := make([]string, len(at))
		for k, i := range at {
			row[k] = r[i]
		}
		fields = append(fields, row)
	}
	return fields, nil
}
