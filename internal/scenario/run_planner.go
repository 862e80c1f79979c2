package scenario

import (
	"slices"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// setPlanner sets the options of a planner for the asks of the document.
func (r *runner) setPlanner(p *victims.Planner) {
	p.Cluster, p.StrictPriority = r.cluster, r.doc.Options.StrictPriority
	p.Minimum, p.OwnLeaf = nil, ownLeafOf[r.doc.Options.OwnLeaf]
	if len(r.doc.JobMinimums) > 0 {
		p.Minimum = r.doc.jobMinimum // without any there are no gangs to look for
	}
	if r.doc.Options.Toleration {
		p.Exempt = r.exempt
	}
}

// aim tells a planner where an ask may run, and who blocks a node for it.
func (r *runner) aim(p *victims.Planner, a *Ask) {
	p.Filter, p.Blockers = nil, nil
	if len(a.NodeSelector) > 0 {
		p.Filter = func(_ *victims.Ask, n victims.NodeID) bool { return r.selects(a.NodeSelector, n) }
	}
	if len(a.Ports) > 0 {
		p.Blockers = func(dst []victims.TaskID, _ *victims.Ask, n victims.NodeID) []victims.TaskID {
			return r.blockers(dst, a.Ports, n)
		}
	}
}

// The words of a document as package victims has them.
var ownLeafOf = map[string]victims.OwnLeaf{"": victims.OwnNever, "met": victims.OwnMet, "any": victims.OwnAny}

var jobTriggerOf = map[string]jobs.Trigger{"": jobs.ByGuarantee, "guarantee": jobs.ByGuarantee, "priority": jobs.ByPriority}

// selects reports whether a selector admits a node.
func (r *runner) selects(s Selector, n victims.NodeID) bool {
	return s.Selects(r.nodes[n])
}

// blockers appends to dst the tasks on a node that hold one of the ports.
func (r *runner) blockers(dst []victims.TaskID, ports []string, n victims.NodeID) []victims.TaskID {
	for id := range r.cluster.TasksOn(n) {
		if slices.ContainsFunc(r.ports[r.cluster.Key(id)], func(p string) bool { return slices.Contains(ports, p) }) {
			dst = append(dst, id)
		}
	}
	return dst
}
