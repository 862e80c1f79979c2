// SPDX-License-Identifier: Apache-2.0

//go:build preempt

package main

import (
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"time"

	"github.com/apache/yunikorn-core/pkg/common"
	"github.com/apache/yunikorn-core/pkg/mock"
	"github.com/apache/yunikorn-scheduler-interface/lib/go/api"
	siCommon "github.com/apache/yunikorn-scheduler-interface/lib/go/common"
	"github.com/apache/yunikorn-scheduler-interface/lib/go/si"
)

const rmID = "rm:live"

// A manager is the resource manager: nodes, controllers and kubelets in one. Every
// predicate says yes.
type manager struct {
	mock.ResourceManagerCallback
	sync.Mutex
	proxy     api.SchedulerAPI
	partition string
	capacity  int64
	random    *rand.Rand
	slots     []*slot
	pods      map[string]*pod
	made      int
	rounds    int
	lowered   time.Time
	result    Result
}

// A slot is a replica of a controller. If its pod is stopped another one is made.
type slot struct {
	leaf, app     string
	cores, memory int64
	priority      int32
	life          time.Duration // 0: until it is stopped
	again         bool          // also if it has ended by itself
	node          string        // the only one that it may run on
	stopped       int
}

type pod struct {
	*slot
	key     string
	started time.Time
	leaving bool
}

func newManager(proxy api.SchedulerAPI, seed int64) *manager {
	return &manager{
		proxy: proxy, partition: common.GetNormalizedPartitionName("default", rmID), capacity: int64(*nodes) * 16 * core,
		random: rand.New(rand.NewSource(seed)), pods: make(map[string]*pod),
	}
}

func nodeName(i int) string { return fmt.Sprintf("n-%04d", i) }

// app returns one of the five applications of a leaf.
func (m *manager) app(leaf string) string { return fmt.Sprint(leaf, "-", m.random.Intn(5)) }

// start registers queues, nodes and applications. Each of these has a small pod that
// nobody may stop, for an application without pods ends.
func (m *manager) start() error {
	if _, err := m.proxy.RegisterResourceManager(&si.RegisterResourceManagerRequest{
		RmID: rmID, PolicyGroup: "queues", Version: "0", BuildInfo: map[string]string{"version": "0"}, Config: config(m.capacity, 16),
	}, m); err != nil {
		return err
	}
	var infos []*si.NodeInfo
	for i := range *nodes {
		infos = append(infos, &si.NodeInfo{NodeID: nodeName(i), Action: si.NodeInfo_CREATE, Attributes: map[string]string{},
			SchedulableResource: resource(16*core, 64<<30)})
	}
	if err := m.proxy.UpdateNode(&si.NodeRequest{RmID: rmID, Nodes: infos}); err != nil {
		return err
	}
	var apps []*si.AddApplicationRequest
	var anchors []*slot
	for _, leaf := range []string{"root.a.prod", "root.a.batch", "root.b.prod", "root.b.batch"} {
		for i := range 5 {
			id := fmt.Sprint(leaf, "-", i)
			apps = append(apps, &si.AddApplicationRequest{ApplicationID: id, QueueName: leaf, PartitionName: m.partition,
				Ugi: &si.UserGroupInformation{User: "u"}})
			anchors = append(anchors, &slot{leaf: leaf, app: id, cores: 10, memory: 1 << 20, priority: 1000})
		}
	}
	if err := m.proxy.UpdateApplication(&si.ApplicationRequest{RmID: rmID, New: apps}); err != nil {
		return err
	}
	time.Sleep(time.Second) // applications are taken in by another goroutine
	m.launch(anchors...)
	return nil
}

func resource(vcore, memory int64) *si.Resource {
	return &si.Resource{Resources: map[string]*si.Quantity{"vcore": {Value: vcore}, "memory": {Value: memory}}}
}

// launch makes a pod for each slot.
func (m *manager) launch(all ...*slot) {
	m.Lock()
	var pods []*pod
	for _, s := range all {
		m.slots = append(m.slots, s)
		if strings.HasSuffix(s.leaf, ".prod") && s.priority < 900 {
			m.result.Asked++
		}
		pods = append(pods, m.makePod(s))
	}
	m.Unlock()
	m.ask(pods...)
}

func (m *manager) makePod(s *slot) *pod {
	m.made++
	p := &pod{slot: s, key: fmt.Sprintf("p-%07d", m.made)}
	m.pods[p.key] = p
	return p
}

func (m *manager) ask(pods ...*pod) {
	var all []*si.Allocation
	for _, p := range pods {
		tags := make(map[string]string)
		if p.node != "" {
			tags[siCommon.DomainYuniKorn+siCommon.KeyRequiredNode] = p.node
		}
		all = append(all, &si.Allocation{
			AllocationKey: p.key, ApplicationID: p.app, PartitionName: m.partition, Priority: p.priority, AllocationTags: tags,
			ResourcePerAlloc: resource(p.cores, p.memory),
			PreemptionPolicy: &si.PreemptionPolicy{AllowPreemptSelf: p.priority < 1000, AllowPreemptOther: true},
		})
	}
	m.must(m.proxy.UpdateAllocation(&si.AllocationRequest{RmID: rmID, Allocations: all}))
}

// UpdateAllocation is told what was started, and who should stop.
func (m *manager) UpdateAllocation(resp *si.AllocationResponse) error {
	now := time.Now()
	m.Lock()
	defer m.Unlock()
	for _, a := range resp.New {
		p := m.pods[a.AllocationKey]
		if p == nil || !p.started.IsZero() {
			continue
		}
		p.started = now
		if strings.HasSuffix(p.leaf, ".prod") && p.priority < 900 {
			m.result.Started++
		}
		if p.life > 0 {
			time.AfterFunc(p.life, func() { m.end(p, false) })
		}
	}
	for _, r := range resp.Released {
		p := m.pods[r.AllocationKey]
		if p == nil || r.TerminationType != si.TerminationType_PREEMPTED_BY_SCHEDULER || p.leaving {
			continue
		}
		p.leaving = true
		m.result.Victims++
		if strings.Contains(r.Message, "quota") {
			m.result.Quota++
		}
		time.AfterFunc(grace, func() { m.end(p, true) })
	}
	return nil
}

// end takes a pod away, and has its controller make another one.
func (m *manager) end(p *pod, stopped bool) {
	m.Lock()
	if m.pods[p.key] != p || !stopped && p.leaving {
		m.Unlock()
		return
	}
	delete(m.pods, p.key)
	if stopped {
		p.stopped++
		if !p.started.IsZero() {
			m.result.Lost += time.Since(p.started).Seconds() * float64(p.cores) / core
		}
	}
	var next []*pod
	if stopped || p.again {
		next = append(next, m.makePod(p.slot))
	}
	m.Unlock()
	m.must(m.proxy.UpdateAllocation(&si.AllocationRequest{RmID: rmID, Releases: &si.AllocationReleasesRequest{
		AllocationsToRelease: []*si.AllocationRelease{{
			PartitionName: m.partition, ApplicationID: p.app, AllocationKey: p.key, TerminationType: si.TerminationType_STOPPED_BY_RM,
		}},
	}}))
	m.ask(next...)
}

// running returns what runs, in thousandths of cores.
func (m *manager) running() (sum int64) {
	m.Lock()
	defer m.Unlock()
	for _, p := range m.pods {
		if !p.started.IsZero() {
			sum += p.cores
		}
	}
	return sum
}

func (m *manager) must(err error) {
	if err != nil {
		panic(err)
	}
}

// The rest of what the core tells a resource manager.
func (m *manager) UpdateApplication(*si.ApplicationResponse) error { return nil }
func (m *manager) UpdateNode(*si.NodeResponse) error               { return nil }
func (m *manager) Predicates(*si.PredicatesArgs) error             { return nil }
func (m *manager) PreemptionPredicates(a *si.PreemptionPredicatesArgs) *si.PreemptionPredicatesResponse {
	return &si.PreemptionPredicatesResponse{Success: true, Index: max(a.StartIndex, 0)}
}
func (m *manager) SendEvent([]*si.EventRecord) {}
func (m *manager) UpdateContainerSchedulingState(*si.UpdateContainerSchedulingStateRequest) {
}
