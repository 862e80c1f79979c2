// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// clusters is how many random clusters TestLive decides. The first has 300 pods.
var clusters = flag.Int("clusters", 10, "TestLive decides `N` random clusters")

// TestLive: what examples/live makes of a dump of the API server is decided as the
// plugin decides it in the scheduler, which has all of its Filter plugins. Outcomes,
// reasons and victims are the same. It is a dry run, so each that waits is decided on
// the cluster as it is.
func TestLive(t *testing.T) {
	w := newWorld(t, "AlwaysAllow")
	label := fmt.Appendf(nil, `{"metadata":{"labels":{%q:"c.y"}}}`, queueLabel)
	_, err := w.client.CoreV1().Namespaces().Patch(t.Context(), "default", types.MergePatchType, label, metav1.PatchOptions{})
	require.NoError(t, err)
	live, plan := program(t, "../../live"), program(t, "../../plan")
	outcomes := map[string]int{}
	for seed := range *clusters {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			w.story(t)
			w.hold()
			c := newLiveCluster(seed)
			c.create(t, w)
			dump := w.dump(t)
			a := c.queues()
			w.schedule(t, a)
			want := w.decisions(t)
			tree, err := json.Marshal(a["root"])
			require.NoError(t, err)
			document := pipe(t, dump, live, "-document", "-each", "-queues", writeFile(t, "queues.json", "%s", tree), "-default-queue", "a")
			var report struct {
				Results []struct {
					Key, Outcome, Reason string
					Victims              []string
				}
			}
			require.NoError(t, json.Unmarshal(pipe(t, document, plan, "-json", "-"), &report))
			got := map[string]string{}
			for _, r := range report.Results {
				outcomes[r.Outcome]++
				slices.Sort(r.Victims)
				got[r.Key] = strings.Join(append([]string{r.Outcome + r.Reason}, r.Victims...), " ")
				if first, cut := strings.CutSuffix(want[r.Key], cutOff); cut && strings.HasPrefix(got[r.Key], first) {
					got[r.Key] = want[r.Key] // as far as a message goes
				}
			}
			require.Equal(t, want, got)
			require.Zero(t, metric(t, "preempt_by_queue_audit_violations_total"))
		})
	}
	t.Log(outcomes)
	for _, o := range []string{"plan", "refused", "waits"} {
		require.NotZero(t, outcomes[o], o)
	}
}

// dump returns what the API server has, as kubectl would print it.
func (w *world) dump(t *testing.T) []byte {
	var all bytes.Buffer
	for _, from := range []struct {
		client    rest.Interface
		resources []string
	}{
		{w.client.CoreV1().RESTClient(), []string{"namespaces", "nodes", "pods"}},
		{w.client.SchedulingV1().RESTClient(), []string{"priorityclasses"}},
		{w.client.SchedulingV1beta1().RESTClient(), []string{"podgroups"}},
		{w.client.PolicyV1().RESTClient(), []string{"poddisruptionbudgets"}},
	} {
		for _, r := range from.resources {
			text, err := from.client.Get().Resource(r).SetHeader("Accept", "application/json").DoRaw(t.Context())
			require.NoError(t, err)
			all.Write(text)
			all.WriteByte('\n')
		}
	}
	return all.Bytes()
}

// decisions returns what the scheduler says of all that wait: outcome, reason and
// victims, by the name of a pod or PodGroup.
func (w *world) decisions(t *testing.T) map[string]string {
	all, undecided := map[string]string{}, ""
	defer func() {
		if undecided != "" {
			t.Log("not decided: ", undecided)
		}
	}()
	eventually(t, "all are decided", func() bool {
		clear(all)
		undecided = ""
		for _, p := range w.all() {
			if p.Spec.NodeName != "" {
				continue
			}
			name, message := p.Namespace+"/"+p.Name, refusal(p)
			if g := p.Spec.SchedulingGroup; g != nil {
				name, message = p.Namespace+"/"+*g.PodGroupName, w.groupRefusal(t, *g.PodGroupName)
			}
			decision := decisionIn(message)
			if decision == "" {
				undecided = name + ": " + message
				return false
			}
			all[name] = decision
		}
		return true
	})
	return all
}

// groupRefusal returns why a PodGroup was not scheduled, or "" if that was not tried yet.
func (w *world) groupRefusal(t *testing.T, name string) string {
	g, err := w.client.SchedulingV1beta1().PodGroups("default").Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	for _, c := range g.Status.Conditions {
		if c.Type == schedulingv1beta1.PodGroupInitiallyScheduled {
			return c.Message
		}
	}
	return ""
}

// cutOff ends a message that would have more than a kilobyte.
const cutOff = "…"

// What a decision says in a line, in the words of packages victims and jobs.
var (
	saysPlan    = regexp.MustCompile(`once these have stopped: (.*[^.])\.?$`)
	saysRefused = regexp.MustCompile(`is refused \(([a-z-]+)\)`)
	saysWaits   = regexp.MustCompile(`waits (on \S+ )?for what is leaving already`)
)

// decisionIn returns the decision that a message of the scheduler tells, or "".
func decisionIn(message string) string {
	if m := saysPlan.FindStringSubmatch(message); m != nil {
		var names []string
		keys := strings.Split(m[1], ", ")
		cut := strings.HasSuffix(m[1], cutOff)
		if cut {
			keys = keys[:len(keys)-1]
		}
		for _, key := range keys { // namespace/name/uid
			names = append(names, key[:strings.LastIndexByte(key, '/')])
		}
		slices.Sort(names)
		decision := "plan " + strings.Join(names, " ")
		if cut {
			decision += cutOff
		}
		return decision
	}
	if m := saysRefused.FindStringSubmatch(message); m != nil {
		return "refused" + m[1]
	}
	if saysWaits.MatchString(message) {
		return "waits"
	}
	return ""
}

// program builds a program, and returns its file.
func program(t *testing.T, from string) string {
	out := filepath.Join(t.TempDir(), filepath.Base(from))
	cmd := exec.Command("go", "build", "-o", out, ".")
	cmd.Dir = filepath.FromSlash(from)
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, string(text))
	return out
}

// pipe runs a program on a text, and returns what it prints.
func pipe(t *testing.T, stdin []byte, program string, args ...string) []byte {
	cmd := exec.Command(program, args...)
	var out, problems bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &out, &problems
	require.NoError(t, cmd.Run(), problems.String())
	return out.Bytes()
}
