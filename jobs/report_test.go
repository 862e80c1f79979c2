// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/golden"
)

// The texts that programs get, to be read: testdata/report.golden.
func TestReport_Golden(t *testing.T) {
	const queues = "queue q\nqueue low\n"
	var b strings.Builder
	for _, test := range []struct{ name, town string }{
		{"fits", queues + "node n1 4/1\njob q 2/1,1,1 min=1"},
		{"waits", queues + "node n1 4\ntask v low n1 4 state=releasing\njob q 4"},
		{"plan", "queue q max=12\nqueue low\nnode n1 4\nnode n2 8\n" +
			"task a low n1 2 p=3 opted originator\ntask b low n1 2 job=g p=3\ntask c low n1 0 job=g p=3\nkeep g 1\ntask d q n2 8 job=h\ntask e low n2 0 job=h p=-2\nkeep h 2\njob q 4,8"},
		{"refused", queues + "node n1 4\ntask v low n1 2 until=5m\ntask w low n1 2 fixed\njob q 1,2,2"},
	} {
		w := build(t, test.town)
		report := w.decide()
		text, err := json.Marshal(report)
		require.NoError(t, err)
		var indented bytes.Buffer
		require.NoError(t, json.Indent(&indented, text, "", " "))
		fmt.Fprintf(&b, "== %s\n%s\n", test.name, &indented)
	}
	// How many steps it takes is the search's affair.
	text := regexp.MustCompile(`"steps": [1-9][0-9]*`).ReplaceAllString(b.String(), `"steps": 1`)
	golden.Compare(t, "testdata/report.golden", text)
}
