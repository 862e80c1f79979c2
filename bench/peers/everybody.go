// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/bench/peers/kubescheduler"
	"github.com/go-preempt/preempt/bench/peers/yunikorn"
	"github.com/go-preempt/preempt/internal/judge/exam"
)

// everybody returns who is examined, in the order of columns.
func everybody() []exam.Peer { return measured(exam.Meter{}) }

// measured returns everybody with a meter around their decisions.
func measured(m exam.Meter) []exam.Peer {
	return []exam.Peer{
		exam.Ours{Meter: m}, yunikorn.Peer{Meter: m}, kubescheduler.Peer{Meter: m}, kubescheduler.Peer{Sampled: true, Meter: m},
	}
}

// words are what each of everybody is called on the command line.
var words = []string{"ours", "yunikorn", "kube", "sampled"}

// peerOf returns the peer of a word.
func peerOf(word string) (exam.Peer, error) {
	for i, p := range everybody() {
		if words[i] == word {
			return p, nil
		}
	}
	return nil, fmt.Errorf("no peer %q: they are %s", word, strings.Join(words, ", "))
}
