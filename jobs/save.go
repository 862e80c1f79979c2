// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/saved"
)

// roundLine is a round that is under way, or what completed ones have left behind.
type roundLine struct {
	Job      string    `json:"job"`
	Began    time.Time `json:"began,omitzero"`
	Deadline time.Time `json:"deadline,omitzero"`
	Victims  []string  `json:"victims,omitempty"` // that are waited for
	Gone     []string  `json:"gone,omitempty"`    // that were acknowledged
	Quota    []string  `json:"quota,omitempty"`   // those of them that make room under an allowance
	Grants   []string  `json:"grants,omitempty"`  // in the order of the change

	Places map[string]string `json:"places,omitempty"` // grants of victims that move
}

// Save writes the rounds as [victims.Cluster.Save] does. Times after the year 9999 are
// errors, too.
func (r *Rounds) Save(w io.Writer) error {
	x := saved.NewWriter(w)
	start := x.Begin("rounds")
	// Sorted, so that equal rounds are equal texts.
	for _, job := range slices.Sorted(maps.Keys(r.live)) {
		round := r.live[job]
		l := roundLine{Job: job, Began: round.began, Deadline: round.deadline, Grants: round.grants}
		for _, v := range round.victims {
			list := &l.Victims
			if v.gone {
				list = &l.Gone
			}
			*list = append(*list, v.key)
			if v.quota {
				l.Quota = append(l.Quota, v.key)
			}
			if v.place != "" {
				if l.Places == nil {
					l.Places = make(map[string]string)
				}
				l.Places[v.key] = v.place
				x.Check("grant", v.place)
			}
			x.Check("victim", v.key)
		}
		x.Check("job", job)
		x.Check("grant", l.Grants...)
		x.Line("round", l)
	}
	for _, job := range slices.Sorted(maps.Keys(r.held)) {
		x.Check("job", job)
		x.Check("grant", r.held[job]...)
		if keys := r.held[job]; len(keys) > 0 {
			x.Line("held", roundLine{Job: job, Grants: keys})
		}
	}
	if err := x.End(start); err != nil {
		return fmt.Errorf("jobs: save: %w", err)
	}
	return nil
}

// Load reads what [Rounds.Save] has written. Set Cluster to the loaded one before. Errors
// are those of [victims.Load], and a victim of two rounds; they change nothing.
func (r *Rounds) Load(from io.Reader) error {
	// Apart, for an error must change nothing.
	x := Rounds{Cluster: r.Cluster, live: make(map[string]*round), waited: make(map[string]string), held: make(map[string][]string)}
	if err := x.load(saved.NewReader(from)); err != nil {
		return fmt.Errorf("jobs: load: %w", err)
	}
	*r = x
	return nil
}

func (r *Rounds) load(x *saved.Reader) error {
	start, err := x.Begin("rounds")
	if err != nil {
		return err
	}
	for {
		word, err := x.Next(start)
		if err != nil || word == "" {
			return err
		}
		var l roundLine
		if word != "round" && word != "held" {
			return x.Unknown(word)
		}
		if err = x.Decode(&l); err != nil {
			return err
		}
		if err = r.add(word, &l); err != nil {
			return x.Errorf("%w", err)
		}
	}
}

// add adds what a line says.
func (r *Rounds) add(word string, l *roundLine) error {
	bad := func(key string, err error) error { return &roundError{Job: l.Job, Victim: key, Err: err} }
	switch {
	case l.Job == "":
		return bad("", errNoJob)
	case word == "held" && (r.held[l.Job] != nil || len(l.Victims)+len(l.Gone) > 0),
		word == "round" && r.live[l.Job] != nil:
		return bad("", ErrUnderWay)
	case word == "held":
		r.held[l.Job] = l.Grants
		return nil
	}
	x := &round{began: l.Began, deadline: l.Deadline, grants: l.Grants}
	for _, key := range l.Gone {
		x.victims = append(x.victims, roundVictim{key: key, gone: true})
	}
	for _, key := range l.Victims {
		if _, taken := r.waited[key]; taken {
			return bad(key, errTaken)
		}
		r.waited[key] = l.Job
		x.victims = append(x.victims, roundVictim{key: key})
	}
	slices.SortFunc(x.victims, func(a, b roundVictim) int { return strings.Compare(a.key, b.key) })
	// A victim is found by its key.
	for i, v := range x.victims[min(1, len(x.victims)):] {
		if v.key == x.victims[i].key {
			return bad(v.key, errTaken)
		}
	}
	for _, key := range l.Quota {
		i, ok := slices.BinarySearchFunc(x.victims, key, roundVictim.compare)
		if !ok {
			return bad(key, ErrVictim)
		}
		x.victims[i].quota = true
	}
	for _, key := range slices.Sorted(maps.Keys(l.Places)) {
		i, ok := slices.BinarySearchFunc(x.victims, key, roundVictim.compare)
		if !ok {
			return bad(key, ErrVictim)
		}
		x.victims[i].place = l.Places[key]
	}
	r.live[l.Job] = x
	return nil
}
