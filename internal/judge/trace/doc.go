// SPDX-License-Identifier: Apache-2.0

// Package trace reads a production trace and gives it tenants. [Twin] is a workload
// that resembles the trace and needs no files.
//
// The files are those of the Alibaba GPU cluster trace of 2023 (public data set
// clusterdata, folder cluster-trace-gpu-v2023): CSV with a line of headings.
// [ReadPhilly] reads another trace, which has tenants, and jobs that run as a whole.
//
// # Resource types
//
// They are cpu, in thousandths of a core, memory, in bytes, and gpu-milli, in
// thousandths of a GPU. The GPUs of a node are one amount: that a share must
// come from a single device, and whole GPUs from idle ones, is left out.
//
// # Tenants
//
// A trace has no tenants, so they are assigned by rule:
//
//   - There is a tenant per class of service, named for it in lower case, in
//     the order of the constants of [QoS]: guaranteed, ls, burstable and be. Its
//     pods have the priority of the class: 300, 200, 100 and 0.
//   - Below it are leaves "0" to "3". A pod is in the one that the FNV-1a hash
//     (64 bits) of its name gives, modulo their number.
//   - The capacity of the cluster is guaranteed to the tenants in proportion to
//     the weights of their classes, 1, 7, 2 and 0, and what a tenant is
//     guaranteed in equal parts to its leaves. The parts sum exactly. Best
//     effort pods are guaranteed nothing, and nobody has a maximum.
//   - Every pod is an application of its own.
//
// So best effort pods run on what the others leave unused, and have to give it
// back, and so has a leaf that runs on what is guaranteed to another.
package trace
