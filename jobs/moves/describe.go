// SPDX-License-Identifier: Apache-2.0

package moves

import (
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/victims"
)

// Describe writes a line for each move, to go before what the decision says of itself.
func (p *Plan) Describe(c *victims.Cluster) string {
	var b strings.Builder
	for i := range p.Moves {
		m := &p.Moves[i]
		fmt.Fprintf(&b, "%s moves from %s to %s\n", plain.Name(m.Key), plain.Name(c.NodeName(m.From)), plain.Name(c.NodeName(m.To)))
	}
	return b.String()
}

// A moveReport is a [Move] for machines.
type moveReport struct {
	Key   string `json:"key"`
	From  string `json:"from"`
	To    string `json:"to"`
	Grant string `json:"grant"` // the key of its ask
}

// Report returns the moves for encoding/json, as a list.
func (p *Plan) Report(c *victims.Cluster) any {
	list := []moveReport{}
	for i := range p.Moves {
		m := &p.Moves[i]
		list = append(list, moveReport{Key: m.Key, From: c.NodeName(m.From), To: c.NodeName(m.To), Grant: m.Ask.Key})
	}
	return list
}
