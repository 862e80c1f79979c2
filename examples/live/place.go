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

func (w *work) newPlaces(running, pending []*pod) (*places, error) {
	p := &places{work: w, classes: map[string]*class{}, ports: map[string][]string{}, free: make([]bool, len(w.nodes))}
	for _, pod := range pending {
		if err := p.classify(pod); err != nil {
			return nil, err
		}
		p.tell(pod)
	}
	for _, pods := range [][]*pod{running, pending} {
		for _, pod := range pods {
			p.hold(pod, w.hostPorts(pod)...)
		}
	}
	return p, p.keepApart(running, pending)
}

// hold gives a pod ports. A document has each once.
func (p *places) hold(pod *pod, ports ...string) {
	all := append(p.ports[pod.key], ports...)
	slices.Sort(all)
	if all = slices.Compact(all); len(all) > 0 {
		p.ports[pod.key] = all
	}
}

// reasons returns what decides where a pod may run, as text.
func reasons(pod *pod) string {
	var affinity *v1.NodeAffinity
	if pod.affinity != nil {
		affinity = pod.affinity.NodeAffinity
	}
	text, err := json.Marshal([]any{pod.spec().NodeSelector, affinity, pod.spec().Tolerations})
	if err != nil {
		panic(err) // they were read from JSON
	}
	return string(text)
}

// classify decides where a pod may run.
func (p *places) classify(pod *pod) error {
	why := reasons(pod)
	if p.classes[why] != nil {
		return nil
	}
	c := &class{selector: pod.spec().NodeSelector, nodes: make([]bool, len(p.cluster.nodes))}
	p.classes[why] = c
	required := nodeaffinity.GetRequiredNodeAffinity(&v1.Pod{Spec: v1.PodSpec{NodeSelector: pod.spec().NodeSelector, Affinity: pod.affinity}})
	all, simple := true, true // whether all nodes do, and whether the selector says it
	for i, n := range p.cluster.nodes {
		ok, err := required.Match(n)
		if err != nil {
			return pod.wrong("spec.affinity.nodeAffinity", err)
		}
		_, tainted := corev1.FindMatchingUntoleratedTaint(klog.Background(), taints(n), pod.spec().Tolerations, func(t *v1.Taint) bool {
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
func (p *places) selector(pod *pod) map[string]string { return p.classes[reasons(pod)].selector }

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
func (p *places) tell(pod *pod) {
	out := func(what string) { p.notes.add(pod.key, "left out: "+what) }
	if a := pod.affinity; a != nil {
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
	for _, s := range pod.spec().TopologySpreadConstraints {
		if s.WhenUnsatisfiable == v1.DoNotSchedule {
			out("a required topology spread; it may need another node")
		}
	}
	for i := range pod.spec().Volumes {
		if v := &pod.spec().Volumes[i]; v.PersistentVolumeClaim != nil || v.Ephemeral != nil {
			out("persistent volumes; they may need another node")
			break
		}
	}
	if len(pod.spec().ResourceClaims) > 0 {
		out("resource claims")
	}
}

// An aversion keeps pods that it selects off the node of its own.
type aversion struct {
	selector labels.Selector
	in       func(namespace string) bool
}

// averse reports whether some aversion is to a pod.
func averse(all []aversion, to *pod) bool {
	return slices.ContainsFunc(all, func(a aversion) bool { return a.in(to.namespace) && a.selector.Matches(to.labels) })
}

// keepApart says required anti-affinity to a node as ports: a port of its own is held by
// whoever keeps a pending pod off a node. Pods that run are kept apart from those that
// wait, and those that wait from their like.
func (p *places) keepApart(running, pending []*pod) error {
	if len(pending) == 0 {
		return nil
	}
	aversions := map[*pod][]aversion{}
	var shy []*pod // those that run and keep others off
	for i, pods := range [][]*pod{running, pending} {
		for _, a := range pods {
			all, err := p.aversions(a)
			if err != nil {
				return err
			}
			if len(all) == 0 {
				continue
			}
			if aversions[a] = all; i == 0 {
				shy = append(shy, a)
			}
		}
	}
	for _, a := range pending {
		own, others := aversions[a], shy
		if len(own) > 0 {
			others = running
		}
		for _, r := range others {
			if averse(own, r) || averse(aversions[r], a) {
				p.hold(r, "apart/"+a.key)
				p.hold(a, "apart/"+a.key)
			}
		}
		if len(own) == 0 {
			continue
		}
		for _, b := range pending { // each pair once more, which holds the same port
			if b != a && averse(own, b) {
				p.hold(a, pair(a, b))
				p.hold(b, pair(a, b))
			}
		}
	}
	return nil
}

// pair names what two pods cannot share.
func pair(a, b *pod) string { return "apart/" + min(a.key, b.key) + "/" + max(a.key, b.key) }

// aversions returns what required anti-affinity keeps off the node of a pod.
func (p *places) aversions(a *pod) (all []aversion, err error) {
	if a.affinity == nil || a.affinity.PodAntiAffinity == nil {
		return nil, nil
	}
	for i, term := range a.affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		field := "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[" + strconv.Itoa(i) + "]"
		if term.TopologyKey != v1.LabelHostname {
			p.notes.add(a.key, "left out: required anti-affinity wider than a node; it may need another node")
			continue
		}
		s, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
		if err != nil {
			return nil, a.wrong(field+".labelSelector", err)
		}
		in, err := p.namespacesOf(a, &term)
		if err != nil {
			return nil, a.wrong(field+".namespaceSelector", err)
		}
		if len(term.MatchLabelKeys)+len(term.MismatchLabelKeys) > 0 {
			p.notes.add(a.key, "left out: label keys of an anti-affinity; its selector holds without them")
		}
		all = append(all, aversion{s, in})
	}
	return all, nil
}

// namespacesOf returns whether a namespace is one that an anti-affinity is about.
func (p *places) namespacesOf(a *pod, term *v1.PodAffinityTerm) (func(string) bool, error) {
	if term.NamespaceSelector == nil {
		if len(term.Namespaces) == 0 {
			return func(ns string) bool { return ns == a.namespace }, nil
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
