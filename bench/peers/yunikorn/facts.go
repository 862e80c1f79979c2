// SPDX-License-Identifier: Apache-2.0

package yunikorn

import (
	"maps"
	"strconv"

	"github.com/go-preempt/preempt/internal/judge/exam"
)

// Facts reads back what YuniKorn's objects say. Names of queues have the
// document's case.
func (w *world) Facts() exam.Facts {
	f := make(exam.Facts)
	paths := make(map[string]string) // of the document, by YuniKorn's
	for path, q := range w.queues {
		paths[q.QueuePath] = path
		info := q.GetPartitionQueueDAOInfo(false)
		if q != w.top || info.GuaranteedResource != nil { // YuniKorn's own root has the size of the cluster
			f.Bounds(exam.QueueGuaranteed, path, info.GuaranteedResource)
		}
		if path != w.doc.Root.Name || w.doc.Root.Max.Defined != 0 {
			f.Bounds(exam.QueueMax, path, info.MaxResource)
		}
		f.Amounts(exam.QueueUsage, path, info.AllocatedResource)
		f.Amounts(exam.QueueLeaving, path, info.PreemptingResource)
	}
	for _, n := range w.nodes {
		f.Amounts(exam.NodeCapacity, n.NodeID, n.GetCapacity().DAOMap())
		f.Amounts(exam.NodeFree, n.NodeID, n.GetAvailableResource().DAOMap())
		f.Flag(exam.NodeOpen, n.NodeID, n.IsSchedulable())
		for _, a := range n.GetYunikornAllocations() {
			f[exam.Fact{What: exam.TaskNode, Of: a.GetAllocationKey()}] = n.NodeID
		}
	}
	for name, app := range w.apps {
		for _, a := range app.GetAllAllocations() {
			key := a.GetAllocationKey()
			f.Amounts(exam.TaskSize, key, maps.Clone(a.GetAllocatedResource().DAOMap()))
			f[exam.Fact{What: exam.TaskPriority, Of: key}] = strconv.Itoa(int(a.GetPriority()))
			f[exam.Fact{What: exam.TaskQueue, Of: key}] = paths[w.mapping.GetQueueByAppId(name).QueuePath]
			f[exam.Fact{What: exam.TaskApplication, Of: key}] = app.ApplicationID
			f.Flag(exam.TaskOptedOut, key, !a.IsAllowPreemptSelf())
			f.Flag(exam.TaskOriginator, key, a.IsOriginator())
			f.Flag(exam.TaskRequired, key, a.GetRequiredNode() != "")
			f.Flag(exam.TaskLeaving, key, a.IsPreempted())
		}
	}
	return f
}
