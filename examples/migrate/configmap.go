// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/internal/scenario"
)

// Where YuniKorn's queues are if they are kept in Kubernetes.
const (
	kindConfigMap = "ConfigMap"
	queuesKey     = "queues.yaml"
)

// Why parts of a ConfigMap have no place in a document.
var configMapReasons = map[string]string{
	"metadata":  "it says nothing of queues",
	"immutable": "it says nothing of queues",
}

// configuration migrates the configuration of the scheduler: as it is, or
// inside the ConfigMap that holds it.
func (m *migration) configuration(v scenario.Value, partition string) {
	o := m.object(v, true)
	if kind, err := o.take("kind").Text(); err != nil || kind != kindConfigMap {
		m.scheduler(v, partition)
		return
	}
	o.take("apiversion")
	data := o.take("data")
	o.rest(configMapReasons)
	fields, err := data.Fields()
	m.failed(err)
	found := false
	for _, f := range fields {
		if f.Name() != queuesKey {
			m.leaveOut(f, "only "+queuesKey+" has queues")
			continue
		}
		found = true
		text, err := f.Text()
		m.failed(err)
		inner := source{f.Place() + " of " + f.File(), []byte(text)}
		q, err := inner.value()
		if errors.Is(err, errYAML) {
			// The command for a file of its own would not do here.
			m.fail(f, "%w: take it out and convert it: yq -r '.data[\"%s\"]' FILE | yq -o=json", errYAML, queuesKey)
			continue
		}
		m.failed(err)
		if err == nil {
			m.scheduler(q, partition)
		}
	}
	if !found {
		m.fail(v, "%w: data[%q]", scenario.ErrMissing, queuesKey)
	}
}

// errYAML is for a file that is to be JSON and is not.
var errYAML = errors.New("this is YAML, and JSON is wanted")

// value returns the only JSON value of a file.
func (s *source) value() (scenario.Value, error) {
	v, err := scenario.Read(s.name, s.data)
	return v, s.hint(err)
}

// hint replaces what is wrong with a text that looks like YAML by what to do
// about it.
func (s *source) hint(err error) error {
	if !errors.Is(err, scenario.ErrSyntax) || !looksLikeYAML(string(s.data)) {
		return err
	}
	command := "yq -o=json"
	if s.name != stdinName {
		command += " " + s.name
	}
	return fmt.Errorf("%s: %w: convert it: %s", s.name, errYAML, command)
}

// looksLikeYAML reports whether the first line of a text that says anything is
// that of a YAML document: a key with a colon, an item, or a mark of the
// beginning.
func looksLikeYAML(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, _, colon := strings.Cut(line, ":")
		word := colon && key != "" && !strings.ContainsAny(key, "{}[]\",\x00")
		return word || line == "---" || strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "%YAML")
	}
	return false
}
