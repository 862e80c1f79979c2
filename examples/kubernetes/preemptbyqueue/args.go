// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/go-preempt/preempt/examples/kubernetes/preemptqueues"
)

// Args are the arguments of the plugin, as a KubeSchedulerConfiguration has them
// in pluginConfig. All profiles that use the plugin must give the same.
type Args struct {
	// QueueLabel is the label of pods and of namespaces that names a queue. Its
	// value is the path of a leaf below the root: "prod", or "prod.web".
	QueueLabel string `json:"queueLabel"`
	// QueueFrom says whose label counts. With Pod, the default, it is that of the
	// pod, or else that of its namespace. With Namespace only the namespace's
	// counts: use it if those who create pods are not trusted.
	QueueFrom string `json:"queueFrom"`
	// DefaultQueue is the path, below the root, of the leaf for pods that name no
	// leaf. Empty means the root, which then must have no queues.
	DefaultQueue string `json:"defaultQueue"`

	// Resources are the types that queues and plans go by. Other types are left
	// to the Filter plugins.
	Resources []string `json:"resources"`
	// StrictPriority lets a pod take pods of lower priority only. Otherwise it may
	// take equals of other queues, too.
	StrictPriority bool `json:"strictPriority"`
	// OwnLeaf says whether pods of the same queue and of lower priority may make
	// room, if their queue does not say: never, met (the default) or branch.
	OwnLeaf string `json:"ownLeaf"`
	// Scarce says in which types guarantees count: all (the default), auto or a list.
	// With auto they are found from what runs and what waits.
	Scarce Scarce `json:"scarce"`
	// DisruptionBudgets says what PodDisruptionBudgets are: Soft, which is the
	// default, Hard or Ignore. A soft one is overrun only if no plan does without.
	DisruptionBudgets string `json:"disruptionBudgets"`
	// GrantDeadline is how long a pod may take to stop beyond its own grace period.
	// After that it counts as running for good.
	GrantDeadline metav1.Duration `json:"grantDeadline"`
	// NodePatience is how long a pod keeps its place on a node that was cordoned or
	// tainted. Another place costs evictions, and a cordon may be taken back.
	NodePatience metav1.Duration `json:"nodePatience"`
	// Budget bounds the searches of a decision, in elementary steps; 0 means the
	// default of the planner.
	Budget int64 `json:"budget"`
	// Moves lets pods with AnnotationMovable stop on one node to start again on another one,
	// if that makes room. Without queues nobody moves.
	Moves bool `json:"moves"`
	// DryRun decides, logs and counts, and evicts nobody.
	DryRun bool `json:"dryRun"`
	// DebugAddress is where to serve /debug/preempt/, such as 127.0.0.1:10270.
	// Empty means nowhere.
	DebugAddress string `json:"debugAddress"`

	// QueuesConfigMap is the namespace/name of a ConfigMap that has a tree of queues
	// in place of Root, as YAML under the key queues.yaml. A change of it holds at
	// once. Root holds as long as there is none. Empty means none.
	QueuesConfigMap string `json:"queuesConfigMap"`
	// QueuesNamespace is the namespace of the administrator's PreemptQueues: see package
	// preemptqueues. These, and those of other namespaces that they take, are below Root,
	// beside the queues that it has. Empty means that no objects are read.
	QueuesNamespace string `json:"queuesNamespace"`
	// Root is the tree of queues. Its name may be left out.
	Root Queue `json:"root"`
}

// A Queue is a queue of the tree, with those below it.
type Queue struct {
	Name       string            `json:"name"`
	Guaranteed map[string]Amount `json:"guaranteed"`
	Max        map[string]Amount `json:"max"`
	Properties map[string]string `json:"properties"`
	Queues     []Queue           `json:"queues"`
}

// An Amount is a quantity, such as "500m" or "10Gi". A number needs no quotes.
type Amount = preemptqueues.Amount

const rootName = "root"

// The values of QueueFrom and DisruptionBudgets.
const (
	FromPod       = "Pod"
	FromNamespace = "Namespace"

	BudgetsSoft   = "Soft"
	BudgetsHard   = "Hard"
	BudgetsIgnore = "Ignore"
)

// defaults are the arguments of a plugin without any.
func defaults() *Args {
	return &Args{
		QueueLabel:        "go-preempt.github.io/queue",
		QueueFrom:         FromPod,
		Resources:         []string{"cpu", "memory", "pods"},
		OwnLeaf:           "met",
		Scarce:            Scarce{ScarceAll},
		DisruptionBudgets: BudgetsSoft,
		GrantDeadline:     metav1.Duration{Duration: 5 * time.Minute},
		NodePatience:      metav1.Duration{Duration: time.Second},
		Root:              Queue{Name: rootName},
	}
}

// decode reads arguments over the defaults. Fields that do not exist, or are there
// twice, are errors; all of them are told at once.
func decode(obj runtime.Object) (*Args, error) {
	args := defaults()
	if obj == nil {
		return args, nil
	}
	unknown, ok := obj.(*runtime.Unknown)
	if !ok {
		return nil, fmt.Errorf("%s: arguments are a %T, not a *runtime.Unknown", Name, obj)
	}
	raw := unknown.Raw
	if len(raw) == 0 {
		return args, nil
	}
	if unknown.ContentType == runtime.ContentTypeYAML {
		var err error
		if raw, err = yaml.YAMLToJSONStrict(raw); err != nil {
			return nil, fmt.Errorf("%s: arguments: %w", Name, err)
		}
	}
	if err := strictly(raw, args); err != nil {
		return nil, fmt.Errorf("%s: arguments: %w", Name, err)
	}
	if args.Root.Name == "" {
		args.Root.Name = rootName
	}
	return args, nil
}

// strictly reads JSON, and tells of all fields that do not exist or are there twice.
func strictly(raw []byte, into any) error {
	strict, err := kjson.UnmarshalStrict(raw, into)
	return errors.Join(append(strict, err)...)
}
