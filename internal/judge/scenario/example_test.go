// SPDX-License-Identifier: Apache-2.0

package scenario_test

import (
	"errors"
	"fmt"

	"github.com/go-preempt/preempt/internal/judge/scenario"
)

func ExampleParse() {
	doc, err := scenario.Parse("small.json", []byte(`{
		"name": "small",
		"queues": {"name": "root", "queues": [{"name": "a"}, {"name": "b"}]},
		"nodes": [{"name": "n1", "capacity": {"memory": "1Ki", "cpu": "2"}}],
		"tasks": [{"key": "t1", "queue": "root.a", "application": "app", "node": "n1", "resources": {"cpu": "1500m"}}],
		"requests": [{"ask": {"key": "x", "queue": "root.b", "application": "other", "resources": {"cpu": "1"}}}]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range doc.Schema.Len() {
		fmt.Println(doc.Schema.Name(i), doc.Nodes[0].Capacity[i], doc.Tasks[0].Resources[i])
	}
	fmt.Println(doc.Tasks[0].Age, doc.Requests[0].Kind, doc.Requests[0].Then)
	// Output:
	// cpu 2000 1500
	// memory 1024 0
	// 1h0m0s ask finish
}

func ExampleError() {
	_, err := scenario.Parse("bad.json", []byte(`{
		"name": "bad",
		"queues": {"name": "root", "queues": [{"name": "a", "resources": {"max": {"cpu": "4x"}}}]}
	}`))
	fmt.Println(err)
	if e, ok := errors.AsType[*scenario.Error](err); ok {
		fmt.Println(e.Path, e.Value, errors.Is(err, scenario.ErrValue))
	}
	// Output:
	// bad.json: queues.queues[0].resources.max.cpu: "4x": bad value: quantity malformed
	// queues.queues[0].resources.max.cpu "4x" true
}
