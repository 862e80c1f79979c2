// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/go-preempt/preempt/examples/kubernetes/preemptqueues"
)

// TestObjects tells stories of queues that are objects. RBAC is on: the scheduler has the
// rights of config/second, and Ann those of a team in the namespace default.
func TestObjects(t *testing.T) {
	tellOfQueues(t, []tale{
		{"a team takes what its queue is guaranteed", teamPreempts},
		{"a team divides what its parent has, and no more", teamDivides},
		{"a queue that is wrong stays as it was", wrongObject},
		{"a queue that is deleted has pods", deletedObject},
		{"the example of a team", exampleObjects},
	})
}

// tellOfQueues tells stories in which queues may be objects. After each of them none is left.
func tellOfQueues(t *testing.T, tales []tale) {
	if testing.Short() {
		t.Skip("another API server")
	}
	w := newWorld(t, "RBAC")
	w.apply(t, "../config/second", "../config/only")
	w.bind(t, "preempt-queue-edit")
	for i, s := range tales {
		tales[i].tell = func(t *testing.T, w *world) {
			t.Cleanup(func() { w.removeQueues(t) })
			s.tell(t, w)
		}
	}
	w.tellAll(t, tales)
}

// ann is of a team, and may edit the queues of the namespace default.
func ann(w *world) *rest.Config { return as(w.config, "ann", "team", "system:authenticated") }

// bind gives Ann a role of config/base in the namespace default.
func (w *world) bind(t *testing.T, role string) {
	w.manifest(t, w.config, `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: queues, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: `+role+`}
subjects: [{kind: Group, apiGroup: rbac.authorization.k8s.io, name: team}]`)
}

// manifest creates an object, as somebody.
func (w *world) manifest(t *testing.T, as *rest.Config, text string) {
	require.NoError(t, w.create(t, as, text))
}

func (w *world) create(t *testing.T, as *rest.Config, text string) error {
	u := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &u.Object))
	gvr := u.GroupVersionKind().GroupVersion().WithResource(plurals[u.GetKind()])
	_, err := dynamic.NewForConfigOrDie(as).Resource(gvr).Namespace(u.GetNamespace()).Create(t.Context(), u, metav1.CreateOptions{FieldValidation: "Strict"})
	return err
}

// queueAs creates a PreemptQueue, or changes its spec, as somebody.
func (w *world) queueAs(t *testing.T, as *rest.Config, name, spec string) error {
	ns, name, _ := strings.Cut(name, "/")
	client := dynamic.NewForConfigOrDie(as).Resource(preemptqueues.Resource).Namespace(ns)
	text := fmt.Sprintf("{apiVersion: %s, kind: PreemptQueue, metadata: {namespace: %s, name: %s}, spec: %s}",
		preemptqueues.GroupVersion, ns, name, spec)
	for {
		err := w.create(t, as, text)
		if !apierrors.IsAlreadyExists(err) {
			return err
		}
		u, err := client.Get(t.Context(), name, metav1.GetOptions{})
		require.NoError(t, err)
		var changed map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(spec), &changed))
		u.Object["spec"] = changed
		if _, err = client.Update(t.Context(), u, metav1.UpdateOptions{FieldValidation: "Strict"}); !apierrors.IsConflict(err) {
			return err
		}
	}
}

// queueOf returns a PreemptQueue as the API has it.
func (w *world) queueOf(t *testing.T, name string) *preemptqueues.PreemptQueue {
	ns, name, _ := strings.Cut(name, "/")
	u, err := dynamic.NewForConfigOrDie(w.config).Resource(preemptqueues.Resource).Namespace(ns).Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	text, err := u.MarshalJSON()
	require.NoError(t, err)
	q := &preemptqueues.PreemptQueue{}
	require.NoError(t, json.Unmarshal(text, q))
	return q
}

// inForce waits until the scheduler has told what became of a PreemptQueue, which is as it
// says for the reason AsSpecified, and returns it.
func (w *world) inForce(t *testing.T, name, reason string) (q *preemptqueues.PreemptQueue) {
	t.Helper()
	eventually(t, name+": "+reason, func() bool {
		q = w.queueOf(t, name)
		c := meta.FindStatusCondition(q.Status.Conditions, preemptqueues.ConditionInForce)
		return c != nil && c.ObservedGeneration == q.Generation && c.Reason == reason && (c.Status == metav1.ConditionTrue) == (reason == preemptqueues.ReasonAsSpecified)
	})
	require.Equal(t, q.Generation, q.Status.ObservedGeneration)
	return q
}

// why returns the message of a condition.
func why(q *preemptqueues.PreemptQueue, condition string) string {
	if c := meta.FindStatusCondition(q.Status.Conditions, condition); c != nil {
		return c.Message
	}
	return ""
}

// removeQueues deletes all PreemptQueues.
func (w *world) removeQueues(t *testing.T) {
	client := dynamic.NewForConfigOrDie(w.config).Resource(preemptqueues.Resource)
	all, err := client.List(context.Background(), metav1.ListOptions{})
	require.NoError(t, err)
	for _, u := range all.Items {
		w.report(client.Namespace(u.GetNamespace()).Delete(context.Background(), u.GetName(), metav1.DeleteOptions{}))
	}
}

// objectArgs have the queues system and batch, and objects below and beside them.
func objectArgs() args {
	return args{"defaultQueue": "system", "queuesNamespace": "preempt-system", "resources": []string{"cpu", "memory"},
		"root": args{"queues": []any{args{"name": "system"}, args{"name": "batch"}}}}
}

// withObjects runs the scheduler with its rights, and returns the address of its pages.
func (w *world) withObjects(t *testing.T) (address string, stop func()) {
	a, address := withDebug(t, objectArgs())
	return address, w.scheduleSecond(t, a)
}

const prodQueue = "{namespaces: [default], guaranteed: {cpu: 4}}"

// teamPreempts: the administrator promises production 4 cores, Ann divides them, and her
// pods take them back. The status of her queue tells her place.
func teamPreempts(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "6"))
	w.run(t, fill("n1", "etl", "batch", "mid", "1", 6)...)
	require.NoError(t, w.queueAs(t, w.config, "preempt-system/prod", prodQueue))
	address, _ := w.withObjects(t)
	require.NoError(t, w.queueAs(t, ann(w), "default/web", "{parent: prod, guaranteed: {cpu: 3}}"))
	w.inForce(t, "default/web", preemptqueues.ReasonAsSpecified)
	w.run(t, pod("web-0", "prod.web", "mid", "3"))
	w.add(t, pod("web-1", "prod.web", "mid", "2"))
	eventually(t, "web-1 is refused", func() bool { return strings.Contains(refusal(w.get(t, "web-1")), "is refused (") })
	require.Equal(t, 3, w.evictedOf("batch"))

	var q *preemptqueues.PreemptQueue
	eventually(t, "the status tells her place", func() bool {
		q = w.queueOf(t, "default/web")
		return q.Status.Share == "100%" && q.Status.Waiting == 1
	})
	require.Equal(t, "prod.web", q.Status.Queue)
	require.Equal(t, map[string]string{"cpu": "3"}, q.Status.Guaranteed)
	require.Equal(t, "3", q.Status.Used["cpu"])
	require.Contains(t, why(q, preemptqueues.ConditionWaiting), "default/web-1: ")
	require.Contains(t, why(q, preemptqueues.ConditionWaiting), "is refused (")
	eventually(t, "that of the administrator, too", func() bool {
		prod := w.queueOf(t, "preempt-system/prod")
		return prod.Status.Used["cpu"] == "3" && prod.Status.Share == "75%" && prod.Status.Waiting == 1
	})
	require.Equal(t, []any{"web", "prod.web", `{"cpu":"3"}`, `{"cpu":"3","memory":"128Mi"}`, "100%", int64(1), "True"}, w.table(t, ann(w))[0][:7])
	w.delete(t, "web-1")
	eventually(t, "nobody waits", func() bool { return w.queueOf(t, "default/web").Status.Waiting == 0 })
	w.delete(t, "web-0") // nothing is scheduled any more, and the status follows
	eventually(t, "nothing is used", func() bool { return w.queueOf(t, "default/web").Status.Share == "0%" })
	w.books(t, address)
}

// table returns what kubectl get preemptqueues says to somebody: the cells of each row.
func (w *world) table(t *testing.T, as *rest.Config) (rows [][]any) {
	client := kubernetes.NewForConfigOrDie(as).CoreV1().RESTClient()
	text, err := client.Get().AbsPath("/apis/go-preempt.github.io/v1alpha1/namespaces/default/preemptqueues").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
	require.NoError(t, err)
	var table metav1.Table
	require.NoError(t, json.Unmarshal(text, &table))
	for _, row := range table.Rows {
		for i, cell := range row.Cells {
			if n, ok := cell.(float64); ok {
				row.Cells[i] = int64(n)
			}
		}
		rows = append(rows, row.Cells)
	}
	require.NotEmpty(t, rows)
	return rows
}

// teamDivides: a team gets no more than its parent has, and cannot reach for more by RBAC or
// otherwise.
func teamDivides(t *testing.T, w *world) {
	require.NoError(t, w.queueAs(t, w.config, "preempt-system/prod", prodQueue))
	w.withObjects(t)
	require.NoError(t, w.queueAs(t, ann(w), "default/web", "{parent: prod, guaranteed: {cpu: 3}}"))
	w.inForce(t, "default/web", preemptqueues.ReasonAsSpecified)
	require.NoError(t, w.queueAs(t, ann(w), "default/api", "{parent: prod, guaranteed: {cpu: 2, memory: 1Gi}}"))
	api := w.inForce(t, "default/api", preemptqueues.ReasonExceedsParent)
	require.Equal(t, "The parent has no more: guaranteed cpu: 1 of 2, guaranteed memory: 0 of 1Gi", why(api, preemptqueues.ConditionInForce))
	require.Equal(t, map[string]string{"cpu": "1"}, api.Status.Guaranteed)

	require.NoError(t, w.queueAs(t, w.config, "preempt-system/prod", "{namespaces: [default], guaranteed: {cpu: 2}}"))
	eventually(t, "the administrator takes half", func() bool {
		return w.queueOf(t, "default/web").Status.Guaranteed["cpu"] == "2" && w.queueOf(t, "default/api").Status.Guaranteed["cpu"] == ""
	})
	for _, spec := range []string{"{guaranteed: {cpu: 100}}", "{parent: system}", "{parent: prod, properties: {preemption.policy: disabled}}"} {
		require.NoError(t, w.queueAs(t, ann(w), "default/api", spec))
		w.inForce(t, "default/api", preemptqueues.ReasonRefused)
	}
	require.Equal(t, "2", w.queueOf(t, "default/web").Status.Guaranteed["cpu"])

	forbidden := func(err error) { require.True(t, apierrors.IsForbidden(err), "%v", err) }
	forbidden(w.queueAs(t, ann(w), "preempt-system/dev", "{}"))
	theirs := dynamic.NewForConfigOrDie(ann(w)).Resource(preemptqueues.Resource)
	_, err := theirs.Namespace("preempt-system").Get(t.Context(), "prod", metav1.GetOptions{})
	forbidden(err)
	u, err := theirs.Namespace("default").Get(t.Context(), "web", metav1.GetOptions{})
	require.NoError(t, err)
	_, err = theirs.Namespace("default").UpdateStatus(t.Context(), u, metav1.UpdateOptions{})
	forbidden(err)
	for _, spec := range []string{"{min: {}}", "{guaranteed: {cpu: many}}", "{guaranteed: {cpu: -1}}", "{max: {cpu: 0.5}}",
		"{properties: {preemption.policy: off}}", "{properties: {preemption.delay: soon}}"} {
		err := w.queueAs(t, ann(w), "default/bad", spec)
		require.True(t, apierrors.IsInvalid(err) || apierrors.IsBadRequest(err), "%s: %v", spec, err)
	}
	require.True(t, apierrors.IsInvalid(w.queueAs(t, ann(w), "default/a.b", "{parent: prod}")))
}

// wrongObject: an object that is wrong is as it was, also for the next scheduler. An event
// says so, and others change meanwhile.
func wrongObject(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "4"))
	w.run(t, fill("n1", "etl", "batch", "mid", "1", 4)...)
	require.NoError(t, w.queueAs(t, w.config, "preempt-system/prod", prodQueue))
	require.NoError(t, w.queueAs(t, ann(w), "default/web", "{parent: prod, guaranteed: {cpu: 2}}"))
	_, stop := w.withObjects(t)
	w.inForce(t, "default/web", preemptqueues.ReasonAsSpecified)
	w.run(t, pod("web-0", "prod.web", "mid", "1"))
	require.NoError(t, w.queueAs(t, ann(w), "default/web", "{parent: nowhere, guaranteed: {cpu: 4}}"))
	web := w.inForce(t, "default/web", preemptqueues.ReasonRefused)
	require.Equal(t, `parent: there is no queue "nowhere". The queue stays as it was`, why(web, preemptqueues.ConditionInForce))
	require.Equal(t, "prod.web", web.Status.Queue)
	eventually(t, "an event says so", func() bool { return w.event(t, "QueueRefused", "nowhere") })
	require.NoError(t, w.queueAs(t, ann(w), "default/api", "{parent: prod, guaranteed: {cpu: 2}}"))
	w.inForce(t, "default/api", preemptqueues.ReasonAsSpecified)
	stop()
	address, _ := w.withObjects(t)
	w.run(t, pod("web-1", "prod.web", "mid", "1"), pod("api-0", "prod.api", "mid", "2"))
	w.settle(t)
	require.Equal(t, 4, w.evictedOf("batch"))
	web = w.inForce(t, "default/web", preemptqueues.ReasonRefused)
	require.Equal(t, map[string]string{"cpu": "2"}, web.Status.Guaranteed)
	w.books(t, address)
}

// deletedObject: a queue whose object is deleted stays until its pods have gone, and
// protects them no longer.
func deletedObject(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "4"))
	require.NoError(t, w.queueAs(t, w.config, "preempt-system/prod", prodQueue))
	require.NoError(t, w.queueAs(t, w.config, "preempt-system/dev", "{namespaces: [default], guaranteed: {cpu: 4}}"))
	require.NoError(t, w.queueAs(t, ann(w), "default/web", "{parent: prod, guaranteed: {cpu: 4}}"))
	require.NoError(t, w.queueAs(t, ann(w), "default/test", "{parent: dev, guaranteed: {cpu: 4}}"))
	address, _ := w.withObjects(t)
	w.inForce(t, "default/web", preemptqueues.ReasonAsSpecified)
	w.run(t, pod("web-0", "prod.web", "mid", "2"), pod("web-1", "prod.web", "mid", "2"))
	w.add(t, pod("test-0", "dev.test", "mid", "2"))
	w.settle(t)
	require.Empty(t, w.gonePods())
	for _, name := range []string{"default/web", "preempt-system/prod"} {
		ns, name, _ := strings.Cut(name, "/")
		require.NoError(t, dynamic.NewForConfigOrDie(w.config).Resource(preemptqueues.Resource).Namespace(ns).Delete(t.Context(), name, metav1.DeleteOptions{}))
	}
	eventually(t, "dev runs", func() bool { return w.running("dev.test") == 1 })
	w.settle(t)
	require.Equal(t, 1, w.evictedOf("prod.web"))
	tree, _ := page(t, address, "tree")
	require.Regexp(t, `(?m)^ +web +used cpu=2 memory=128Mi$`, tree)
	for i := range 2 {
		if name := fmt.Sprint("web-", i); w.has(name) {
			w.delete(t, name)
		}
	}
	tried := 0
	eventually(t, "the queue is gone", func() bool { // from a pod that is tried after that was seen
		tried++
		next := fmt.Sprint("next-", tried)
		w.run(t, pod(next, "system", "low", "1m"))
		w.delete(t, next) // or they fill the node before the queue is gone
		tree, _ := page(t, address, "tree")
		return !strings.Contains(tree, "web")
	})
	w.books(t, address)
}

// exampleObjects: the files of config/teams are right.
func exampleObjects(t *testing.T, w *world) {
	w.withObjects(t)
	w.apply(t, "../config/teams")
	web := w.inForce(t, "web/web", preemptqueues.ReasonAsSpecified)
	require.Equal(t, "prod.web", web.Status.Queue)
	w.inForce(t, "preempt-system/prod", preemptqueues.ReasonAsSpecified)
	developer := dynamic.NewForConfigOrDie(as(w.config, "bob", "web-developers", "system:authenticated")).Resource(preemptqueues.Resource)
	require.NoError(t, developer.Namespace("web").Delete(t.Context(), "web", metav1.DeleteOptions{}))
}
