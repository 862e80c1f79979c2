// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/golden"
	"github.com/go-preempt/preempt/internal/judge/scenario"
)

// say runs the program.
func say(t *testing.T, stdin string, args ...string) (status int, out, problems string) {
	var stdout, stderr bytes.Buffer
	status = run(append([]string{"-now", "2026-01-01T02:00:00Z"}, args...), strings.NewReader(stdin), &stdout, &stderr)
	return status, stdout.String(), stderr.String()
}

func read(t *testing.T, file string) string {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

// TestAnswer: the answer, in order and each by itself, and the document.
func TestAnswer(t *testing.T) {
	for file, flags := range map[string][]string{
		"answer.golden": nil, "plain.golden": nil, "each.golden": {"-each"}, "document.golden": {"-document"},
	} {
		if file != "plain.golden" {
			flags = append(flags, "-queues", "testdata/queues.yaml")
		}
		status, out, problems := say(t, "", append(flags, "testdata/cluster.yaml")...)
		require.Equal(t, done, status, problems)
		golden.Compare(t, "testdata/"+file, out+problems)
	}
}

// TestAnswer_Moves: a plan for which somebody moves and nobody stops says so.
func TestAnswer_Moves(t *testing.T) {
	doc, err := scenario.Parse("moves", []byte(`{"name": "m", "queues": {"name": "root", "queues": [{"name": "a", "resources": {"guaranteed": {"cpu": "4"}}}, {"name": "b"}]},
		"nodes": [{"name": "n1", "capacity": {"cpu": "4"}}, {"name": "n2", "capacity": {"cpu": "4"}}], "options": {"moves": "entitled"}, "tasks": [
		{"key": "t", "queue": "root.b", "application": "b", "node": "n1", "resources": {"cpu": "1"}, "movable": true, "nodeSelector": {}},
		{"key": "u", "queue": "root.b", "application": "b", "node": "n2", "resources": {"cpu": "2"}, "allowPreemption": false}],
		"requests": [{"ask": {"key": "x", "queue": "root.a", "application": "a", "resources": {"cpu": "4"}}}]}`))
	require.NoError(t, err)
	out, err := answer(doc)
	require.NoError(t, err)
	require.Equal(t, "1 wait: 0 could run, 1 could run at the cost of 0 that run, 0 could not.\n\nAt a cost:\n  x on n1, if these move: t to n2\n", string(out))
}

// systems are files of other systems, with what examples/plan decides of them, worked out
// by hand.
var systems = []struct {
	name    string
	args    []string
	outcome map[string]string
}{
	{"kueue", []string{"testdata/kueue.yaml"}, map[string]string{
		"a/new": "plan b/extra/main/0 b/extra/main/1", "s/two": "refused"}},
	{"volcano", []string{"testdata/volcano.yaml"}, map[string]string{
		"prod/serve": "plan batch/train-0 batch/train-1 batch/train-2"}},
	{"yunikorn", []string{"-queues", "testdata/yunikorn.yaml", "testdata/yunikorn-pods.yaml"}, map[string]string{
		"x/web-1": "plan x/search-1", "x/lost-1": "refused"}},
	{"slurm", []string{"-queues", "testdata/slurm-partitions.txt", "-queues", "testdata/slurm-qos.txt", "testdata/slurm-pods.yaml"}, map[string]string{
		"x/high-1": "plan x/low-1", "x/debug-1": "refused"}},
}

// TestSystems: queues of each system become a document, all that it cannot say is told,
// and examples/plan decides it.
func TestSystems(t *testing.T) {
	plan := filepath.Join(t.TempDir(), "plan")
	build := exec.Command("go", "build", "-o", plan, "./examples/plan")
	build.Dir = filepath.Join("..", "..")
	text, err := build.CombinedOutput()
	require.NoError(t, err, string(text))
	for _, s := range systems {
		status, document, problems := say(t, "", append([]string{"-document"}, s.args...)...)
		require.Equal(t, done, status, problems)
		golden.Compare(t, "testdata/"+s.name+".golden", document+problems)
		decide := exec.Command(plan, "-json", "-")
		decide.Stdin = strings.NewReader(document)
		report, err := decide.Output()
		require.NoError(t, err)
		var got struct {
			Results []struct {
				Key, Outcome string
				Victims      []string
			}
		}
		require.NoError(t, json.Unmarshal(report, &got))
		outcomes := map[string]string{}
		for _, r := range got.Results {
			outcomes[r.Key] = strings.Join(append([]string{r.Outcome}, r.Victims...), " ")
		}
		require.Equal(t, s.outcome, outcomes, s.name)
	}
}

// TestSystemMistakes: what is wrong with queues of any system is told with file, object
// and field, and nothing is printed.
func TestSystemMistakes(t *testing.T) {
	queue := func(kind, version, spec string) string {
		return `{"apiVersion":"` + version + `","kind":"` + kind + `","metadata":{"name":"q"},"spec":` + spec + `}`
	}
	cq := func(spec string) string { return queue("ClusterQueue", "kueue.x-k8s.io/v1beta2", spec) }
	group := func(quota string) string {
		return cq(`{"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[` + quota + `]}]}]}`)
	}
	const head = "stdin: ClusterQueue q: spec."
	const first = head + "resourceGroups[0].flavors[0].resources[0]"
	for _, c := range []struct{ text, want string }{
		{cq(`{"cohortName":3}`), head + "cohortName: 3: wrong kind of value"},
		{group(`{"name":"cpu","nominalQuota":"much"}`), first + `.nominalQuota: "much": bad value: no quantity`},
		{group(`{"name":"cpu","nominalQuota":-1}`), first + `.nominalQuota: -1: bad value: quantity negative`},
		{group(`{"name":"cpu"}`), "missing: nominalQuota"},
		{group(`{"name":"gpu","nominalQuota":1}`), "not among coveredResources: gpu"},
		{group(`{"name":"cpu","nominalQuota":1},{"name":"cpu","nominalQuota":1}`), "duplicate: cpu of flavor f"},
		{cq(`{"preemption":{"reclaimWithinCohort":"any"}}`), head + `preemption.reclaimWithinCohort: "any": bad value: want Never, LowerPriority, Any`},
		{queue("ClusterQueue", "kueue.x-k8s.io/v2", `{}`), `apiVersion: "kueue.x-k8s.io/v2": bad value: want a version of v1beta1, v1beta2`},
		{queue("Cohort", "kueue.x-k8s.io/v1beta2", `{"parentName":"q"}`), `stdin: Cohort q: spec.parentName: "q": bad value: the cohort is above itself`},
		{queue("LocalQueue", "kueue.x-k8s.io/v1beta2", `{}`), "stdin: LocalQueue q: spec: {}: missing: clusterQueue"},
		{queue("Workload", "kueue.x-k8s.io/v1beta2", `{"podSets":[{"count":2147483647}]}`), "stdin: Workload q: spec.podSets[0].count: more than 100000 pods"},
		{queue("Workload", "kueue.x-k8s.io/v1beta2", `{"podSets":[{"count":-1}]}`), "spec.podSets[0].count: -1, want 0 or more"},
		{queue("Workload", "kueue.x-k8s.io/v1beta2", `{"podSets":[{"count":"x"}]}`), "stdin: Workload q: spec.podSets[0].count: wrong kind of value"},
		{queue("Queue", "scheduling.volcano.sh/v1beta1", `{"deserved":{"cpu":"x"}}`), `stdin: Queue q: spec.deserved.cpu: "x": bad value: no quantity`},
		{queue("Queue", "scheduling.volcano.sh/v1beta1", `{"parent":"p"}`), "stdin: Queue q: "},
		{queue("Queue", "scheduling.volcano.sh/v1beta1", `{"parent":"q"}`), "the queue is above itself"},
		{queue("Queue", "scheduling.volcano.sh/v1beta1", `{"weight":"x"}`), "stdin: Queue q: spec.weight: "},
		{queue("PodGroup", "scheduling.volcano.sh/v1beta1", `{"minMember":"x"}`), "stdin: PodGroup q: spec.minMember: wrong kind of value"},
		{cq(`{}`) + queue("Queue", "scheduling.volcano.sh/v1beta1", `{}`), "2 trees of queues, want one: of Kueue, Volcano"},
	} {
		status, out, problems := say(t, c.text)
		require.Equal(t, bad, status, c.text)
		require.Empty(t, out)
		require.Contains(t, problems, c.want, c.text)
	}
	const qos = "Name|Priority|Preempt|PreemptMode|PreemptExemptTime|GrpTRES\n"
	for _, c := range []struct{ text, want string }{
		{"PartitionName=a b", `q: line 1: "b": want Name=value`},
		{"PartitionName=a\nPartitionName=a", `q: line 2: "PartitionName=a": want a name of its own`},
		{"PartitionName=a X=1 X=2", `q: partition a: X: "1": is there already`},
		{"PartitionName=a TRES=cpu", `q: partition a: TRES: "cpu": "cpu": want type=amount`},
		{"PartitionName=a TRES=cpu=x", `q: partition a: TRES: "cpu=x": "cpu=x": want an amount, 0 or more`},
		{"PartitionName=a TRES=cpu=1,cpu=2", "the type is there already"},
		{"PartitionName=a PreemptMode=maybe", `q: partition a: PreemptMode: "maybe": want OFF, `},
		{qos + "a|1", "q: line 2: 2 columns, want 6 as in the heading"},
		{qos + "|1||||", `q: line 2: Name: "": want a name of its own`},
		{qos + "a|high||||", `q: QOS a: Priority: "high": want a whole number`},
		{qos + "a|4294967295||||", `q: QOS a: Priority: "4294967295": above 2147483647`},
		{qos + "a|1|b|||", `q: QOS a: Preempt: "b": no QOS "b" was read`},
		{qos + "a|1|||soon|", `q: QOS a: PreemptExemptTime: "soon": want [days-]hours:minutes:seconds`},
		{qos + "a|1||||mem=-1", `q: QOS a: GrpTRES: "mem=-1"`},
	} {
		_, _, err := migrate(c.text, "")
		require.ErrorContains(t, err, c.want, c.text)
	}
}

// TestDocument: every document is one, and the same whether read as YAML or as JSON
// objects one after another.
func TestDocument(t *testing.T) {
	yaml := read(t, "testdata/cluster.yaml")
	status, want, problems := say(t, yaml, "-document")
	require.Equal(t, done, status, problems)
	_, err := scenario.Parse("document", []byte(want))
	require.NoError(t, err)
	objects, err := readObjects([]byte(yaml), "cluster.yaml")
	require.NoError(t, err)
	var stream string
	for _, o := range objects {
		stream += string(o.raw) + "\n"
	}
	status, got, problems := say(t, stream, "-document", "-")
	require.Equal(t, done, status, problems)
	require.Equal(t, want, got)
}

// TestGang_Partly: a gang of which some members run asks for the others.
func TestGang_Partly(t *testing.T) {
	pod := func(name, node string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `","namespace":"x"},"spec":{"nodeName":"` + node + `",
			"schedulingGroup":{"podGroupName":"g"},"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}`
	}
	const node = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"2","memory":"1Gi","pods":"9"}}}`
	const group = `{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":"g","namespace":"x"},"spec":{"schedulingPolicy":{"gang":{"minCount":2}}}}`
	status, out, problems := say(t, node+group+pod("a", "n")+pod("b", ""))
	require.Equal(t, done, status, problems)
	require.Contains(t, out, "Without any:\n  x/g on n\n")
}

// TestOwners: what pods say they belong to makes jobs of them, or not.
func TestOwners(t *testing.T) {
	pod := func(name, meta, spec string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `","namespace":"x"` + meta + `},"spec":{` + spec + `"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}`
	}
	labels := func(pairs string) string { return `,"labels":{` + pairs + `}` }
	owner := func(kind, name string) string {
		return `,"ownerReferences":[{"apiVersion":"v1","kind":"` + kind + `","name":"` + name + `","uid":"u","controller":true}]`
	}
	job := func(name, spec string) string {
		return `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"` + name + `","namespace":"x"},"spec":{"template":{},` + spec + `}}`
	}
	const set, lws = `"jobset.sigs.k8s.io/jobset-name":"set"`, `"leaderworkerset.sigs.k8s.io/name":"lws","leaderworkerset.sigs.k8s.io/group-index":`
	text := `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"2","memory":"1Gi","pods":"99"}}}` +
		job("array", `"completionMode":"Indexed","parallelism":2,"completions":2`) + job("queue", `"parallelism":2,"completions":9`) +
		pod("set-0", labels(set), "") + pod("set-1", labels(set), `"nodeName":"n",`) +
		pod("lws-0", labels(lws+`"0"`), "") + pod("lws-0-1", labels(lws+`"0"`), "") + pod("lws-1", labels(lws+`"1"`), "") +
		pod("array-0", owner("Job", "array"), "") + pod("array-1", owner("Job", "array"), "") +
		pod("queue-0", owner("Job", "queue"), "") + pod("lost-0", owner("Job", "lost"), "") +
		pod("old-0", labels(`"scheduling.x-k8s.io/pod-group":"old"`), "") +
		pod("agent", owner("DaemonSet", "agent"), `"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]}}},`)
	status, out, problems := say(t, text, "-document")
	require.Equal(t, done, status, problems)
	doc, err := scenario.Parse("document", []byte(out))
	require.NoError(t, err)
	got := map[string]string{}
	for _, r := range doc.Requests {
		if r.Ask != nil {
			got[r.Ask.Key] = "ask " + r.Ask.RequiredNode
			continue
		}
		var keys []string
		for _, m := range r.Job.Members {
			keys = append(keys, m.Key)
		}
		got[r.Job.Name] = strings.Join(keys, " ")
	}
	require.Equal(t, map[string]string{
		"x/set": "x/set-1 x/set-0", "x/lws/0": "x/lws-0 x/lws-0-1", "x/lws/1": "x/lws-1", "x/array": "x/array-0 x/array-1",
		"x/queue-0": "ask ", "x/lost-0": "ask ", "x/old": "x/old-0", "x/agent": "ask n",
	}, got)
	require.Contains(t, problems, "x/old: is a PodGroup of scheduler-plugins")
}

// TestLosses: annotations say what is lost if a pod stops, and bad ones are told.
func TestLosses(t *testing.T) {
	text := `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"9","memory":"1Gi","pods":"99"}}}`
	for name, notes := range map[string]string{
		"dear": `"stop-cost":"5"`, "saved": `"last-checkpoint":"2026-01-01T01:50:00Z"`,
		"odd": `"stop-cost":"-1"`, "late": `"last-checkpoint":"tomorrow"`,
	} {
		notes = strings.Replace(notes, `"`, `"go-preempt.github.io/`, 1)
		text += `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `","namespace":"x","annotations":{` + notes +
			`}},"spec":{"nodeName":"n","containers":[{"name":"c"}]}}`
	}
	status, out, problems := say(t, text, "-document")
	require.Equal(t, done, status, problems)
	doc, err := scenario.Parse("document", []byte(out))
	require.NoError(t, err)
	require.Len(t, doc.Tasks, 4)
	for _, task := range doc.Tasks {
		require.Equal(t, task.Key == "x/dear", task.Cost == 5, task.Key)
		require.Equal(t, task.Key == "x/saved", task.CheckpointAge != nil, task.Key)
		if task.CheckpointAge != nil {
			require.Equal(t, 10*time.Minute, *task.CheckpointAge)
		}
	}
	require.Contains(t, problems, `x/odd: left out: go-preempt.github.io/stop-cost is no whole number from 0 on: -1`)
	require.Contains(t, problems, `x/late: left out: go-preempt.github.io/last-checkpoint is no time such as 2026-01-31T12:00:00Z: tomorrow`)
}

// TestNotes: what a document cannot say is told.
func TestNotes(t *testing.T) {
	pod := func(spec string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"ns","labels":{"a":"b"}},"spec":` + spec + `}`
	}
	for want, text := range map[string]string{
		"required pod affinity":              pod(`{"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone"}]}}}`),
		"preferred node affinity":            pod(`{"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{}}]}}}`),
		"required topology spread":           pod(`{"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}]}`),
		"persistent volumes":                 pod(`{"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}]}`),
		"resource claims":                    pod(`{"resourceClaims":[{"name":"c"}]}`),
		"scheduling gates":                   pod(`{"schedulingGates":[{"name":"g"}]}`),
		"its node is not among those read":   pod(`{"nodeName":"n"}`),
		"its priority class was not read":    pod(`{"priorityClassName":"high","priority":3}`),
		"its PodGroup was not read":          pod(`{"schedulingGroup":{"podGroupName":"g"}}`),
		"anti-affinity wider than a node":    pod(`{"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone"}]}}}`),
		"objects of the kind Secret of v1 a": `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}}`,
	} {
		status, _, problems := say(t, text)
		require.Equal(t, done, status, problems)
		require.Contains(t, problems, want)
	}
}

// TestMistakes: bad input is an error with file, object and field, and nothing is printed.
func TestMistakes(t *testing.T) {
	deep := strings.Repeat("[", 300) + strings.Repeat("]", 300)
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'j'; c++ {
		before := string(c - 1)
		bomb += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+before+",", 10), ",") + "]\n"
	}
	for _, c := range []struct{ text, want string }{
		{"", "stdin: no objects"},
		{"{", "stdin: not valid JSON"},
		{"a: [", "stdin: "},
		{"a: 1\na: 2", "already"},
		{"apiVersion: v1", "stdin: kind: missing"},
		{`{"apiVersion":"v1","kind":"Pod"}`, "metadata.name: missing"},
		{`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"priority":"high"}}`, "stdin: Pod p: spec.priority: wrong kind of value: string"},
		{`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"many"}}}`, "stdin: Node n: status.allocatable.cpu: quantities must"},
		{`{"kind":"List","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":7}}]}`, "stdin: items[0]: metadata.name: wrong kind of value: number"},
		{`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}`, "stdin (document 2): Node n: duplicate"},
		{`[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}]`, "stdin: an array of objects, the first of which is Node n: want them one after another"},
		{`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"1e20"}}}`, "stdin: Node n: status.allocatable.cpu: quantity too large"},
		{`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","resources":{"limits":{"memory":"9E"}}}]}}`, "stdin: Pod p: spec.containers[0].resources.limits.memory: quantity too large"},
		{`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"status":{"containerStatuses":[{"name":"c","allocatedResources":{"cpu":"-1"}}]}}`, "stdin: Pod p: status.containerStatuses[0].allocatedResources.cpu: quantity negative"},
		{"\xff\xfe{\x00}\x00", "stdin: it is UTF-16: save it as UTF-8"},
		{`{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b"},"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Near"}]},"maxUnavailable":1}}`, "PodDisruptionBudget b: spec.selector: "},
		{`{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"c","annotations":{"preemption-toleration.scheduling.x-k8s.io/toleration-seconds":"soon"}},"value":1}`, "PriorityClass c: metadata.annotations: "},
		{`{"a":` + deep + `}`, "more than 200"},
		{"a: " + deep, "more than 200"},
		{"a: " + strings.Repeat("[", 100_000), "more than 200"},
		{bomb, "excessive aliasing"},
	} {
		status, out, problems := say(t, c.text)
		require.Equal(t, bad, status, "%.80s", c.text)
		require.Empty(t, out)
		require.Contains(t, problems, c.want, "%.80s", c.text)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"-own-leaf", []string{"-own-leaf", "often"}},
		{"no such file", []string{"testdata/nothing"}},
		{"named twice", []string{"testdata/cluster.yaml", "testdata/cluster.yaml"}},
		{"no leaf of this path", []string{"-queues", "testdata/queues.yaml", "-default-queue", "none", "testdata/cluster.yaml"}},
		{"unknown field", []string{"-queues", "testdata/bad-queues.yaml", "testdata/cluster.yaml"}},
	} {
		status, out, problems := say(t, "", c.args...)
		require.Equal(t, bad, status)
		require.Empty(t, out)
		require.Contains(t, problems, c.want)
	}
}
