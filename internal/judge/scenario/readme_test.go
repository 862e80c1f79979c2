// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every field of a document is explained in the README of the program that reads
// documents.
func TestFieldsAreExplained(t *testing.T) {
	text, err := os.ReadFile("../../../examples/plan/README.md")
	require.NoError(t, err)
	var document any
	require.NoError(t, json.Unmarshal([]byte(everything), &document))
	names := make(map[string]bool)
	collect(names, document)
	require.Greater(t, len(names), 70)
	var missing []string
	for name := range names {
		if !strings.Contains(string(text), `"`+name+`"`) && !strings.Contains(string(text), "`"+name+"`") {
			missing = append(missing, name)
		}
	}
	require.Empty(t, missing)
}

// named are the fields of which the fields are names of the document's own.
var named = map[string]bool{
	"resources": true, "guaranteed": true, "max": true, "min": true, "capacity": true, "waitingNonPreemptible": true, "miss": true,
	"target": true, "shortfall": true, "annotations": true, "labels": true, "nodeSelector": true, "placements": true, "moves": true, "counts": true,
	"properties": true, "pending": true, "jobMinimums": true,
}

// collect adds the names of all fields, but for those that documents choose.
func collect(names map[string]bool, v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			collect(names, item)
		}
	case map[string]any:
		for name, field := range v {
			names[name] = true
			switch field, isObject := field.(map[string]any); {
			case named[name] && isObject && name != "resources": // nothing in it is a field
			case name == "resources" && isObject:
				for _, bound := range []string{"guaranteed", "max"} {
					if _, ok := field[bound]; ok {
						names[bound] = true
					}
				}
			case name == "budgets" && isObject:
				for _, budget := range field {
					collect(names, budget)
				}
			default:
				collect(names, v[name])
			}
		}
	}
}
