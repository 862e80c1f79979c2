// SPDX-License-Identifier: Apache-2.0

package preemptqueues

import (
	"encoding/json"
	"math"
	"math/bits"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/go-preempt/preempt/resources"
)

// Kind is that of a PreemptQueue.
const Kind = "PreemptQueue"

// The resource of PreemptQueues, and its version.
var (
	GroupVersion = schema.GroupVersion{Group: "go-preempt.github.io", Version: "v1alpha1"}
	Resource     = GroupVersion.WithResource("preemptqueues")
)

// A PreemptQueue is a queue as an object. Its name is that of the queue.
type PreemptQueue struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   Spec   `json:"spec"`
	Status Status `json:"status,omitzero"`
}

// A Spec says what a queue should be.
type Spec struct {
	// Parent is the path of the queue above, below the root: "prod", or "prod.web". Empty
	// means the root.
	Parent string `json:"parent,omitempty"`
	// Namespaces may have queues below this one, beside its own. "*" means all.
	Namespaces []string          `json:"namespaces,omitempty"`
	Guaranteed map[string]Amount `json:"guaranteed,omitempty"`
	Max        map[string]Amount `json:"max,omitempty"`
	Properties map[string]string `json:"properties,omitempty"`
}

// A Status says what a queue is.
type Status struct {
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Queue is its path below the root, as pods name it. Empty: the object is no queue.
	Queue string `json:"queue,omitempty"`
	// InForce is the spec that holds: the last one that was right.
	InForce *Spec `json:"inForce,omitempty"`
	// Guaranteed and Max are those of InForce, within what the parent has.
	Guaranteed map[string]string `json:"guaranteed,omitempty"`
	Max        map[string]string `json:"max,omitempty"`
	// Used is what the pods use that have a node, those of queues below included.
	Used map[string]string `json:"used,omitempty"`
	// Share is used ÷ guaranteed, in the type in which it is largest: "75%".
	Share string `json:"share,omitempty"`
	// Waiting is how many pods were refused a place.
	Waiting    int64              `json:"waiting"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// The conditions of a PreemptQueue.
const (
	// ConditionInForce: the queue is as the spec says. The message tells why not.
	ConditionInForce = "InForce"
	// ConditionWaiting: pods wait. The message tells why the first of them does.
	ConditionWaiting = "Waiting"
)

// The reasons of [ConditionInForce].
const (
	ReasonAsSpecified   = "AsSpecified"
	ReasonRefused       = "Refused"       // the spec is wrong
	ReasonExceedsParent = "ExceedsParent" // a bound is cut to what the parent has
)

// An Amount is a quantity, such as "500m" or "10Gi". A number needs no quotes.
type Amount string

// UnmarshalJSON reads a string or a number.
func (a *Amount) UnmarshalJSON(raw []byte) error {
	var n json.Number
	if json.Unmarshal(raw, &n) == nil && n != "" {
		*a = Amount(n)
		return nil
	}
	return json.Unmarshal(raw, (*string)(a))
}

// DeepCopyObject makes a PreemptQueue an object. Maps that nobody changes are shared.
func (q *PreemptQueue) DeepCopyObject() runtime.Object {
	c := *q
	q.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	c.Status.Conditions = slices.Clone(q.Status.Conditions)
	return &c
}

// QuantitiesOf returns the amounts of a limit by types, as objects have them.
func QuantitiesOf(s *resources.Schema, l resources.Limit) map[string]string {
	all := map[string]string{}
	for i := range s.Len() {
		if amount, ok := l.Bound(i); ok {
			all[s.Name(i)] = resources.FormatQuantity(s.Name(i), amount)
		}
	}
	return all
}

// ShareOf returns used ÷ guaranteed in the type in which it is largest, in whole percent,
// or "" if nothing is guaranteed.
func ShareOf(used resources.Vector, guaranteed resources.Limit) string {
	largest, any := uint64(0), false
	for i := range guaranteed.Defined.All() {
		if g, _ := guaranteed.Bound(i); g > 0 {
			percent := uint64(math.MaxUint64)
			if high, low := bits.Mul64(uint64(max(0, used.At(i))), 100); high < uint64(g) {
				percent, _ = bits.Div64(high, low, uint64(g))
			}
			largest, any = max(largest, percent), true
		}
	}
	if !any {
		return ""
	}
	return strconv.FormatUint(largest, 10) + "%"
}
