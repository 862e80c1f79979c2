// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/go-preempt/preempt/examples/kubernetes/preemptqueues"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

const configFolder = "../config"

// A kustomization is what files of that name here may have.
type kustomization struct {
	metav1.TypeMeta    `json:",inline"`
	Resources          []string `json:"resources"`
	ConfigMapGenerator []struct {
		Name, Namespace string
		Files           []string `json:"files"`
	} `json:"configMapGenerator"`
	Images []struct{ Name, NewName, NewTag string } `json:"images"`
}

// kustomizations returns those of config/, by their folders.
func kustomizations(t *testing.T) map[string]kustomization {
	all := map[string]kustomization{}
	files, err := filepath.Glob(configFolder + "/*/kustomization.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var k kustomization
		require.NoError(t, yaml.UnmarshalStrict(text, &k), file)
		all[filepath.Dir(file)] = k
	}
	return all
}

// manifests returns the objects of config/, read by the types of Kubernetes, with no field
// that these do not know, by their files.
func manifests(t *testing.T) map[string][]runtime.Object {
	known := runtime.NewScheme()
	require.NoError(t, scheme.AddToScheme(known))
	require.NoError(t, apiextensionsv1.AddToScheme(known))
	known.AddKnownTypes(preemptqueues.GroupVersion, &preemptqueues.PreemptQueue{})
	decoder := serializer.NewCodecFactory(known, serializer.EnableStrict).UniversalDeserializer()
	all := map[string][]runtime.Object{}
	for folder, k := range kustomizations(t) {
		for _, r := range k.Resources {
			file := filepath.Join(folder, r)
			if filepath.Ext(file) == "" {
				require.FileExists(t, filepath.Join(file, "kustomization.yaml"), folder)
				continue
			}
			text, err := os.ReadFile(file)
			require.NoError(t, err, folder)
			for docs := utilyaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(text))); ; {
				doc := make([]byte, 1<<16)
				n, err := docs.Read(doc)
				if errors.Is(err, io.EOF) {
					break
				}
				require.NoError(t, err, file)
				obj, _, err := decoder.Decode(doc[:n], nil, nil)
				require.NoError(t, err, file)
				all[file] = append(all[file], obj)
			}
		}
	}
	return all
}

// ofType returns the objects of a type.
func ofType[T runtime.Object](t *testing.T) (list []T) {
	for _, objects := range manifests(t) { // in any order: each is judged by itself
		for _, obj := range objects {
			if o, ok := obj.(T); ok {
				list = append(list, o)
			}
		}
	}
	require.NotEmpty(t, list)
	return list
}

// TestManifests: every file of config/ is applied, or is in a ConfigMap, and says what
// Kubernetes reads.
func TestManifests(t *testing.T) {
	known := manifests(t)
	used := map[string]bool{}
	for folder, k := range kustomizations(t) {
		require.Equal(t, "kustomize.config.k8s.io/v1beta1", k.APIVersion, folder)
		for _, m := range k.ConfigMapGenerator {
			for _, f := range m.Files {
				require.FileExists(t, filepath.Join(folder, f))
				used[filepath.Join(folder, f)] = true
			}
		}
	}
	require.NoError(t, filepath.WalkDir(configFolder, func(file string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(file) == ".yaml" && d.Name() != "kustomization.yaml" && filepath.Base(filepath.Dir(file)) != "observe" {
			require.True(t, used[file] || len(known[file]) > 0, "%s: nobody applies it", file)
		}
		return err
	}))
}

// TestBindings: bindings give roles that exist here, or in Kubernetes, to somebody.
func TestBindings(t *testing.T) {
	roles := []string{"system:kube-scheduler", "system:volume-scheduler", "extension-apiserver-authentication-reader"}
	for _, r := range ofType[*rbacv1.ClusterRole](t) {
		roles = append(roles, r.Name)
	}
	for _, r := range ofType[*rbacv1.Role](t) {
		roles = append(roles, r.Name)
	}
	for _, b := range ofType[*rbacv1.ClusterRoleBinding](t) {
		require.Contains(t, roles, b.RoleRef.Name, b.Name)
		require.NotEmpty(t, b.Subjects, b.Name)
	}
	for _, b := range ofType[*rbacv1.RoleBinding](t) {
		require.Contains(t, roles, b.RoleRef.Name, b.Name)
		require.NotEmpty(t, b.Subjects, b.Name)
	}
}

// TestSchema: the schema has the fields of the type, and the other way round.
func TestSchema(t *testing.T) {
	crd := ofType[*apiextensionsv1.CustomResourceDefinition](t)[0]
	require.Equal(t, preemptqueues.Resource.Group, crd.Spec.Group)
	require.Equal(t, preemptqueues.Resource.Resource, crd.Spec.Names.Plural)
	require.Equal(t, preemptqueues.Kind, crd.Spec.Names.Kind)
	version := crd.Spec.Versions[0]
	require.Equal(t, preemptqueues.Resource.Version, version.Name)
	require.NotNil(t, version.Subresources.Status)
	fields := version.Schema.OpenAPIV3Schema.Properties
	for name, of := range map[string]any{"spec": preemptqueues.Spec{}, "status": preemptqueues.Status{}} {
		var typed []string
		for i := range reflect.TypeOf(of).NumField() {
			field, _, _ := strings.Cut(reflect.TypeOf(of).Field(i).Tag.Get("json"), ",")
			typed = append(typed, field)
		}
		require.ElementsMatch(t, typed, slices.Collect(maps.Keys(fields[name].Properties)), name)
	}
	for name := range fields["spec"].Properties["properties"].Properties {
		config := queue.Config{Name: "root", Properties: map[string]string{name: "wrong"}}
		_, err := queue.New(schemaOf(t), config)
		require.ErrorContains(t, err, "wrong", "%s means nothing", name)
	}
}

func schemaOf(t *testing.T) *resources.Schema {
	schema, err := resources.NewSchema("cpu")
	require.NoError(t, err)
	return schema
}

// TestDeployment: the scheduler runs with no more rights than it needs, in pods that the
// budget and the spread mean, with memory enough for 1,000 nodes; see BenchmarkMemory.
func TestDeployment(t *testing.T) {
	d := ofType[*appsv1.Deployment](t)[0]
	pod := d.Spec.Template.Spec
	require.True(t, *pod.SecurityContext.RunAsNonRoot)
	require.Equal(t, "RuntimeDefault", string(pod.SecurityContext.SeccompProfile.Type))
	var volumes []string
	for _, v := range pod.Volumes {
		volumes = append(volumes, v.Name)
		require.Contains(t, kustomizations(t)[configFolder+"/second"].ConfigMapGenerator[0].Name, v.ConfigMap.Name)
	}
	for _, c := range pod.Containers {
		require.False(t, *c.SecurityContext.AllowPrivilegeEscalation)
		require.True(t, *c.SecurityContext.ReadOnlyRootFilesystem)
		require.Equal(t, "ALL", string(c.SecurityContext.Capabilities.Drop[0]))
		require.GreaterOrEqual(t, c.Resources.Requests.Memory().Value(), int64(600<<20))
		require.Equal(t, kustomizations(t)[configFolder+"/second"].Images[0].Name, c.Image)
		for _, m := range c.VolumeMounts {
			require.Contains(t, volumes, m.Name)
		}
	}
	selectors := []*metav1.LabelSelector{d.Spec.Selector, pod.TopologySpreadConstraints[0].LabelSelector}
	for _, b := range ofType[*policyv1.PodDisruptionBudget](t) {
		require.Less(t, b.Spec.MaxUnavailable.IntVal, *d.Spec.Replicas)
		selectors = append(selectors, b.Spec.Selector)
	}
	for _, s := range selectors {
		selector, err := metav1.LabelSelectorAsSelector(s)
		require.NoError(t, err)
		require.True(t, selector.Matches(labels.Set(d.Spec.Template.Labels)), "%v", s)
	}
}

// rules are a rule file of Prometheus.
type rules struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []struct {
			Alert, Expr, For    string
			Labels, Annotations map[string]string
		} `json:"rules"`
	} `json:"groups"`
}

// TestAlerts: alert rules are of metrics that the plugin has.
func TestAlerts(t *testing.T) {
	text, err := os.ReadFile(configFolder + "/observe/rules.yaml")
	require.NoError(t, err)
	var r rules
	require.NoError(t, yaml.UnmarshalStrict(text, &r))
	var names, all []string
	for _, g := range r.Groups {
		for _, rule := range g.Rules {
			require.NotContains(t, names, rule.Alert)
			names = append(names, rule.Alert)
			require.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
			require.Contains(t, []string{"warning", "critical"}, rule.Labels["severity"], rule.Alert)
			if rule.For != "" {
				_, err := time.ParseDuration(rule.For)
				require.NoError(t, err, rule.Alert)
			}
			all = append(all, served(t, rule.Alert, rule.Expr)...)
		}
	}
	for _, name := range []string{"audit_violations_total", "drift_total", "pods_not_mirrored_total"} {
		require.Contains(t, all, subsystem+"_"+name, "the README says to alert on it")
	}
}

// TestDashboard: the panels are of metrics that the plugin has, and no metric has none.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile(configFolder + "/observe/dashboard.json")
	require.NoError(t, err)
	var d struct {
		Title, UID string
		Panels     []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ RefID, Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(text, &d))
	require.NotEmpty(t, d.UID)
	var shown []string
	taken := map[[2]int]string{} // fields of the grid
	for _, p := range d.Panels {
		require.NotEmpty(t, p.Targets, p.Title)
		for _, target := range p.Targets {
			shown = append(shown, served(t, p.Title, target.Expr)...)
		}
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			require.Less(t, x, 24, p.Title)
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				require.Empty(t, taken[[2]int{x, y}], "%s lies on another panel", p.Title)
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
	for _, m := range allMetrics() {
		require.Contains(t, shown, m.FQName(), "no panel shows it")
	}
}

var (
	metricName = regexp.MustCompile(`\b[a-z][a-z0-9]*(_[a-z0-9]+)+\b`)
	ofPromQL   = []string{"histogram_quantile"}
)

// served returns the names of metrics in an expression. The plugin serves all of them, a
// histogram in three parts, and has help for each.
func served(t *testing.T, where, expr string) (names []string) {
	require.Equal(t, strings.Count(expr, "("), strings.Count(expr, ")"), "%s: %s", where, expr)
	var all []string
	for _, m := range allMetrics() {
		all = append(all, m.FQName())
	}
	for _, name := range metricName.FindAllString(strings.ReplaceAll(expr, "$__rate_interval", "5m"), -1) {
		if slices.Contains(ofPromQL, name) {
			continue
		}
		for _, part := range []string{"_bucket", "_sum", "_count"} {
			if base, ok := strings.CutSuffix(name, part); ok && slices.Contains(all, base) {
				name = base
			}
		}
		require.Contains(t, all, name, "%s: %s", where, expr)
		names = append(names, name)
	}
	require.NotEmpty(t, names, "%s: %s", where, expr)
	return names
}
