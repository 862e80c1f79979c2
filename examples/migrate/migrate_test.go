// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/scenario"
	"github.com/go-preempt/preempt/queue"
)

// queuesIn returns a configuration whose root has the given queues.
func queuesIn(queues string) string {
	return `{"partitions": [{"queues": [{"name": "root", "queues": [` + queues + `]}]}]}`
}

// migrated returns the document and the remarks of one file of queues.
func migrated(t *testing.T, queues string) (doc *scenario.Document, remarks []string) {
	t.Helper()
	text, list, err := migrate(sources{queues: &source{"q", []byte(queues)}}, "")
	require.NoError(t, err)
	doc, err = scenario.Parse("doc", text)
	require.NoError(t, err)
	for _, remark := range list {
		remarks = append(remarks, strings.TrimPrefix(remark.Error(), "q: partitions[0]."))
	}
	return doc, remarks
}

// Each remark, and nothing but it.
func TestMigrate_QueueRemarks(t *testing.T) {
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
		{`{"name": "a", "childtemplate": {"resources": {"max": {"vcore": 2}}, "properties": {"priority.offset": "1"}}}`, nil},
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
			`queues[0].queues[0]: "root.a": over-committed: vcore: max 2 of child "b" is above the max 1`}},
	} {
		_, remarks := migrated(t, queuesIn(test.queue))
		require.Equal(t, test.want, remarks, test.queue)
	}
}

func TestMigrate_PartitionRemarks(t *testing.T) {
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
		doc, remarks := migrated(t, `{"partitions": [{`+test.fields+`}]}`)
		require.Equal(t, "default", doc.Name)
		require.Equal(t, "root", doc.Root.Name)
		require.Equal(t, test.want, remarks, test.fields)
	}
}

// The delay of a quota stands among the bounds of a queue, or among its
// properties, which win.
func TestMigrate_QuotaDelay(t *testing.T) {
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
			`queues[0].queues[0].resources["quota.preemption.delay"]: "5m": left out: the property of this name wins`},
		{`"resources": {"quota.preemption.delay": "soon"}`, 0,
			`queues[0].queues[0]: "root.a": bad property: quota.preemption.delay "soon": want a duration or seconds, 0 or above`},
	} {
		doc, remarks := migrated(t, `{"partitions": [{"preemption": {"quotapreemptionenabled": true},
			"queues": [{"name": "root", "queues": [{"name": "a", `+test.queue+`}]}]}]}`)
		tree, err := queue.New(doc.Schema, doc.Root.Config(), queue.Strict)
		require.NoError(t, err)
		require.Equal(t, test.delay, tree.QuotaPreemptionDelay(1), test.queue)
		require.Equal(t, test.remark, strings.Join(remarks, "\n"), test.queue)
	}
}

// A child template becomes a template: a queue that is made at run time gets of it
// what it does not set itself.
func TestMigrate_ChildTemplate(t *testing.T) {
	doc, remarks := migrated(t, queuesIn(`{"name": "users", "parent": true, "ChildTemplate": {
		"Resources": {"guaranteed": {"vcore": 2}, "max": {"vcore": "4", "memory": "8Gi"}, "quota.preemption.delay": "5m"},
		"Properties": {"preemption.delay": "10s", "priority.offset": 7}}, "queues": [{"name": "ann"}]}`))
	require.Equal(t, []string{
		`queues[0].queues[0].ChildTemplate.Resources["quota.preemption.delay"]: "5m": kept, though quotapreemptionenabled is not true in the partition`,
	}, remarks)
	root := doc.Root.Config()
	one, err := doc.Schema.Limit(map[string]string{"vcore": "3"})
	require.NoError(t, err)
	require.NoError(t, root.Add("root.users", queue.Config{Name: "bob", Max: one}))
	tree, err := queue.New(doc.Schema, root, queue.Lenient)
	require.NoError(t, err)
	bob, ok := tree.Lookup("root.users.bob")
	require.True(t, ok)
	require.Equal(t, "memory=8Gi vcore=3", doc.Schema.FormatLimit(tree.Max(bob)))
	require.Equal(t, 10*time.Second, tree.PreemptionDelay(bob))
	require.Equal(t, int32(7), tree.PriorityOffset(bob))
	ann, _ := tree.Lookup("root.users.ann")
	require.Zero(t, tree.Max(ann).Defined, "it is part of the configuration")
}

// Every property that the library reads is kept.
func TestMigrate_Properties(t *testing.T) {
	doc, remarks := migrated(t, queuesIn(`{"name": "a", "properties": {"preemption.policy": "fence", "preemption.delay": "1s",
		"priority.policy": "fence", "priority.offset": "5", "fair.weight": 3}}`))
	require.Empty(t, remarks)
	require.Equal(t, map[string]string{
		queue.PropertyPreemptionPolicy: "fence", queue.PropertyPreemptionDelay: "1s",
		queue.PropertyPriorityPolicy: "fence", queue.PropertyPriorityOffset: "5", queue.PropertyFairWeight: "3",
	}, doc.Root.Children[0].Properties)
}

// A class keeps its policy, and asks of the class do as it says.
func TestMigrate_NeverPreempts(t *testing.T) {
	out := call(`{"kind": "PriorityClass", "metadata": {"name": "calm"}, "value": 5, "preemptionPolicy": "Never"}
		{"kind": "PriorityClass", "metadata": {"name": "keen"}, "value": 5, "preemptionPolicy": "PreemptLowerPriority"}`, "-manifests", "-")
	require.Equal(t, written, out.status)
	require.Empty(t, out.stderr)
	ask := func(class string) string {
		return strings.Replace(out.stdout, `"requests": []`, `"requests": [{"ask": {"key": "x", "queue": "root",
			"application": "x", "resources": {}, "priorityClass": "`+class+`"}}]`, 1)
	}
	for class, may := range map[string]bool{"calm": false, "keen": true} {
		doc, err := scenario.Parse("doc", []byte(ask(class)))
		require.NoError(t, err)
		require.Equal(t, may, doc.Requests[0].Ask.AllowPreemptOther, class)
	}
}

// A ConfigMap has the configuration inside, as a text.
func TestMigrate_ConfigMap(t *testing.T) {
	const inner = `{"partitions": [{"queues": [{"name": "root", "submitacl": "*", "queues": [{"name": "a"}]}]}]}`
	object := func(data string) string {
		return `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "yunikorn-configs"}, "data": ` + data + `}`
	}
	doc, remarks := migrated(t, object(`{"log.level": "DEBUG", "queues.yaml": `+strconv.Quote(inner)+`}`))
	require.Equal(t, "a", doc.Root.Children[0].Name)
	require.Equal(t, []string{
		`q: metadata: {"name":"yunikorn-configs"}: left out: it says nothing of queues`,
		`q: data["log.level"]: "DEBUG": left out: only queues.yaml has queues`,
		`data["queues.yaml"] of q: partitions[0].queues[0].submitacl: "*": left out: who may submit does not matter to preemption`,
	}, remarks)

	for data, want := range map[string]string{
		`{}`: `: missing: data["queues.yaml"]`,
		`{"queues.yaml": "partitions:\n  - name: default\n"}`: `this is YAML, and JSON is wanted: take it out and convert it: yq -r '.data["queues.yaml"]' FILE | yq -o=json`,
		`{"queues.yaml": "{\"partitions\": }"}`:               `data["queues.yaml"] of q: partitions: "}": not valid JSON: line 1, byte 16: `,
		`{"queues.yaml": 5}`:                                  `q: data["queues.yaml"]: 5: wrong kind of value: want a string`,
	} {
		_, _, err := migrate(sources{queues: &source{"q", []byte(object(data))}}, "")
		require.ErrorContains(t, err, want)
	}
}

// YAML is told from other mistakes, and what to do about it.
func TestMigrate_YAML(t *testing.T) {
	for text, hint := range map[string]bool{
		"partitions:\n  - name: default\n": true,
		"# queues\n---\npartitions: []\n":  true,
		"kind: PriorityClass\nvalue: 1\n":  true,
		"- a\n":                            true,
		"{\"partitions\": [}":              false,
		"hello":                            false,
		"":                                 false,
		"{partitions: [{name: default}]}":  false,
	} {
		for _, all := range []sources{{queues: &source{"my.yaml", []byte(text)}}, {manifests: []source{{"my.yaml", []byte(text)}}}} {
			_, _, err := migrate(all, "")
			if hint {
				require.EqualError(t, err, "my.yaml: this is YAML, and JSON is wanted: convert it: yq -o=json my.yaml")
			} else {
				require.ErrorIs(t, err, scenario.ErrSyntax, text)
			}
		}
	}
	out := call("a: 1\n", "-queues", "-")
	require.Equal(t, outputs{bad, "", "migrate: stdin: this is YAML, and JSON is wanted: convert it: yq -o=json\n"}, out)
}

// The command in the comment of the program names files that are there.
func TestComment_Command(t *testing.T) {
	text, err := os.ReadFile("main.go")
	require.NoError(t, err)
	command := regexp.MustCompile(`(?s)go run ./examples/migrate (.*?)>`).FindStringSubmatch(string(text))
	require.NotNil(t, command)
	args := strings.Fields(strings.ReplaceAll(command[1], "\\\n", " "))
	for i := range args {
		args[i] = strings.TrimPrefix(args[i], "examples/migrate/")
	}
	require.Equal(t, written, call("", args...).status)
}

// Units: what a quantity of the configuration is in base units.
func TestMigrate_Quantities(t *testing.T) {
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
		doc, _ := migrated(t, queuesIn(`{"name": "a", "resources": {"max": {"`+test.name+`": `+test.quantity+`}}}`))
		i, ok := doc.Schema.Index(test.name)
		require.True(t, ok)
		got, ok := doc.Root.Children[0].Max.Bound(i)
		require.True(t, ok)
		require.Equal(t, test.want, got, "%s %s", test.name, test.quantity)
	}
}

// Partitions: the named one, the only one, or the default one.
func TestMigrate_Partitions(t *testing.T) {
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
		text, remarks, err := migrate(sources{queues: &source{"q", []byte(`{"partitions": [` + test.list + `]}`)}}, test.partition)
		if test.queue == "" {
			require.ErrorContains(t, err, test.want)
			continue
		}
		require.NoError(t, err)
		doc, err := scenario.Parse("doc", text)
		require.NoError(t, err)
		require.Equal(t, test.want, doc.Name)
		require.Equal(t, test.queue, doc.Root.Children[0].Name)
		require.Len(t, remarks, strings.Count(test.list, `"root"`)-1, "one for each other partition")
	}
}
