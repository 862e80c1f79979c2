// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/victims"
)

// blocks returns the blocks of README.md in a language.
func blocks(t *testing.T, language string) (all []string) {
	t.Helper()
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```" + language + "\n(.*?)```")
	for _, m := range block.FindAllStringSubmatch(string(text), -1) {
		all = append(all, m[1])
	}
	return all
}

// The documents that README.md shows are decided as it says.
func TestReadme_Documents(t *testing.T) {
	small := blocks(t, "json")
	require.Len(t, small, 2, "a document and its result")
	require.Equal(t, outputs{decided, small[1], ""}, call(small[0], "-json", "-"))

	every := blocks(t, "jsonc")
	require.Len(t, every, 1)
	bare := regexp.MustCompile(`(?m)\s*//.*$`).ReplaceAllString(every[0], "")
	require.Equal(t, outputs{decided, "1 passed, 0 failed\n", ""}, call(bare, "-check", "-"))
}

// README.md lists every word that a result may have for a reason or a rule.
func TestReadme_Words(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var words []fmt.Stringer
	for r := victims.InFlight; r <= victims.PredicateRefused; r++ {
		words = append(words, r)
	}
	for r := victims.InFlight; r <= victims.Unlawful; r++ {
		words = append(words, r)
	}
	for r := victims.RuleLeaving; r < victims.NumRules; r++ {
		words = append(words, r)
	}
	for r := victims.RuleLeaving; r < victims.NumRules; r++ {
		words = append(words, r)
	}
	for r := victims.RuleGuarantee; r < victims.NumRules; r++ {
		words = append(words, r)
	}
	for _, word := range words {
		require.Contains(t, string(text), "`"+word.String()+"`")
	}
}
