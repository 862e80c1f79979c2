// SPDX-License-Identifier: Apache-2.0

package internal

import (
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// private has words that only this code had for an idea, and those to write instead.
// CONTRIBUTING.md has a table of the words that there are.
var private = map[string]string{
	"sieve":   "lawful: what laws let go",
	"hearing": "decision, or judge",
	"crew":    "gang",
	"mixture": "surrogate constraint",
	"posed":   "stated",
	"tops":    "sums of the largest",
	"lesson":  "guide, or prices that are kept",
}

// privateParts are likewise, but words of English unless they are parts of longer names.
var privateParts = map[string]string{
	"heard": "searched, or asked",
	"vain":  "needless, or missed",
}

var (
	aName = regexp.MustCompile(`[A-Za-z0-9_]+`)
	aPart = regexp.MustCompile(`[A-Z]*[a-z]+|[A-Z]+`)
)

// privateIn returns the private words in a text, also as parts of names such as oneTwo.
func privateIn(text string) (words []string) {
	for _, name := range aName.FindAllString(text, -1) {
		parts := aPart.FindAllString(name, -1)
		for _, part := range parts {
			word := strings.ToLower(part)
			if one := strings.TrimSuffix(word, "s"); private[one] != "" {
				word = one
			}
			if private[word] != "" || len(parts) > 1 && privateParts[word] != "" {
				words = append(words, word)
			}
		}
	}
	return words
}

// TestPrivateWords: names and comments use the words of the field, which a reader can look up.
func TestPrivateWords(t *testing.T) {
	instead := maps.Clone(private)
	maps.Copy(instead, privateParts)
	for _, files := range readModule(t) {
		for _, s := range files {
			complain := func(at ast.Node, text string) {
				for _, word := range privateIn(text) {
					t.Errorf("%s: %q: write %s", s.fset.Position(at.Pos()), word, instead[word])
				}
			}
			if s.base() == "names_test.go" {
				continue // it has them all
			}
			complain(s.File, s.base())
			for _, group := range s.Comments {
				complain(group, group.Text())
			}
			ast.Inspect(s.File, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					complain(id, id.Name)
				}
				return true
			})
		}
	}
	for name, text := range readPages(t) {
		for _, word := range privateIn(text) {
			t.Errorf("%s: %q: write %s", name, word, instead[word])
		}
	}
}

func TestPrivateIn(t *testing.T) {
	for text, want := range map[string][]string{
		"proposed, supposed, a topic on top": nil,
		"nobody heard of it, in vain":        nil,
		"keptTops":                           {"tops"},
		"topsTell and Sieves, PosedUnits":    {"tops", "sieve", "posed"},
		"heardPlain, goesInVain":             {"heard", "vain"},
		"sieve_test.go":                      {"sieve"},
	} {
		require.Equal(t, want, privateIn(text), text)
	}
	for _, word := range slices.Concat(slices.Collect(maps.Keys(private)), slices.Collect(maps.Keys(privateParts))) {
		require.NotEmpty(t, privateIn("of"+strings.ToUpper(word[:1])+word[1:]), word)
	}
}
