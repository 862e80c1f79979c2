// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/scenario"
)

// What YuniKorn calls the root of a partition, and a partition without a name.
const (
	rootName         = "root"
	defaultPartition = "default"
)

// Why parts of a partition have no place in a document.
var partitionReasons = map[string]string{
	"limits":            "there are no limits for users and groups",
	"nodesortpolicy":    "the cost of a plan decides between nodes",
	"placementrules":    "tasks name their queues",
	"statedumpfilepath": "it does not concern preemption",
	"usergroupresolver": "there are no users and groups",
}

// scheduler reads the configuration of the scheduler, and migrates one of its
// partitions.
func (m *migration) scheduler(v scenario.Value, partition string) {
	o := m.object(v, true)
	list := o.take("partitions")
	if list.Absent() {
		m.fail(v, "%w: partitions", scenario.ErrMissing)
	}
	items, err := list.Items()
	m.failed(err)
	o.rest(map[string]string{"checksum": "it is that of another text"})

	var names []string
	var parts []*object
	seen := make(map[string]bool)
	for _, item := range items {
		o := m.object(item, true)
		name, err := o.take("name").Text()
		m.failed(err)
		if name == "" {
			name = defaultPartition
		}
		if seen[strings.ToLower(name)] {
			m.fail(item, "%w: a partition named %q is there already", scenario.ErrDuplicate, name)
		}
		seen[strings.ToLower(name)] = true
		names, parts = append(names, name), append(parts, o)
	}
	if m.err != nil {
		return
	}
	chosen, err := choose(names, partition)
	if err != nil {
		m.fail(list, "%w", err)
		return
	}
	for i, o := range parts {
		if i == chosen {
			m.doc.Name = names[i]
			m.partition(o)
		} else {
			m.leaveOut(o.v, "another partition was taken, "+plain.Name(names[chosen]))
		}
	}
}

// choose returns the partition of a name or, if that is empty, the only one
// or the default one.
func choose(names []string, partition string) (int, error) {
	if partition == "" && len(names) == 1 {
		return 0, nil
	}
	want := partition
	if want == "" {
		want = defaultPartition
	}
	for i, name := range names {
		if strings.EqualFold(name, want) {
			return i, nil
		}
	}
	switch {
	case len(names) == 0:
		return 0, fmt.Errorf("%w: no partition", scenario.ErrValue)
	case partition == "":
		return 0, fmt.Errorf("%w: several partitions, choose with -partition: %s", scenario.ErrValue, plain.Names(names))
	}
	return 0, fmt.Errorf("%w: no partition %s, but %s", scenario.ErrValue, plain.Name(partition), plain.Names(names))
}

// partition migrates the queues of a partition.
func (m *migration) partition(o *object) {
	p := m.object(o.take("preemption"), true)
	enabled := p.take("enabled")
	if !m.isTrue(enabled) && !enabled.Absent() {
		m.leaveOut(enabled, "a document has no such switch, and preemption is on")
	}
	enforces := m.isTrue(p.take("quotapreemptionenabled"))
	p.rest(nil)

	list := o.take("queues")
	queues, err := list.Items()
	m.failed(err)
	if list.Absent() {
		m.fail(o.v, "%w: queues", scenario.ErrMissing)
	}
	o.rest(partitionReasons)
	m.doc.Queues = treeReader{m, enforces}.root(list, queues)
}
