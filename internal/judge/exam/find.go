// SPDX-License-Identifier: Apache-2.0

package exam

import (
	"errors"
	"fmt"
	"slices"
)

// errNone is the error that no paper shows what is looked for.
var errNone = errors.New("exam: no paper shows it")

// Find returns the first of some papers that shows a fault of a peer, which is
// named by its word or by the text of its row, with the judgement. The paper is
// as the peer was judged by it, with a text of its own: without offsets if the
// peer knows none, for instance.
func Find(p Peer, papers []Paper, fault string) (*Paper, *Judgement, error) {
	named := func(f Fault) bool { return string(f) == fault || f.String() == fault }
	rules := p.Rules()
	for i := range papers {
		j, err := Judge(p, &papers[i])
		if errors.Is(err, ErrCannot) {
			continue
		} else if err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(j.Faults, named) {
			shown, err := paperAt(rules.read(papers[i].Doc), 0)
			return shown, j, err
		}
	}
	return nil, nil, fmt.Errorf("%w: %s of %s", errNone, fault, rules.Name)
}
