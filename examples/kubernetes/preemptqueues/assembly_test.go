// SPDX-License-Identifier: Apache-2.0

package preemptqueues

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// assembly has a queue for the system and one for those that name none.
func assembly(t require.TestingT) *Assembly {
	schema, err := resources.NewSchema("cpu", "gpu")
	require.NoError(t, err)
	root := queue.Config{Name: "root", Children: []queue.Config{{Name: "other"}, {Name: "system", Guaranteed: limit(t, schema, "cpu", "2")}}}
	return &Assembly{Schema: schema, Root: root, Namespace: "admin", Default: "other", Named: func(string) bool { return false }}
}

func limit(t require.TestingT, schema *resources.Schema, name, amount string) resources.Limit {
	l, err := schema.ParseLimit(name + "=" + amount)
	require.NoError(t, err)
	return l
}

// write writes verdicts into the status of their objects, as the scheduler does.
func (a *Assembly) write(verdicts []Verdict) {
	for _, v := range verdicts {
		s := &v.Object.Status
		s.InForce = nil
		if v.Spec != nil {
			spec := *v.Spec
			s.InForce = &spec
		}
		s.Queue, s.Guaranteed, s.Max = v.Queue, QuantitiesOf(a.Schema, v.Guaranteed), QuantitiesOf(a.Schema, v.Max)
	}
}

// objectsOf reads objects, a line for each: namespace/name and a spec as YAML. Each is older
// than those below it.
func objectsOf(t *testing.T, text string) (list []*PreemptQueue) {
	for line := range strings.Lines(text) {
		name, spec, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		o := &PreemptQueue{}
		o.Namespace, o.Name, _ = strings.Cut(name, "/")
		o.CreationTimestamp = metav1.NewTime(time.Unix(int64(len(list)), 0))
		require.NoError(t, yaml.UnmarshalStrict([]byte(spec), &o.Spec))
		list = append(list, o)
	}
	return list
}

// told are verdicts, a line for each.
func told(verdicts []Verdict, schema *resources.Schema) string {
	var b strings.Builder
	for _, v := range verdicts {
		fmt.Fprintf(&b, "%s/%s: %q guaranteed %s, max %s, %s", v.Object.Namespace, v.Object.Name, v.Queue,
			schema.FormatLimit(v.Guaranteed), schema.FormatLimit(v.Max), v.Reason)
		if v.Message != "" {
			b.WriteString(": " + v.Message)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

const teams = `
	admin/prod {namespaces: [web, api], guaranteed: {cpu: 8}, max: {cpu: 16}}
	web/web {parent: prod, guaranteed: {cpu: 6}}
	api/api {parent: prod, guaranteed: {cpu: 6, gpu: 1}, max: {cpu: 20}}
	web/canary {parent: prod.web, guaranteed: {cpu: 500m}, properties: {quota.preemption.delay: 1m}}
`

// TestPut: teams divide what the administrator gives them.
func TestPut(t *testing.T) {
	a, objects := assembly(t), objectsOf(t, teams)
	root, verdicts := a.Put(objects)
	tree, err := queue.New(a.Schema, root)
	require.NoError(t, err)
	require.Equal(t, `root         used none
  other      used none
  system     used none guaranteed cpu=2
  prod       used none guaranteed cpu=8 max cpu=16
    api      used none guaranteed cpu=2 max cpu=16
    web      used none guaranteed cpu=6
      canary used none guaranteed cpu=0.5
`, tree.String())
	require.Equal(t, `admin/prod: "prod" guaranteed cpu=8, max cpu=16, AsSpecified
api/api: "prod.api" guaranteed cpu=2, max cpu=16, ExceedsParent: The parent has no more: guaranteed cpu: 2 of 6, max cpu: 16 of 20, guaranteed gpu: 0 of 1
web/canary: "prod.web.canary" guaranteed cpu=0.5, max none, AsSpecified
web/web: "prod.web" guaranteed cpu=6, max none, AsSpecified
`, told(verdicts, a.Schema))
}

// TestRefused: an object that is wrong is as it was, and one that never was is no queue.
func TestRefused(t *testing.T) {
	for name, of := range map[string]struct{ edit, says string }{
		"a type that nobody knows":     {"web/web {parent: prod, guaranteed: {disk: 1}}", `guaranteed: .*"disk"`},
		"no amount":                    {"web/web {parent: prod, guaranteed: {cpu: many}}", `"many"`},
		"negative":                     {"web/web {parent: prod, max: {cpu: -1}}", `-1`},
		"guaranteed above max":         {"web/web {parent: prod, guaranteed: {cpu: 2}, max: {cpu: 1}}", "guaranteed above max"},
		"no such parent":               {"web/web {parent: dev}", `parent: there is no queue "dev"`},
		"itself":                       {"web/web {parent: prod.web}", `parent: .*prod.web`},
		"below the root":               {"web/web {}", "only queues of namespace admin are below the root"},
		"a parent that does not":       {"web/web {parent: system}", "system takes no queues of namespace web"},
		"a policy":                     {"web/web {parent: prod, properties: {preemption.policy: disabled}}", "preemption.policy is for queues of namespace admin only"},
		"another one's":                {"api/web {parent: prod}", "web/web is the queue prod.web already"},
		"the arguments have it":        {"admin/system {}", "the queue system is in the arguments already"},
		"below the default":            {"admin/web {parent: other}", "other is for pods that name no queue"},
		"a parent with pods":           {"admin/new {parent: busy}", "busy has pods"},
		"a name that no label can say": {"web/" + strings.Repeat("x", 60) + " {parent: prod}", "pods cannot name the queue"},
		"a name with a dot":            {"admin/a.b {}", "a.b"},
	} {
		t.Run(name, func(t *testing.T) {
			a, objects := assembly(t), objectsOf(t, teams+"admin/busy {}\n")
			a.Named = func(path string) bool { return path == "busy" }
			before, verdicts := a.Put(objects)
			a.write(verdicts)
			edited, old := objectsOf(t, of.edit)[0], false
			for _, o := range objects {
				if o.Namespace == edited.Namespace && o.Name == edited.Name {
					o.Spec, old = edited.Spec, true
				}
			}
			if !old {
				edited.CreationTimestamp = metav1.NewTime(time.Unix(100, 0))
				objects = append(objects, edited)
			}
			after, verdicts := a.Put(objects)
			require.Equal(t, before, after)
			for _, v := range verdicts {
				if v.Object.Namespace == edited.Namespace && v.Object.Name == edited.Name {
					require.Equal(t, ReasonRefused, v.Reason)
					require.Regexp(t, of.says, v.Message)
					require.Equal(t, old, v.Queue != "")
					require.Equal(t, old, strings.HasSuffix(v.Message, "stays as it was"), v.Message)
				}
			}
		})
	}
}

// TestKeepUsed: a queue that goes stays as long as pods name it, and promises nothing.
func TestKeepUsed(t *testing.T) {
	a, objects := assembly(t), objectsOf(t, teams)
	root, _ := a.Put(objects)
	var err error
	a.Before, err = queue.New(a.Schema, root)
	require.NoError(t, err)
	named := true
	a.Named = func(path string) bool { return named && (path == "prod.web.canary" || path == "prod.nothing") }
	root, _ = a.Put(objects[:1]) // prod
	kept, err := queue.New(a.Schema, root)
	require.NoError(t, err)
	q, ok := kept.Lookup("root.prod.web.canary")
	require.True(t, ok)
	require.Zero(t, kept.Guaranteed(q).Defined)
	require.Equal(t, 6, kept.Len(), kept.String())
	named = false
	root, _ = a.Put(objects[:1])
	gone, err := queue.New(a.Schema, root)
	require.NoError(t, err)
	require.Equal(t, 4, gone.Len(), gone.String())
}

// TestLowered: an administrator who lowers a guarantee is not held up by teams. The newest
// gives first, and gets it back first come.
func TestLowered(t *testing.T) {
	a, objects := assembly(t), objectsOf(t, teams)
	_, verdicts := a.Put(objects)
	a.write(verdicts)
	objects[0].Spec.Guaranteed = map[string]Amount{"cpu": "7"}
	_, verdicts = a.Put(objects)
	a.write(verdicts)
	require.Equal(t, map[string]string{"cpu": "1"}, objects[2].Status.Guaranteed)
	objects[1].Spec.Guaranteed = map[string]Amount{"cpu": "1"} // web gives some up
	objects[0].Spec.Guaranteed = map[string]Amount{"cpu": "4"}
	_, verdicts = a.Put(objects)
	a.write(verdicts)
	require.Equal(t, map[string]string{"cpu": "1"}, objects[1].Status.Guaranteed)
	require.Equal(t, map[string]string{"cpu": "3"}, objects[2].Status.Guaranteed)
}

// TestShareOf: the type in which most is used counts, and no amount is too large.
func TestShareOf(t *testing.T) {
	two := func(cpu, gpu int64) resources.Limit {
		return resources.Limit{Value: resources.Vector{cpu, gpu}, Defined: 3}
	}
	for _, of := range []struct {
		used       resources.Vector
		guaranteed resources.Limit
		share      string
	}{
		{resources.Vector{500, 1}, two(2000, 4), "25%"},
		{resources.Vector{500, 3}, two(2000, 4), "75%"},
		{resources.Vector{999, 0}, two(1000, 4), "99%"},
		{resources.Vector{3000, 0}, two(1000, 0), "300%"},
		{nil, two(1000, 4), "0%"},
		{resources.Vector{1, 1}, two(0, 0), ""},
		{resources.Vector{1, 1}, resources.Limit{}, ""},
		{resources.Vector{1 << 62}, two(1<<62, 0), "100%"},
		{resources.Vector{1<<63 - 1}, two(1, 0), "18446744073709551615%"},
	} {
		require.Equal(t, of.share, ShareOf(of.used, of.guaranteed), "%v", of)
	}
}
