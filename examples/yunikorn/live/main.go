// SPDX-License-Identifier: Apache-2.0

//go:build preempt

// Live runs YuniKorn's core under load, and prints what came of it as JSON. Two
// tenants have a prod and a batch leaf each. Batch fills the cluster: what is stopped
// there is asked for again. Waves of prod and a daemon set take their guarantees
// back, and near the end the max of a tenant is lowered.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/apache/yunikorn-core/pkg/entrypoint"
	"github.com/apache/yunikorn-core/pkg/log"
	"github.com/apache/yunikorn-core/pkg/scheduler/objects"
	"github.com/apache/yunikorn-scheduler-interface/lib/go/si"
)

var (
	nodes    = flag.Int("nodes", 60, "nodes of 16 cores")
	seconds  = flag.Int("seconds", 60, "how long, after the cluster has filled up")
	seed     = flag.Int64("seed", 1, "of the load")
	attempts = flag.Duration("attempts", 2*time.Second, "between two attempts for an ask")
	checks   = flag.Int64("checks", 0, "go on until the mirror has been checked so often")
)

const (
	grace      = 400 * time.Millisecond // from being told to stop to being gone
	quotaDelay = 2 * time.Second
	core       = 1000 // of vcore
)

// What each leaf is guaranteed, in sixteenths of the cluster. A tenant is guaranteed
// one half.
var guaranteed = map[string]int64{"root.a.prod": 5, "root.a.batch": 2, "root.b.prod": 5, "root.b.batch": 2}

// loweredMax is the max of tenant b after it was lowered, in sixteenths.
const loweredMax = 8

// A wave is so many sixteenths of the cluster, in pods of prod, at a time that is a
// percentage of the run.
type wave struct {
	at, part int64
	leaf     string
}

var waves = []wave{{3, 5, "root.a.prod"}, {20, 5, "root.b.prod"}, {40, 6, "root.a.prod"}, {43, 6, "root.b.prod"}, {65, 4, "root.b.prod"}}

const (
	daemonsAt = 30 // a daemon set on every fourth node
	lowerAt   = 80 // the max of tenant b is lowered
	changes   = 7  // of these there are so many in a round: nobody has to be stopped more often
)

// A Result is what came of a run. Times are in seconds.
type Result struct {
	Engine    string
	Seed      int64
	Asked     int     // pods of prod
	Started   int     // of those
	Missed    float64 // pod-seconds: pods that waited although their leaf's guarantee had room for them
	Victims   int
	Quota     int     // victims of the quota, among them
	Lost      float64 // core-seconds of work of the victims
	Often     int     // how often the replica was stopped that was stopped most often
	Storms    int     // replicas stopped more often than anything changed
	OverQuota float64 // core-seconds that tenant b was over its max, from the end of the delay
	Decisions int64
	Plans     int64
	Deciding  float64
	Errors    int64
	Checks    int64
	Counts    map[string]int
}

func main() {
	flag.Parse()
	// The logger that the core makes itself ends the program where the one of a cluster
	// writes a line: if a max is lowered while something is being placed.
	log.InitializeLogger(zap.NewNop(), &zap.Config{Level: zap.NewAtomicLevel()})
	objects.SetEngineFrequency(*attempts)
	services := entrypoint.StartAllServicesWithParams(false, false)
	m := newManager(services.RMProxy, *seed)
	if err := m.start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	m.fill()
	m.run()
	m.Lock()
	defer m.Unlock()
	s, r := &objects.EngineStats, &m.result
	r.Engine, r.Seed = "library", *seed
	if objects.EngineNative {
		r.Engine = "YuniKorn"
	}
	for _, slot := range m.slots {
		r.Often = max(r.Often, slot.stopped)
		if slot.stopped > changes*m.rounds {
			r.Storms++
		}
	}
	r.Decisions, r.Plans, r.Errors, r.Checks = s.Decisions.Load(), s.Plans.Load(), s.Errors.Load(), s.Checks.Load()
	r.Deciding, r.Counts = time.Duration(s.Nanoseconds.Load()).Seconds(), s.Counts()
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0) // what runs in the core has no end
}

// config writes the queues. Tenant b has a max, in sixteenths of the cluster: YuniKorn
// enforces only one that was lowered, and not the first one.
func config(capacity, most int64) string {
	var b strings.Builder
	b.WriteString("partitions:\n- name: default\n  preemption:\n    enabled: true\n    quotapreemptionenabled: true\n  queues:\n  - name: root\n    submitacl: \"*\"\n    queues:\n")
	for _, tenant := range []string{"a", "b"} {
		fmt.Fprintf(&b, "    - name: %s\n      properties: {preemption.delay: 1s, preemption.quota.delay: %v}\n      resources:\n        guaranteed: {vcore: %dm}\n", tenant, quotaDelay, capacity/2)
		if tenant == "b" {
			fmt.Fprintf(&b, "        max: {vcore: %dm}\n", capacity*most/16)
		}
		b.WriteString("      queues:\n")
		for _, leaf := range []string{"prod", "batch"} {
			fmt.Fprintf(&b, "      - name: %s\n        resources:\n          guaranteed: {vcore: %dm}\n", leaf, capacity*guaranteed["root."+tenant+"."+leaf]/16)
		}
	}
	return b.String()
}

// fill asks for more batch than there is room for, and waits until most runs.
func (m *manager) fill() {
	m.batch("root.a.batch", m.capacity*4/16)
	m.batch("root.b.batch", m.capacity*14/16)
	for range 200 {
		time.Sleep(50 * time.Millisecond)
		if m.running() >= m.capacity*95/100 {
			return
		}
	}
}

// run lives through the waves, looking at the cluster every 50 ms.
func (m *manager) run() {
	m.Lock()
	m.result.Victims, m.result.Lost = 0, 0
	m.Unlock()
	length := time.Duration(*seconds) * time.Second
	for m.rounds == 0 || objects.EngineStats.Checks.Load() < *checks {
		m.rounds++
		begin := time.Now()
		left, daemons, lower := slices.Clone(waves), true, *checks == 0
		for last := begin; time.Since(begin) < length; {
			time.Sleep(50 * time.Millisecond)
			now := time.Now()
			done := int64(100 * now.Sub(begin) / length)
			for len(left) > 0 && done >= left[0].at {
				m.prod(left[0].leaf, m.capacity*left[0].part/16)
				left = left[1:]
			}
			if daemons && done >= daemonsAt {
				daemons = false
				m.daemons()
			}
			if lower && done >= lowerAt {
				lower = false
				m.lowered = now
				m.must(m.proxy.UpdateConfiguration(&si.UpdateConfigurationRequest{RmID: rmID, Config: config(m.capacity, loweredMax)}))
			}
			m.look(now.Sub(last))
			last = now
		}
	}
}

func (m *manager) batch(leaf string, cores int64) {
	var all []*slot
	for sum := int64(0); sum < cores; {
		c := []int64{1, 2, 2, 4}[m.random.Intn(4)] * core
		all = append(all, &slot{leaf: leaf, app: m.app(leaf), cores: c, memory: c * (1 + m.random.Int63n(4)) << 20,
			priority: int32(m.random.Intn(3)), life: time.Duration(100+m.random.Intn(60)) * time.Second, again: true})
		sum += c
	}
	m.launch(all...)
}

func (m *manager) prod(leaf string, cores int64) {
	var all []*slot
	for sum := int64(0); sum < cores; {
		c := []int64{2, 4, 4, 8}[m.random.Intn(4)] * core
		all = append(all, &slot{leaf: leaf, app: m.app(leaf), cores: c, memory: c * 3 << 20, priority: 5,
			life: time.Duration(*seconds)*time.Second/5 + time.Duration(m.random.Intn(10))*time.Second})
		sum += c
	}
	m.launch(all...)
}

func (m *manager) daemons() {
	var all []*slot
	for i := 0; i < *nodes; i += 4 {
		all = append(all, &slot{leaf: "root.a.prod", app: "root.a.prod-0", cores: core / 2, memory: 1 << 28, priority: 900,
			node: nodeName(i), life: 10 * time.Second})
	}
	m.launch(all...)
}

// look counts what is missed at this moment.
func (m *manager) look(passed time.Duration) {
	m.Lock()
	defer m.Unlock()
	use, waiting := make(map[string]int64), make(map[string][]*pod)
	var b int64
	for _, p := range m.pods {
		if p.started.IsZero() {
			waiting[p.leaf] = append(waiting[p.leaf], p)
		} else if use[p.leaf] += p.cores; strings.HasPrefix(p.leaf, "root.b.") {
			b += p.cores
		}
	}
	for leaf, part := range guaranteed {
		room := m.capacity*part/16 - use[leaf]
		slices.SortFunc(waiting[leaf], func(a, b *pod) int { return strings.Compare(a.key, b.key) })
		for _, p := range waiting[leaf] {
			if p.cores <= room {
				room -= p.cores
				m.result.Missed += passed.Seconds()
			}
		}
	}
	if !m.lowered.IsZero() && time.Since(m.lowered) > quotaDelay {
		m.result.OverQuota += float64(max(b-m.capacity*loweredMax/16, 0)) / core * passed.Seconds()
	}
}
