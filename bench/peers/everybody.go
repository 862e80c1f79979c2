package main

import (
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/bench/peers/kubescheduler"
	"github.com/go-preempt/preempt/bench/peers/yunikorn"
	"github.com/go-preempt/preempt/internal/exam"
)

// everybody returns who is examined, in the order of columns.
func everybody() []exam.Peer {
	return []exam.Peer{exam.Ours{}, yunikorn.Peer{}, kubescheduler.Peer{}, kubescheduler.Peer{Sampled: true}}
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
