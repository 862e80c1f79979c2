// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/klog/v2"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	"sigs.k8s.io/yaml"

	"github.com/go-preempt/preempt/examples/kubernetes/preemptqueues"
)

// Check reads files as a scheduler would, without a cluster, and writes what it found to
// w: the queues of each, and what is doubtful in them. The first file is a
// KubeSchedulerConfiguration with the plugin in a profile. Each other one has queues for
// it: a ConfigMap, or what such a one has under queues.yaml, or PreemptQueues. Those of all
// files make one tree, as if none of them was there yet. The error tells all mistakes of all
// files.
func Check(w io.Writer, files ...string) error {
	if len(files) == 0 {
		return errors.New("no file to check: give a KubeSchedulerConfiguration, and then files with queues")
	}
	args, err := readArgs(files[0])
	if err != nil {
		return fmt.Errorf("%s: %w", files[0], err)
	}
	var mistakes []error
	tell := func(of string, s *setup) {
		fmt.Fprintf(w, "%s: ok\n%s", of, s.tree)
		for _, warning := range s.tree.Warnings() {
			fmt.Fprintf(w, "%s: warning: %v\n", of, warning)
		}
	}
	base, err := args.check()
	if err != nil {
		mistakes = append(mistakes, fmt.Errorf("%s: %w", files[0], err))
	} else {
		tell(files[0], base)
	}
	var objects queueFiles
	for _, file := range files[1:] {
		text, err := os.ReadFile(file)
		if err != nil {
			mistakes = append(mistakes, err)
			continue
		}
		found, err := objects.read(file, text)
		var s *setup
		if err == nil && !found {
			s, err = readTree(args, text)
		}
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("%s: %w", file, err))
		} else if s != nil {
			tell(file, s)
		}
	}
	if len(objects.list) > 0 && base != nil {
		s, wrong := objects.put(base)
		mistakes = append(mistakes, wrong...)
		if s != nil {
			tell(preemptqueues.Resource.Resource, s)
		}
	}
	return errors.Join(mistakes...)
}

// queueFiles are PreemptQueues of files.
type queueFiles struct {
	list []*preemptqueues.PreemptQueue
	file map[*preemptqueues.PreemptQueue]string
}

// read reads the PreemptQueues of a file, and reports whether it has any. Objects of other
// kinds may be there as well.
func (m *queueFiles) read(file string, text []byte) (found bool, err error) {
	var mistakes []error
	for docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return found, errors.Join(mistakes...)
		}
		if err != nil {
			return found, err
		}
		var kind metav1.TypeMeta
		if yaml.Unmarshal(doc, &kind) != nil || kind.Kind != preemptqueues.Kind {
			if found && (kind.Kind == "" || kind.APIVersion == "") && len(bytes.TrimSpace(doc)) > 0 {
				mistakes = append(mistakes, errors.New("a document that is no object of the API"))
			}
			continue
		}
		found = true
		o := &preemptqueues.PreemptQueue{}
		raw, err := yaml.YAMLToJSONStrict(doc)
		if err == nil {
			err = strictly(raw, o)
		}
		switch {
		case err != nil:
			mistakes = append(mistakes, err)
		case o.APIVersion != preemptqueues.GroupVersion.String():
			mistakes = append(mistakes, fmt.Errorf("%s: apiVersion is %q, not %s", o.Name, o.APIVersion, preemptqueues.GroupVersion))
		case o.Namespace == "":
			mistakes = append(mistakes, fmt.Errorf("%s: no namespace", o.Name))
		default:
			o.Status = preemptqueues.Status{}
			if m.file == nil {
				m.file = map[*preemptqueues.PreemptQueue]string{}
			}
			m.list, m.file[o] = append(m.list, o), file
		}
	}
}

// put returns the tree of all objects, and which of them are not as they say. There is no
// tree if the arguments want no objects.
func (m *queueFiles) put(base *setup) (s *setup, mistakes []error) {
	if base.args.QueuesNamespace == "" {
		return nil, []error{fmt.Errorf("%s: queuesNamespace: empty, so no %s is read", m.file[m.list[0]], preemptqueues.Kind)}
	}
	a := assembly(base)
	root, verdicts := a.Put(m.list)
	for _, v := range verdicts {
		if v.Reason != preemptqueues.ReasonAsSpecified {
			mistakes = append(mistakes, fmt.Errorf("%s: %s/%s: %s", m.file[v.Object], v.Object.Namespace, v.Object.Name, v.Message))
		}
	}
	s, err := base.args.setup(a.Schema, root, nil)
	if err != nil {
		mistakes = append(mistakes, err)
	}
	return s, mistakes
}

// readArgs returns the arguments that all profiles of a configuration agree on.
func readArgs(file string) (*Args, error) {
	c, err := scheduler.LoadConfigFromFile(klog.Background(), file)
	if err != nil {
		return nil, err
	}
	if err := validation.ValidateKubeSchedulerConfiguration(c); err != nil {
		return nil, err
	}
	var args *Args
	before := ""
	for i := range c.Profiles {
		of, found, err := profileArgs(&c.Profiles[i])
		if err != nil {
			return nil, fmt.Errorf("profile %q: %w", c.Profiles[i].SchedulerName, err)
		}
		if !found {
			continue
		}
		text, err := json.Marshal(of)
		if err != nil {
			return nil, err
		}
		if args != nil && string(text) != before {
			return nil, fmt.Errorf("profile %q gives %s other arguments than one before it; they share the queues", c.Profiles[i].SchedulerName, Name)
		}
		args, before = of, string(text)
	}
	if args == nil {
		return nil, fmt.Errorf("no profile enables %s", Name)
	}
	return args, nil
}

// profileArgs returns the arguments that a profile gives the plugin, and whether it
// enables it.
func profileArgs(p *config.KubeSchedulerProfile) (args *Args, enabled bool, err error) {
	if p.Plugins != nil {
		for _, set := range []config.PluginSet{p.Plugins.MultiPoint, p.Plugins.PostFilter} {
			for _, e := range set.Enabled {
				enabled = enabled || e.Name == Name
			}
		}
	}
	if !enabled {
		return nil, false, nil
	}
	for _, c := range p.PluginConfig {
		if c.Name == Name {
			args, err = decode(c.Args)
			return args, true, err
		}
	}
	args, err = decode(nil)
	return args, true, err
}

// readTree returns what the arguments mean with the queues of a text.
func readTree(args *Args, text []byte) (*setup, error) {
	var m v1.ConfigMap
	if yaml.Unmarshal(text, &m) == nil && m.Kind == "ConfigMap" {
		tree, ok := m.Data[queuesKey]
		if !ok {
			return nil, fmt.Errorf("the ConfigMap %s/%s has no key %s", m.Namespace, m.Name, queuesKey)
		}
		text = []byte(tree)
	}
	return args.withQueues(string(text))
}
