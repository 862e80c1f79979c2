// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strconv"
	"strings"

	"github.com/go-preempt/preempt/internal/judge/exam"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	kres "sigs.k8s.io/kueue/pkg/resources"
)

// Facts reads back what Kueue's snapshot says.
func (w *world) Facts() exam.Facts {
	f := make(exam.Facts)
	usage := make(map[string]map[string]int64) // of queues, by type
	for path, name := range w.leaves {
		cq := w.snapshot.ClusterQueue(queueRef(name))
		for i := range w.doc.Schema.Len() {
			typ := w.doc.Schema.Name(i)
			used := cq.ResourceNode.Usage[resourceOf(typ)].Int64()
			for at := path; ; at = at[:strings.LastIndexByte(at, '.')] {
				if usage[at] == nil {
					usage[at] = make(map[string]int64)
				}
				usage[at][typ] += used
				if !strings.Contains(at, ".") {
					break
				}
			}
		}
		for _, info := range cq.Workloads {
			key := info.Obj.Annotations[keyAnnotation]
			size := make(map[string]int64)
			quota := info.Usage().Quota
			for i := range w.doc.Schema.Len() {
				typ := w.doc.Schema.Name(i)
				size[typ] = quota[resourceOf(typ)].Int64()
			}
			f.Amounts(exam.TaskSize, key, size)
			f[exam.Fact{What: exam.TaskPriority, Of: key}] = strconv.Itoa(int(*info.Obj.Spec.Priority))
			f[exam.Fact{What: exam.TaskQueue, Of: key}] = path
		}
	}
	for path, used := range usage {
		f.Amounts(exam.QueueUsage, path, used)
	}
	w.bounds(f, &w.doc.Root, w.doc.Root.Name)
	return f
}

// bounds notes the bounds of a queue and of those below: what Kueue says of the
// types on which the document has a bound, and of others only what it should
// not say.
func (w *world) bounds(f exam.Facts, q *scenario.Queue, path string) {
	for i := range q.Children {
		w.bounds(f, &q.Children[i], path+"."+q.Children[i].Name)
	}
	var quotas map[kres.FlavorResource]schdcache.ResourceQuota
	whole := make(map[string]int64)
	if name, leaf := w.leaves[path]; leaf {
		node := w.snapshot.ClusterQueue(queueRef(name)).ResourceNode
		quotas = node.Quotas
		for i := range w.doc.Schema.Len() {
			typ := w.doc.Schema.Name(i)
			whole[typ] = quotas[resourceOf(typ)].Nominal.Int64()
		}
	} else {
		node := w.snapshot.Cohort(kueue.CohortReference(nameOf(path))).ResourceNode
		quotas = node.Quotas
		for i := range w.doc.Schema.Len() {
			typ := w.doc.Schema.Name(i)
			whole[typ] = node.SubtreeQuota[resourceOf(typ)].Int64()
		}
	}
	if path == w.doc.Root.Name {
		f.Amounts(exam.NodeCapacity, w.doc.Nodes[0].Name, whole)
		return
	}
	guaranteed, most := make(map[string]int64), make(map[string]int64)
	for t := range w.doc.Schema.Len() {
		typ := w.doc.Schema.Name(t)
		if q.Guaranteed.Defined.Has(t) || len(q.Children) == 0 && whole[typ] != 0 {
			guaranteed[typ] = whole[typ]
		}
		if limit := quotas[resourceOf(typ)].BorrowingLimit; limit != nil {
			most[typ] = whole[typ] + limit.Int64()
		}
	}
	f.Bounds(exam.QueueGuaranteed, path, guaranteed)
	f.Bounds(exam.QueueMax, path, most)
}
