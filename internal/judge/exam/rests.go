// SPDX-License-Identifier: Apache-2.0

package exam

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/judge/scenario"
)

// enoughPlans is after how many plans a history that goes on is given up.
const enoughPlans = 100

// Rests are how some peers come to rest with the same documents.
type Rests struct {
	Peers []Rules
	Each  []Rest // in the order of the peers
}

// SettleAll lets each peer settle each document that it can be told.
func SettleAll(docs []*scenario.Document, peers ...Peer) (*Rests, error) {
	r := &Rests{}
	for _, p := range peers {
		var rest Rest
		for _, doc := range docs {
			if err := rest.Add(p, doc.Name, doc, enoughPlans); err != nil {
				return nil, err
			}
		}
		r.Peers, r.Each = append(r.Peers, p.Rules()), append(r.Each, rest)
	}
	return r, nil
}

// Write prints who comes to rest as a table of Markdown, and the shortest story of
// each peer that does not.
func (r *Rests) Write(w io.Writer) error {
	var b strings.Builder
	row := func(head string, cell func(*Rest) int) {
		fmt.Fprintf(&b, "| %s |", head)
		for i := range r.Each {
			fmt.Fprintf(&b, " %d |", cell(&r.Each[i]))
		}
		b.WriteByte('\n')
	}
	b.WriteString("| |")
	for i := range r.Peers {
		fmt.Fprintf(&b, " %s |", r.Peers[i].Name)
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|", len(r.Each)) + "\n")
	row("could be told", func(r *Rest) int { return r.Told })
	row("come to rest", func(r *Rest) int { return r.Quiet })
	row("**come back to a state they were in: a storm**", func(r *Rest) int { return r.Loops })
	row(fmt.Sprintf("go on after %d plans", enoughPlans), func(r *Rest) int { return r.Unsettled })
	row("plans in all", func(r *Rest) int { return r.Plans })
	row("most plans until rest", func(r *Rest) int { return r.Most })
	row("plans that made no room for their ask", func(r *Rest) int { return r.Wasted })
	for i := range r.Each {
		story := r.Each[i].Shortest
		if story == nil {
			continue
		}
		fmt.Fprintf(&b, "\nThe shortest storm of %s, in `%s`:\n\n", r.Peers[i].Name, r.Each[i].Paper)
		for n, line := range story.Lines {
			fmt.Fprintf(&b, "%d. %s\n", n+1, line)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// AsksOnly reports whether nothing but different asks is requested, nothing was
// granted before, and nobody is leaving: then a peer can settle the document.
func AsksOnly(doc *scenario.Document) bool {
	keys := make(map[string]bool)
	for i := range doc.Requests {
		r := &doc.Requests[i]
		if r.Kind != scenario.KindAsk || r.Repeat > 0 || keys[r.Ask.Key] {
			return false
		}
		keys[r.Ask.Key] = true
	}
	features := Features(doc)
	return !slices.Contains(features, FeatureGrants) && !slices.Contains(features, FeatureLeaving)
}
