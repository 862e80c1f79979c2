package main

// A Workload is what is replayed: nodes in node order, and pods by time of
// creation.
type Workload struct {
	Nodes []Node
	Pods  []Pod
}

// A Node is a machine. Its GPUs are alike.
type Node struct {
	Name   string
	CPU    int64 // thousandths
	Memory int64 // MiB
	GPUs   int64
	Model  string // of the GPUs, or ""
}

// A Pod is one task, and how long it is wanted.
type Pod struct {
	Name   string
	CPU    int64    // thousandths
	Memory int64    // MiB
	GPU    int64    // thousandths: whole GPUs, or a share of one
	Models []string // of GPUs that will do; nil: any
	QoS    QoS

	Created, Deleted int64 // seconds
}

// wholeGPU is a whole GPU in thousandths.
const wholeGPU = 1000
