// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// places say which pods may run on which nodes. A document selects nodes by labels
// alone. So affinities, taints and cordons are decided here, node by node, and what
// comes of them is a label that the nodes get.
type places struct {
	*work
	classes map[string]*class
	order   []*class
	ports   map[string][]string // of pods, by key
	free    []bool              // of nodes that are cordoned: somebody may run there all the same
}

// A class is pods that may run on the same nodes for the same reasons.
type class struct {
	label    string // what the nodes get; empty: none
	selector map[string]string
	nodes    []bool
}

func (w *work) newPlaces(running, pending []*v1.Pod) (*places, error) {
	p := &places{work: w, classes: map[string]*class{}, ports: map[string][]string{}, free: make([]bool, len(w.nodes))}
	for _, pod := range pending {
		if err := p.classify(pod); err != nil {
			return nil, err
		}
		p.tell(pod)
	}
	for _, pods := range [][]*v1.Pod{running, pending} {
		for _, pod := range pods {
			p.hold(pod, w.hostPorts(pod)...)
		}
	}
	return p, p.keepApart(running, pending)
}

// hold gives a pod ports. A document has each once.
func (p *places) hold(pod *v1.Pod, ports ...string) {
	all := append(p.ports[key(pod)], ports...)
	slices.Sort(all)
	if all = slices.Compact(all); len(all) > 0 {
		p.ports[key(pod)] = all
	}
}

// reasons returns what decides where a pod may run, as text.
func reasons(pod *v1.Pod) string {
	var affinity *v1.NodeAffinity
	if pod.Spec.Affinity != nil {
		affinity = pod.Spec.Affinity.NodeAffinity
	}
	text, err := json.Marshal([]any{pod.Spec.NodeSelector, affinity, pod.Spec.Tolerations})
	if err != nil {
		panic(err) // they were read from JSON
	}
	return string(text)
}

// classify decides where a pod may run.
func (p *places) classify(pod *v1.Pod) error {
	why := reasons(pod)
	if p.classes[why] != nil {
		return nil
	}
	c := &class{selector: pod.Spec.NodeSelector, nodes: make([]bool, len(p.cluster.nodes))}
	p.classes[why] = c
	required := nodeaffinity.GetRequiredNodeAffinity(pod)
	all, simple := true, true // whether all nodes do, and whether the selector says it
	for i, n := range p.cluster.nodes {
		ok, err := required.Match(n)
		if err != nil {
			return p.from[pod].wrong("spec.affinity.nodeAffinity", err)
		}
		_, tainted := corev1.FindMatchingUntoleratedTaint(klog.Background(), taints(n), pod.Spec.Tolerations, func(t *v1.Taint) bool {
			return t.Effect != v1.TaintEffectPreferNoSchedule
		}, false)
		c.nodes[i] = ok && !tainted
		p.free[i] = p.free[i] || c.nodes[i]
		all = all && c.nodes[i]
		simple = simple && c.nodes[i] == labels.SelectorFromSet(c.selector).Matches(labels.Set(n.Labels))
	}
	if all || simple {
		return nil
	}
	p.order = append(p.order, c)
	c.label = "placement-" + strconv.Itoa(len(p.order))
	c.selector = map[string]string{c.label: "yes"}
	return nil
}

// taints returns the taints of a node, and that of its cordon.
func taints(n *v1.Node) []v1.Taint {
	all := n.Spec.Taints
	if n.Spec.Unschedulable {
		all = append(slices.Clone(all), v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule})
	}
	return all
}

// selector returns the labels that a node must have for a pod.
func (p *places) selector(pod *v1.Pod) map[string]string { return p.classes[reasons(pod)].selector }

// node returns a node of the document.
func (p *places) node(i int, n *v1.Node, types []string) nodeText {
	t := nodeText{Name: n.Name, Capacity: capacity(n, types), Labels: maps.Clone(n.Labels), Unschedulable: n.Spec.Unschedulable && !p.free[i]}
	for _, c := range p.order {
		if c.nodes[i] {
			if t.Labels == nil {
				t.Labels = map[string]string{}
			}
			t.Labels[c.label] = "yes"
		}
	}
	for _, l := range p.options.topology {
		d := n.Labels[l]
		if d == "" {
			break
		}
		t.Domains = append(t.Domains, d)
	}
	return t
}

// tell notes what a document cannot say of where a pod may run.
func (p *places) tell(pod *v1.Pod) {
	out := func(what string) { p.notes.add(key(pod), "left out: "+what) }
	if a := pod.Spec.Affinity; a != nil {
		if a.NodeAffinity != nil && len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0 {
			out("preferred node affinity, which forbids nothing")
		}
		if a.PodAffinity != nil && len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
			out("required pod affinity; it may need another node")
		}
		if a.PodAffinity != nil && len(a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0 ||
			a.PodAntiAffinity != nil && len(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0 {
			out("preferred affinity to pods, which forbids nothing")
		}
	}
	for _, s := range pod.Spec.TopologySpreadConstraints {
		if s.WhenUnsatisfiable == v1.DoNotSchedule {
			out("a required topology spread; it may need another node")
		}
	}
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; v.PersistentVolumeClaim != nil || v.Ephemeral != nil {
			out("persistent volumes; they may need another node")
			break
		}
	}
	if len(pod.Spec.ResourceClaims) > 0 {
		out("resource claims")
	}
}

// keepApart says required anti-affinity to a node as ports: a port of its own is held by
// whoever keeps a pending pod off a node. Pods that run are kept apart from those that
// wait, and those that wait from their like.
func (p *places) keepApart(running, pending []*v1.Pod) error {
	var averse []*v1.Pod // few are
	for _, r := range running {
		if r.Spec.Affinity != nil && r.Spec.Affinity.PodAntiAffinity != nil {
			averse = append(averse, r)
		}
	}
	for i, a := range pending {
		own, err := p.apart(a, pending, i)
		if err != nil {
			return err
		}
		others := averse
		if a.Spec.Affinity != nil && a.Spec.Affinity.PodAntiAffinity != nil {
			others = running
		}
		for _, r := range others {
			theirs, err := p.apart(r, []*v1.Pod{a}, -1)
			if err != nil {
				return err
			}
			ours, err := p.apart(a, []*v1.Pod{r}, -1)
			if err != nil {
				return err
			}
			if len(ours)+len(theirs) > 0 {
				p.hold(r, "apart/"+key(a))
				p.hold(a, "apart/"+key(a))
			}
		}
		for _, b := range own { // each pair once more, which holds the same port
			p.hold(a, pair(a, b))
			p.hold(b, pair(a, b))
		}
	}
	return nil
}

// pair names what two pods cannot share.
func pair(a, b *v1.Pod) string { return "apart/" + min(key(a), key(b)) + "/" + max(key(a), key(b)) }

// apart returns the pods, but for that of an index, that required anti-affinity keeps off
// the node of a pod.
func (p *places) apart(a *v1.Pod, others []*v1.Pod, but int) (all []*v1.Pod, err error) {
	if a.Spec.Affinity == nil || a.Spec.Affinity.PodAntiAffinity == nil {
		return nil, nil
	}
	for i, term := range a.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		field := "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[" + strconv.Itoa(i) + "]"
		if term.TopologyKey != v1.LabelHostname {
			p.notes.add(key(a), "left out: required anti-affinity wider than a node; it may need another node")
			continue
		}
		s, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
		if err != nil {
			return nil, p.from[a].wrong(field+".labelSelector", err)
		}
		in, err := p.namespacesOf(a, &term)
		if err != nil {
			return nil, p.from[a].wrong(field+".namespaceSelector", err)
		}
		if len(term.MatchLabelKeys)+len(term.MismatchLabelKeys) > 0 {
			p.notes.add(key(a), "left out: label keys of an anti-affinity; its selector holds without them")
		}
		for j, b := range others {
			if j != but && in(b.Namespace) && s.Matches(labels.Set(b.Labels)) {
				all = append(all, b)
			}
		}
	}
	return all, nil
}

// namespacesOf returns whether a namespace is one that an anti-affinity is about.
func (p *places) namespacesOf(a *v1.Pod, term *v1.PodAffinityTerm) (func(string) bool, error) {
	if term.NamespaceSelector == nil {
		if len(term.Namespaces) == 0 {
			return func(ns string) bool { return ns == a.Namespace }, nil
		}
		return func(ns string) bool { return slices.Contains(term.Namespaces, ns) }, nil
	}
	s, err := metav1.LabelSelectorAsSelector(term.NamespaceSelector)
	if err != nil {
		return nil, err
	}
	if !s.Empty() && len(p.namespaces) == 0 {
		return nil, errors.New("it needs the namespaces, which were not read")
	}
	return func(ns string) bool {
		if slices.Contains(term.Namespaces, ns) {
			return true
		}
		if o := p.namespaces[ns]; o != nil {
			return s.Matches(labels.Set(o.Labels))
		}
		return s.Empty()
	}, nil
}
