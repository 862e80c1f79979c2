// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/go-preempt/preempt/resources"
)

// A node, what runs on it, and what may still come.
func Example() {
	schema, err := resources.NewSchema("cpu", "memory", "gpu")
	if err != nil {
		log.Fatal(err)
	}
	capacity, err := schema.Parse("cpu=8 memory=32Gi gpu=2")
	if err != nil {
		log.Fatal(err)
	}
	task, err := schema.Parse("cpu=2500m memory=10Gi")
	if err != nil {
		log.Fatal(err)
	}

	free := resources.Sub(nil, capacity, nil) // a copy
	for resources.Fits(task, free) {
		free = resources.Sub(free, free, task)
		fmt.Println("free:", schema.Format(free))
	}
	// Output:
	// free: cpu=5.5 memory=22Gi gpu=2
	// free: cpu=3 memory=12Gi gpu=2
	// free: cpu=0.5 memory=2Gi gpu=2
}

func ExampleNewSchema() {
	schema, err := resources.NewSchema("cpu", "memory")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(schema.Len(), schema.Name(1))

	_, err = resources.NewSchema("cpu", "memory", "cpu")
	fmt.Println(err)
	// Output:
	// 2 memory
	// resources: type "cpu": named twice
}

func ExampleSchema_Index() {
	schema, _ := resources.NewSchema("cpu", "memory")
	i, ok := schema.Index("memory")
	fmt.Println(i, ok, schema.Name(i))
	_, ok = schema.Index("gpu")
	fmt.Println(ok)
	// Output:
	// 1 true memory
	// false
}

// Write amounts as text: 8 cores are 8000 in base units, which a Vector has.
func ExampleSchema_Parse() {
	schema, _ := resources.NewSchema("cpu", "memory", "gpu")
	v, err := schema.Parse("gpu=1 cpu=8 memory=64Gi")
	fmt.Println(v, err)
	fmt.Println(schema.Format(v))

	_, err = schema.Parse("gpu=0.5 disk=1 memory")
	fmt.Println(err)
	// Output:
	// [8000 68719476736 1] <nil>
	// cpu=8 memory=64Gi gpu=1
	// resources: gpu: quantity "0.5": not a whole number of base units
	// resources: type "disk": unknown
	// resources: "memory": want a type and a quantity, as in cpu=500m
}

// A bound of zero is a bound; a type that is not named has none.
func ExampleSchema_ParseLimit() {
	schema, _ := resources.NewSchema("cpu", "memory", "gpu")
	limit, err := schema.ParseLimit("cpu=2 gpu=0")
	if err != nil {
		log.Fatal(err)
	}
	for i := range schema.Len() {
		bound, ok := limit.Bound(i)
		fmt.Println(schema.Name(i), bound, ok)
	}
	// Output:
	// cpu 2000 true
	// memory 0 false
	// gpu 0 true
}

func ExampleSchema_Mask() {
	schema, _ := resources.NewSchema("cpu", "memory", "gpu")
	m, err := schema.Mask("gpu", "cpu")
	fmt.Println(m.Has(0), m.Has(1), m.Has(2), err)
	_, err = schema.Mask("gpus")
	fmt.Println(err)
	// Output:
	// true false true <nil>
	// resources: type "gpus": unknown
}

func ExampleSchema_Vector() {
	schema, _ := resources.NewSchema("cpu", "memory", "gpu")
	v, err := schema.Vector(map[string]string{"memory": "1Ki", "cpu": "1.5"})
	fmt.Println(v, err)

	_, err = schema.Vector(map[string]string{"gpu": "0.5", "disk": "1", "memory": "4 Gi"})
	fmt.Println(err)
	// Output:
	// [1500 1024 0] <nil>
	// resources: type "disk": unknown
	// resources: gpu: quantity "0.5": not a whole number of base units
	// resources: memory: quantity "4 Gi": malformed
}

func ExampleSchema_Limit() {
	schema, _ := resources.NewSchema("cpu", "memory", "gpu")
	limit, err := schema.Limit(map[string]string{"cpu": "2", "gpu": "0"})
	fmt.Println(schema.FormatLimit(limit), err)
	// Output:
	// cpu=2 gpu=0 <nil>
}

func ExampleSchema_Format() {
	schema, _ := resources.NewSchema("cpu", "memory", "gpu")
	fmt.Println(schema.Format(resources.Vector{500, 10 << 30, 0}))
	fmt.Println(schema.Format(resources.Vector{-2000, 0, 1}))
	fmt.Println(schema.Format(nil))
	// Output:
	// cpu=0.5 memory=10Gi
	// cpu=-2 gpu=1
	// none
}

func ExampleSchema_FormatLimit() {
	schema, _ := resources.NewSchema("cpu", "memory", "gpu")
	limit, _ := schema.ParseLimit("gpu=0 cpu=500m")
	fmt.Println(schema.FormatLimit(limit))
	fmt.Println(schema.FormatLimit(resources.Limit{}))
	// Output:
	// cpu=0.5 gpu=0
	// none
}

func ExampleParseQuantity() {
	for _, q := range []struct{ typeName, text string }{
		{"cpu", "1.5"},
		{"cpu", "500m"},
		{"memory", "10Gi"},
		{"memory", "1e3"},
		{"memory", "1E"},
	} {
		amount, err := resources.ParseQuantity(q.typeName, q.text)
		fmt.Println(q.typeName, q.text, amount, err)
	}
	// Output:
	// cpu 1.5 1500 <nil>
	// cpu 500m 500 <nil>
	// memory 10Gi 10737418240 <nil>
	// memory 1e3 1000 <nil>
	// memory 1E 1000000000000000000 <nil>
}

func ExampleParseQuantity_errors() {
	for _, text := range []string{"1.5.0", "-1", "0.5", "8Ei"} {
		_, err := resources.ParseQuantity("gpu", text)
		fmt.Println(err)
	}
	_, err := resources.ParseQuantity("gpu", "0.5")
	fmt.Println(errors.Unwrap(err))
	// Output:
	// resources: gpu: quantity "1.5.0": malformed
	// resources: gpu: quantity "-1": negative
	// resources: gpu: quantity "0.5": not a whole number of base units
	// resources: gpu: quantity "8Ei": above 9223372036854775807 base units
	// not a whole number of base units
}

func ExampleFormatQuantity() {
	fmt.Println(resources.FormatQuantity("cpu", 2000), resources.FormatQuantity("cpu", 2500))
	fmt.Println(resources.FormatQuantity("memory", 10<<30), resources.FormatQuantity("memory", 1000))
	fmt.Println(resources.FormatQuantity("gpu", 1024))
	// Output:
	// 2 2500m
	// 10Gi 1000
	// 1024
}
