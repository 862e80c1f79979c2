// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/queue"
)

// migrate returns the document that a text of queues makes, and the notes.
func migrate(text, partition string) (document []byte, notes []string, err error) {
	c := newCluster(&options{ownLeaf: "met", partition: partition})
	if err := errors.Join(c.takeQueueText("q", []byte(text))...); err != nil {
		return nil, nil, err
	}
	if err := c.finishQueues(); err != nil {
		return nil, nil, err
	}
	made, _, err := c.document()
	if err != nil {
		return nil, nil, err
	}
	var out bytes.Buffer
	err = made.write(&out)
	return out.Bytes(), c.notes.lines(), err
}

// yunikornOf returns the document and the notes of a file of queues.
func yunikornOf(t *testing.T, text string) (doc *scenario.Document, notes []string) {
	t.Helper()
	made, all, err := migrate(text, "")
	require.NoError(t, err)
	doc, err = scenario.Parse("doc", made)
	require.NoError(t, err)
	for _, note := range all {
		notes = append(notes, strings.TrimPrefix(note, "q: partitions[0]."))
	}
	return doc, notes
}

// queuesIn returns a configuration whose root has the given queues.
func queuesIn(queues string) string {
	return `{"partitions": [{"queues": [{"name": "root", "queues": [` + queues + `]}]}]}`
}

// Each remark, and nothing but it.
func TestYuniKorn_QueueRemarks(t *testing.T) {
	const a = `queues[0].queues[0].`
	for _, test := range []struct {
		queue string
		want  []string
	}{
		{`{"name": "a"}`, nil},
		{`{"name": "a", "adminacl": "", "submitacl": null, "limits": [], "childtemplate": {"resources": {}}, "new": {}}`, nil},
		{`{"name": "a", "parent": false}`, nil},
		{`{"name": "a", "parent": true, "queues": [{"name": "b"}]}`, nil},
		{`{"name": "a", "parent": true}`, []string{a + `parent: true: a leaf here, for no queues are below it`}},
		{`{"name": "a", "parent": false, "queues": [{"name": "b"}]}`, []string{a + `parent: false: a parent all the same, for queues are below it`}},
		{`{"name": "a", "submitacl": " sandbox"}`, []string{a + `submitacl: " sandbox": left out: who may submit does not matter to preemption`}},
		{`{"name": "a", "adminacl": "*"}`, []string{a + `adminacl: "*": left out: who may administer does not matter to preemption`}},
		{`{"name": "a", "maxapplications": 3}`, []string{a + `maxapplications: 3: left out: applications are not counted`}},
		{`{"name": "a", "limits": [{"limit": ""}]}`, []string{a + `limits: [{"limit":""}]: left out: there are no limits for users and groups`}},
		{`{"name": "a", "childtemplate": {"resources": {"max": {"vcore": 2}}, "properties": {"priority.offset": "1", "preemption.own-leaf": "met"}}}`, nil},
		{`{"name": "a", "childtemplate": {"maxapplications": 1}}`, []string{a + `childtemplate.maxapplications: 1: left out: applications are not counted`}},
		{`{"name": "a", "childtemplate": {"parent": true}}`, []string{a + `childtemplate.parent: true: left out: not known here`}},
		{`{"name": "a", "childtemplate": {"properties": {"preemption.policy": "Fence"}}}`, []string{
			`queues[0].queues[0]: "root.a": template: bad property: preemption.policy "Fence": want default, fence or disabled`}},
		{`{"name": "a", "childtemplate": {"properties": {"application.sort.policy": "fifo"}}}`, []string{
			a + `childtemplate.properties["application.sort.policy"]: "fifo": left out: the property does not concern preemption`}},
		{`{"name": "a", "childtemplate": {"resources": {"max": {"vcore": 0}}}}`, []string{
			a + `childtemplate.resources.max: {"vcore":0}: left out: YuniKorn ignores bounds that are all 0`}},
		{`{"name": "a", "new": 0}`, []string{a + `new: 0: left out: not known here`}},
		{`{"name": "a", "resources": {"min": {"vcore": 1}}}`, []string{a + `resources.min: {"vcore":1}: left out: not known here`}},
		{`{"name": "a", "resources": {"guaranteed": {"vcore": "0", "memory": 0}}}`, []string{
			a + `resources.guaranteed: {"vcore":"0","memory":0}: left out: YuniKorn ignores bounds that are all 0`}},
		{`{"name": "a", "properties": {"application.sort.priority": "disabled"}}`, []string{
			a + `properties["application.sort.priority"]: "disabled": left out: the property does not concern preemption`}},
		{`{"name": "a", "properties": {"fair.weight": "4"}}`, nil},
		{`{"name": "a", "properties": {"fair.weight": "0"}}`, []string{
			`queues[0].queues[0]: "root.a": bad property: fair.weight "0": want an integer from 1 to 2147483647`}},
		{`{"name": "a", "properties": {"preemption.polcy": "fence"}}`, []string{
			a + `properties["preemption.polcy"]: "fence": left out: unknown property: the nearest name is preemption.policy`}},
		{`{"name": "a", "properties": {"Premption.Delay": "1s"}}`, []string{
			a + `properties["Premption.Delay"]: "1s": left out: unknown property: the nearest name is preemption.delay`}},
		{`{"name": "a", "properties": {"quota.delay": "1s"}}`, []string{
			a + `properties["quota.delay"]: "1s": left out: unknown property: the nearest name is preemption.delay`}},
		{`{"name": "a", "resources": {"quota.preemption.delay": "1m"}}`, []string{
			a + `resources["quota.preemption.delay"]: "1m": kept, though quotapreemptionenabled is not true in the partition`}},
		{`{"name": "a", "properties": {"quota.preemption.delay": "1m"}}`, []string{
			a + `properties["quota.preemption.delay"]: "1m": kept, though quotapreemptionenabled is not true in the partition`}},
		{`{"name": "a", "properties": {"preemption.policy": "Fence"}}`, []string{
			`queues[0].queues[0]: "root.a": bad property: preemption.policy "Fence": want default, fence or disabled`}},
		{`{"name": "a", "resources": {"max": {"vcore": 1}}, "queues": [{"name": "b", "resources": {"max": {"vcore": 2}}}]}`, []string{
			`queues[0].queues[0]: "root.a": over-committed: cpu: max 2 of child "b" is above the max 1`}},
	} {
		_, remarks := yunikornOf(t, queuesIn(test.queue))
		require.Equal(t, test.want, remarks, test.queue)
	}
}

func TestYuniKorn_PartitionRemarks(t *testing.T) {
	const root = `"queues": [{"name": "root"}]`
	for _, test := range []struct {
		fields string
		want   []string
	}{
		{root, nil},
		{`"preemption": {"enabled": true, "quotapreemptionenabled": false}, ` + root, nil},
		{`"preemption": {"enabled": false}, ` + root, []string{`preemption.enabled: false: left out: a document has no such switch, and preemption is on`}},
		{`"preemption": {"disabled": true}, ` + root, []string{`preemption.disabled: true: left out: not known here`}},
		{`"limits": [1], ` + root, []string{`limits: [1]: left out: there are no limits for users and groups`}},
		{`"nodesortpolicy": {"type": "fair"}, ` + root, []string{`nodesortpolicy: {"type":"fair"}: left out: the cost of a plan decides between nodes`}},
		{`"placementrules": [{"name": "user"}], ` + root, []string{`placementrules: [{"name":"user"}]: left out: tasks name their queues`}},
		{`"usergroupresolver": {"type": "os"}, ` + root, []string{`usergroupresolver: {"type":"os"}: left out: there are no users and groups`}},
		{`"queues": [{"name": "Root", "resources": {"max": {"vcore": 1}}}]`, []string{
			`queues[0].resources: {"max":{"vcore":1}}: kept, though YuniKorn takes no bounds of its root`}},
		{`"queues": [{"name": "a"}]`, []string{`queues: [{"name":"a"}]: a queue root was put in above, as YuniKorn does`}},
		{`"queues": []`, []string{`queues: []: a queue root was put in above, as YuniKorn does`}},
		{`"queues": [{"name": "root", "properties": {"preemption.policy": "fence"}}]`, nil},
		{`"queues": [{"name": "root", "properties": {"preemption.policy": "fenced"}}]`, []string{
			`queues[0]: "root": bad property: preemption.policy "fenced": want default, fence or disabled`}},
	} {
		doc, remarks := yunikornOf(t, `{"partitions": [{`+test.fields+`}]}`)
		require.Equal(t, "root", doc.Root.Name)
		require.Equal(t, test.want, remarks, test.fields)
	}
}

// The delay of a quota stands among the bounds of a queue, or among its
// properties, which win.
func TestYuniKorn_QuotaDelay(t *testing.T) {
	for _, test := range []struct {
		queue  string
		delay  time.Duration
		remark string
	}{
		{`"resources": {"quota.preemption.delay": "5m"}`, 5 * time.Minute, ""},
		{`"Resources": {"Quota.Preemption.Delay": 90, "max": {"vcore": 1}}`, 90 * time.Second, ""},
		{`"resources": {"quota.preemption.delay": 9223372037}`, math.MaxInt64, ""},
		{`"resources": {"quota.preemption.delay": "36028797018963968"}`, math.MaxInt64, ""},
		{`"resources": {"quota.preemption.delay": "5m"}, "properties": {"quota.preemption.delay": "1h"}`, time.Hour,
			`queues[0].queues[0].resources["quota.preemption.delay"]: "5m": left out: the property quota.preemption.delay wins`},
		{`"resources": {"quota.preemption.delay": "5m"}, "properties": {"preemption.quota.delay": "1h"}`, time.Hour,
			`queues[0].queues[0].resources["quota.preemption.delay"]: "5m": left out: the property preemption.quota.delay wins`},
		{`"properties": {"preemption.quota.delay": "7m"}`, 7 * time.Minute, ""},
		{`"resources": {"quota.preemption.delay": "soon"}`, 0,
			`queues[0].queues[0]: "root.a": bad property: quota.preemption.delay "soon": want a duration or seconds, 0 or above`},
	} {
		doc, remarks := yunikornOf(t, `{"partitions": [{"preemption": {"quotapreemptionenabled": true},
			"queues": [{"name": "root", "queues": [{"name": "a", `+test.queue+`}]}]}]}`)
		tree, err := queue.NewLenient(doc.Schema, doc.Root.Config())
		require.NoError(t, err)
		require.Equal(t, test.delay, *tree.Policies(1).QuotaDelay, test.queue)
		require.Equal(t, test.remark, strings.Join(remarks, "\n"), test.queue)
	}
}

// A child template becomes a template: a queue that is made at run time gets of it
// what it does not set itself.
func TestYuniKorn_ChildTemplate(t *testing.T) {
	doc, remarks := yunikornOf(t, queuesIn(`{"name": "users", "parent": true, "ChildTemplate": {
		"Resources": {"guaranteed": {"vcore": 2}, "max": {"vcore": "4", "memory": "8Gi"}, "quota.preemption.delay": "5m"},
		"Properties": {"preemption.delay": "10s", "priority.offset": 7}}, "queues": [{"name": "ann"}]}`))
	require.Equal(t, []string{
		`queues[0].queues[0].ChildTemplate.Resources["quota.preemption.delay"]: "5m": kept, though quotapreemptionenabled is not true in the partition`,
	}, remarks)
	root := doc.Root.Config()
	one, err := doc.Schema.ParseLimit("cpu=3")
	require.NoError(t, err)
	require.NoError(t, root.Add("root.users", queue.Config{Name: "bob", Max: one}))
	tree, err := queue.NewLenient(doc.Schema, root)
	require.NoError(t, err)
	bob, ok := tree.Lookup("root.users.bob")
	require.True(t, ok)
	require.Equal(t, "cpu=3 memory=8Gi", doc.Schema.FormatLimit(tree.Max(bob)))
	require.Equal(t, 10*time.Second, *tree.Policies(bob).PreemptionDelay)
	require.Equal(t, int32(7), *tree.Policies(bob).PriorityOffset)
	ann, _ := tree.Lookup("root.users.ann")
	require.Zero(t, tree.Max(ann).Defined, "it is part of the configuration")
}

// Every property that the library reads is kept.
func TestYuniKorn_Properties(t *testing.T) {
	doc, remarks := yunikornOf(t, queuesIn(`{"name": "a", "properties": {"preemption.policy": "fence", "preemption.delay": "1s",
		"priority.policy": "fence", "priority.offset": "5", "fair.weight": 3}}`))
	require.Empty(t, remarks)
	require.Equal(t, map[string]string{
		"preemption.policy": "fence", "preemption.delay": "1s",
		"priority.policy": "fence", "priority.offset": "5", "fair.weight": "3",
	}, doc.Root.Children[0].Properties)
}

// A ConfigMap has the configuration inside, as a text.
func TestYuniKorn_ConfigMap(t *testing.T) {
	const inner = `{"partitions": [{"queues": [{"name": "root", "submitacl": "*", "queues": [{"name": "a"}]}]}]}`
	object := func(data string) string {
		return `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "yunikorn-configs"}, "data": ` + data + `}`
	}
	doc, remarks := yunikornOf(t, object(`{"log.level": "DEBUG", "queues.yaml": `+strconv.Quote(inner)+`}`))
	require.Equal(t, "a", doc.Root.Children[0].Name)
	require.Equal(t, []string{
		`yunikorn-configs data[log.level]: left out: only queues.yaml is read`,
		`q: data[queues.yaml]: partitions[0].queues[0].submitacl: "*": left out: who may submit does not matter to preemption`,
	}, remarks)

	for data, want := range map[string]string{
		`{}`:                                    `q: ConfigMap yunikorn-configs: data[queues.yaml]: missing`,
		`{"queues.yaml": "{\"partitions\": }"}`: `q: ConfigMap yunikorn-configs: data[queues.yaml]: not valid JSON at byte `,
		`{"queues.yaml": "partitions: ["}`:      `q: ConfigMap yunikorn-configs: data[queues.yaml]: yaml: line 1: `,
		`{"queues.yaml": "a: 1\n---\nb: 1"}`:    `q: ConfigMap yunikorn-configs: data[queues.yaml]: 2 documents, want one`,
		`{"queues.yaml": 5}`:                    `q: ConfigMap yunikorn-configs: data.queues.yaml: wrong kind of value: number`,
	} {
		_, _, err := migrate(object(data), "")
		require.ErrorContains(t, err, want)
	}
}

// Units: what a quantity of the configuration is in base units.
// TestYuniKorn_Pods: a pod's application is that which it names, and task groups are told.
func TestYuniKorn_Pods(t *testing.T) {
	text := nodeOf("n", "8")
	for own, meta := range map[string]thing{
		"a": {"labels": thing{"yunikorn.apache.org/app-id": "spark"}}, "b": {"annotations": thing{"yunikorn.apache.org/app-id": "spark"}},
		"c": {"labels": thing{"applicationId": "spark"}}, "d": {"labels": thing{"spark-app-selector": "spark"}}, "e": {},
	} {
		text += podOf(own, "n", "1", 0, thing{"metadata": meta})
	}
	text += podOf("f", "", "1", 0, thing{"metadata": thing{"annotations": thing{"yunikorn.apache.org/task-group-name": "g"}}})
	_, out, problems := say(t, text, "-document", "-queues", "testdata/yunikorn.yaml")
	doc, err := scenario.Parse("d", []byte(out))
	require.NoError(t, err, problems)
	require.Len(t, doc.Tasks, 5)
	for _, task := range doc.Tasks {
		require.Equal(t, task.Key != "x/e", task.Application == "spark", task.Key)
	}
	require.Contains(t, problems, "x/f: left out: its task group of YuniKorn")
	_, _, problems = say(t, nodeOf("n", "8")+podOf("g", "n", "1", 0, thing{"metadata": thing{"annotations": thing{"volcano.sh/preemptable": "false"}}}))
	require.Contains(t, problems, "x/g: left out: volcano.sh/preemptable")
}

func TestYuniKorn_Quantities(t *testing.T) {
	for _, test := range []struct {
		name, quantity string
		want           int64
	}{
		{"vcore", `"10000m"`, 10_000},
		{"vcore", `10`, 10_000},
		{"vcore", `"10"`, 10_000},
		{"vcore", `" 10 k "`, 10_000_000},
		{"memory", `"10Gi"`, 10 << 30},
		{"memory", `"1G"`, 1_000_000_000},
		{"memory", `400000`, 400_000},
		{"nvidia.com/gpu", `"8"`, 8},
		{"pods", `"1k"`, 1000},
	} {
		doc, _ := yunikornOf(t, queuesIn(`{"name": "a", "resources": {"max": {"`+test.name+`": `+test.quantity+`}}}`))
		i, ok := doc.Schema.Index(kubernetesType(test.name))
		require.True(t, ok)
		got, ok := doc.Root.Children[0].Max.Bound(i)
		require.True(t, ok)
		require.Equal(t, test.want, got, "%s %s", test.name, test.quantity)
	}
}

// Partitions: the named one, the only one, or the default one.
func TestYuniKorn_Partitions(t *testing.T) {
	const (
		unnamed = `{"queues": [{"name": "root", "queues": [{"name": "u"}]}]}`
		gpu     = `{"name": "gpu", "queues": [{"name": "root", "queues": [{"name": "g"}]}]}`
		lab     = `{"name": "lab", "queues": [{"name": "root", "queues": [{"name": "l"}]}]}`
	)
	for _, test := range []struct {
		list, partition string
		want            string // the name of the document, or what is wrong
		queue           string
	}{
		{unnamed, "", "default", "u"},
		{gpu, "", "gpu", "g"},
		{gpu + "," + unnamed, "", "default", "u"},
		{gpu + "," + unnamed, "Default", "default", "u"},
		{gpu + "," + lab, "lab", "lab", "l"},
		{gpu + "," + lab, "", "several partitions, choose with -partition: gpu, lab", ""},
		{gpu + "," + lab, "default", "no partition default, but gpu, lab", ""},
		{"", "", "no partition", ""},
	} {
		text, remarks, err := migrate(`{"partitions": [`+test.list+`]}`, test.partition)
		if test.queue == "" {
			require.ErrorContains(t, err, test.want)
			continue
		}
		require.NoError(t, err)
		doc, err := scenario.Parse("doc", text)
		require.NoError(t, err)
		require.Equal(t, test.queue, doc.Root.Children[0].Name)
		require.Len(t, remarks, strings.Count(test.list, `"root"`)-1, "one for each other partition")
	}
}

// What is wrong with queues is told with file, place, value and reason.
func TestYuniKorn_QueueMistakes(t *testing.T) {
	const a = `q: partitions[0].queues[0].queues[0]`
	for _, test := range []struct{ text, want string }{
		{``, `q: no objects`},
		{`[]`, `q: an array of objects: want them one after another, or in a List; jq prints them so without -s`},
		{`{"partitions": 1}`, `q: partitions: 1: wrong kind of value: want a list, found a number`},
		{`{"partitions": [1]}`, `q: partitions[0]: 1: wrong kind of value: want an object, found a number`},
		{`{"partitions": [{}]}`, `q: partitions[0]: {}: missing: queues`},
		{`{"partitions": [{}, {"name": "Default"}]}`, `q: partitions[1]: {"name":"Default"}: duplicate: a partition named "Default" is there already`},
		{`{"partitions": [{"queues": [{}]}]}`, `q: partitions[0].queues[0]: {}: missing: name`},
		{`{"partitions": [{"queues": [], "Queues": []}]}`, `q: partitions[0].Queues: []: duplicate: the field is there already, in other letters`},
		{`{"partitions": [{"queues": [], "preemption": {"enabled": "no"}}]}`, `q: partitions[0].preemption.enabled: "no": wrong kind of value: want a boolean, found a string`},
		{queuesIn(`{"name": ""}`), a + `.name: "": bad value: want a name`},
		{queuesIn(`{"name": "x.y"}`), a + `: {"name":"x.y"}: bad value: a queue's own name has no dot: "x.y"`},
		{queuesIn(`{"name": "x"}, {"name": "X"}`), `q: partitions[0].queues[0].queues[1]: {"name":"X"}: duplicate: a queue named "X" is there already`},
		{queuesIn(`{"name": "a", "parent": 1}`), a + `.parent: 1: wrong kind of value: want a boolean, found a number`},
		{queuesIn(`{"name": "a", "resources": {"max": {"vcore": "4x"}}}`), a + `.resources.max.vcore: "4x": bad value: quantity malformed`},
		{queuesIn(`{"name": "a", "resources": {"max": {"vcore": -1}}}`), a + `.resources.max.vcore: -1: bad value: quantity negative`},
		{queuesIn(`{"name": "a", "resources": {"max": {"memory": "1m"}}}`), a + `.resources.max.memory: "1m": bad value: quantity not a whole number of base units`},
		{queuesIn(`{"name": "a", "resources": {"max": {"memory": null}}}`), a + `.resources.max.memory: null: bad value: quantity malformed`},
		{queuesIn(`{"name": "a", "resources": {"max": {"": 1}}}`), a + `.resources.max[""]: 1: bad value: a resource type needs a name`},
		{queuesIn(`{"name": "a", "properties": {"priority.offset": []}}`), a + `.properties["priority.offset"]: []: wrong kind of value: want a string, found a list`},
		{queuesIn(`{"name": "a", "resources": {"guaranteed": {"vcore": 2}, "max": {"vcore": 1}}}`),
			a + `: "root.a": guaranteed above max: cpu: guaranteed 2, max 1`},
	} {
		text, remarks, err := migrate(test.text, "")
		require.EqualError(t, err, test.want, test.text)
		require.Nil(t, text)
		require.Empty(t, remarks)
	}
}

// 64 levels and 64 types, and one more.
func TestYuniKorn_Limits(t *testing.T) {
	// Root is the first level.
	chain := func(n int) string { return strings.Repeat(`{"name": "a", "queues": [`, n) + strings.Repeat(`]}`, n) }
	yunikornOf(t, queuesIn(chain(63)))
	_, _, err := migrate(queuesIn(chain(64)), "")
	require.ErrorContains(t, err, "too deep: more than 64 levels")

	types := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`"t%d": 1`, i))
		}
		return queuesIn(`{"name": "a", "resources": {"max": {` + strings.Join(list, ", ") + `}}}`)
	}
	yunikornOf(t, types(61)) // and those of pods
	_, _, err = migrate(types(62), "")
	require.EqualError(t, err, "65 resource types with those of queues, and a document has at most 64")
	_, _, err = migrate(types(65), "")
	require.ErrorContains(t, err, `resources.max.t64: 1: bad value: one more than 64 resource types`)
}
