// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"sync"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// The metrics of the plugin, which the scheduler serves among its own.
var (
	decisions = metrics.NewCounterVec(options("decisions_total",
		"Decisions for pods and gangs that fit nowhere, by outcome and by the reason of a refusal."), []string{"outcome", "reason"})
	victimsTotal = metrics.NewCounterVec(options("victims_total",
		"Pods that plans stopped, by their queue."), []string{"queue"})
	plans = metrics.NewCounterVec(options("plans_total",
		"Plans with victims, by what is proven of them: cost, levels or none."), []string{"proof"})
	violations = metrics.NewCounterVec(options("audit_violations_total",
		"Laws that plans broke, which were withheld for it. There should be none."), []string{"law"})
	predicateCalls = metrics.NewCounter(options("predicate_calls_total",
		"How often the Filter plugins were asked about a node without some pods."))
	evictionFailures = metrics.NewCounter(options("eviction_failures_total",
		"Victims that the API refused to stop."))
	notTaken = metrics.NewCounter(options("pods_not_mirrored_total",
		"Pods of the snapshot that the planner's cluster could not take."))
	grantsNow = metrics.NewGauge((*metrics.GaugeOpts)(options("grants",
		"Pods that were given a place and do not run yet.")))
	oldestGrant = metrics.NewGauge((*metrics.GaugeOpts)(options("oldest_grant_timestamp_seconds",
		"When the oldest of these was given; 0 if there are none.")))
	grantSeconds = metrics.NewHistogramVec(&metrics.HistogramOpts{Subsystem: subsystem, Name: "grant_duration_seconds",
		Help:           "How long grants lasted, by how they ended: started or dropped.",
		StabilityLevel: metrics.ALPHA, Buckets: metrics.ExponentialBuckets(0.1, 2, 14)}, []string{"end"})
	driftTotal = metrics.NewCounter(options("drift_total",
		"Pods and nodes that were not in the planner's cluster as the scheduler had them, found by comparing a node from time to time. There should be none."))
	hungrySeconds = metrics.NewCounterVec(options("queue_under_guarantee_seconds_total",
		"Time for which a queue was under its guarantee in a type that pods of it were waiting for."), []string{"queue", "type"})
	shortage = metrics.NewGaugeVec((*metrics.GaugeOpts)(options("queue_short",
		"How much a queue with a guarantee is short of it, in base units, when the last pod of it was refused or granted a place.")), []string{"queue", "type"})
	decideSeconds = metrics.NewHistogram(seconds("decide_duration_seconds",
		"Time that a decision took, the questions to Filter plugins included."))
	syncSeconds = metrics.NewHistogram(seconds("sync_duration_seconds",
		"Time that it took to follow the scheduler's snapshot."))
)

var registerOnce sync.Once

// registerMetrics makes the scheduler serve the metrics. A process has one registry.
func registerMetrics() {
	registerOnce.Do(func() {
		legacyregistry.MustRegister(allMetrics()...)
	})
}

// allMetrics returns what the scheduler serves for the plugin.
func allMetrics() []metrics.Registerable {
	return []metrics.Registerable{decisions, victimsTotal, plans, violations, predicateCalls, evictionFailures, notTaken,
		grantsNow, oldestGrant, grantSeconds, driftTotal, shortage, hungrySeconds, decideSeconds, syncSeconds, buildInfo}
}

const subsystem = "preempt_by_queue"

func options(name, help string) *metrics.CounterOpts {
	return &metrics.CounterOpts{Subsystem: subsystem, Name: name, Help: help, StabilityLevel: metrics.ALPHA}
}

func seconds(name, help string) *metrics.HistogramOpts {
	return &metrics.HistogramOpts{Subsystem: subsystem, Name: name, Help: help, StabilityLevel: metrics.ALPHA,
		Buckets: metrics.ExponentialBuckets(0.0001, 2, 16)}
}

// countDecision notes a decision for something of a leaf.
func (c *core) countDecision(o victims.Outcome, reason string, leaf queue.ID) {
	if o != victims.Refused {
		reason = ""
	}
	decisions.WithLabelValues(o.String(), reason).Inc()
	c.countShort(leaf)
}

// countPlan notes a plan.
func countPlan(o victims.Outcome, proof victims.Proof, of []victims.Victim) {
	if o == victims.Preempts {
		plans.WithLabelValues(proof.String()).Inc()
	}
	for i := range of {
		victimsTotal.WithLabelValues(of[i].Path).Inc()
	}
}

// countShort notes how much the queues above a leaf are short of.
func (c *core) countShort(leaf queue.ID) {
	var used, short resources.Vector
	for q := range c.queues().tree.Ancestors(leaf) {
		limit := c.queues().tree.Guaranteed(q)
		used = c.queues().tree.Effective(used, q)
		short = resources.Short(short, limit, used)
		for i := range limit.Defined.All() {
			shortage.WithLabelValues(c.queues().tree.Path(q), c.queues().tree.Schema().Name(i)).Set(float64(short.At(i)))
		}
	}
}
