// SPDX-License-Identifier: Apache-2.0

package internal

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

var (
	headingLine = regexp.MustCompile(`(?m)^##+ (?:\d+\. )?(.+)$`)
	headingLink = regexp.MustCompile(`\(#([^)]*)\)`)
	fileLink    = regexp.MustCompile(`DESIGN\.md#([a-z0-9-]+)`)
	citation    = regexp.MustCompile(`DESIGN\.md, (\S)`)
	oldCitation = regexp.MustCompile(`(?i)\b(?:sections? [0-9]|steps? [0-9]\b)|\(design,|\bdesign section`)
)

// anchor returns what a link to a heading ends in, as renderers of Markdown
// make it.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ' || r == '-':
			return '-'
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// anchors returns those of all headings of a page but its title, in order.
func anchors(page string) (list []string) {
	for _, m := range regexp.MustCompile(`(?m)^##+ (.+)$`).FindAllStringSubmatch(page, -1) {
		list = append(list, anchor(m[1]))
	}
	return list
}

// headings returns the headings of a page but its title, without numbers.
func headings(page string) (list []string) {
	for _, m := range headingLine.FindAllStringSubmatch(page, -1) {
		list = append(list, m[1])
	}
	return list
}

// badCitations returns the citations of the design in a text that name none of
// its headings. Lines of a comment are joined first.
func badCitations(text string, known []string) (bad []string) {
	text = strings.Join(strings.Fields(text), " ")
	for _, m := range citation.FindAllStringSubmatchIndex(text, -1) {
		rest := text[m[2]:]
		if !slices.ContainsFunc(known, func(h string) bool { return citesHeading(rest, h, known) }) {
			bad = append(bad, rest[:min(len(rest), 40)])
		}
	}
	return bad
}

// citesHeading reports whether the text begins with a heading. A colon may
// follow, unless other headings go on with one: "Quota: leaf" does not cite the
// heading Quota.
func citesHeading(text, heading string, known []string) bool {
	rest, ok := strings.CutPrefix(text, heading)
	if !ok || rest == "" {
		return ok
	}
	if next := rune(rest[0]); next != ':' {
		return !unicode.IsLetter(next) && !unicode.IsDigit(next)
	}
	return !slices.ContainsFunc(known, func(h string) bool { return strings.HasPrefix(h, heading+":") })
}

// oldCitations returns what a text cites by a number or of a page without a
// name: nobody can follow that.
func oldCitations(text string) []string {
	return oldCitation.FindAllString(strings.Join(strings.Fields(text), " "), -1)
}

func readPage(t *testing.T, name string) string {
	page, err := os.ReadFile(filepath.Join("..", name))
	require.NoError(t, err)
	return string(page)
}

// TestDesign_Chapters: the first lines link every chapter once, in order, and no two headings
// have the same name.
func TestDesign_Chapters(t *testing.T) {
	page := readPage(t, "DESIGN.md")
	first, _, found := strings.Cut(page, "\n## ")
	require.True(t, found)
	var listed, want []string
	for _, m := range headingLink.FindAllStringSubmatch(first, -1) {
		listed = append(listed, m[1])
	}
	for _, m := range regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(page, -1) {
		want = append(want, anchor(m[1]))
	}
	if diff := cmp.Diff(want, listed); diff != "" {
		t.Errorf("chapters and links differ (-chapters +links):\n%s", diff)
	}
	names := headings(page)
	all := len(names)
	slices.Sort(names)
	require.Len(t, slices.Compact(names), all, "two headings have the same name")
}

// TestDesign_Citations: who cites the design, in a comment or by a link, names a
// heading that is there.
func TestDesign_Citations(t *testing.T) {
	page := readPage(t, "DESIGN.md")
	known, targets := headings(page), anchors(page)
	for _, files := range readModule(t) {
		for _, s := range files {
			for _, group := range s.Comments {
				for _, bad := range badCitations(group.Text(), known) {
					t.Errorf("%s: DESIGN.md has no heading %q", s.fset.Position(group.Pos()), bad)
				}
				for _, bad := range oldCitations(group.Text()) {
					t.Errorf("%s: cite a heading of DESIGN.md instead of %q", s.fset.Position(group.Pos()), bad)
				}
			}
		}
	}
	for name, text := range readPages(t) {
		for _, bad := range badCitations(text, known) {
			t.Errorf("%s: DESIGN.md has no heading %q", name, bad)
		}
		for _, m := range fileLink.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(targets, m[1]) {
				t.Errorf("%s: DESIGN.md has no anchor %q", name, m[1])
			}
		}
		if name == "DESIGN.md" {
			for _, m := range headingLink.FindAllStringSubmatch(text, -1) {
				if !slices.Contains(targets, m[1]) {
					t.Errorf("%s: there is no anchor %q", name, m[1])
				}
			}
		}
	}
}

// readPages returns the pages of the repository by their names, slashed.
func readPages(t *testing.T) map[string]string {
	pages := make(map[string]string)
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil || file == ".." {
			return err
		}
		if d.IsDir() && d.Name()[0] == '.' {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(file) != ".md" {
			return nil
		}
		name, err := filepath.Rel("..", file)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(file)
		pages[filepath.ToSlash(name)] = string(text)
		return err
	})
	require.NoError(t, err)
	return pages
}

func TestBadCitations(t *testing.T) {
	known := []string{"Cost", "Quota", "Quota: leaf", "The seven laws"}
	for _, c := range []struct {
		text string
		bad  []string
	}{
		{"the levels (DESIGN.md, Cost).", nil},
		{"as DESIGN.md, The\nseven laws, has it", nil},
		{"DESIGN.md, Quota: leaf", nil},
		{"DESIGN.md, Cost: the levels", nil},
		{"DESIGN.md, Quota: leaves", []string{"Quota: leaves"}},
		{"DESIGN.md, section 5", []string{"section 5"}},
		{"DESIGN.md, Costs", []string{"Costs"}},
		{"DESIGN.md, Cost; DESIGN.md, Gains", []string{"Gains"}},
	} {
		if diff := cmp.Diff(c.bad, badCitations(c.text, known)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestOldCitations(t *testing.T) {
	for text, want := range map[string][]string{
		"as section\n5.4 has it":            {"section 5"},
		"(Step 3) of it, and steps 4 to 6":  {"Step 3", "steps 4"},
		"what it says (Design, section 6)":  {"(Design,", "section 6"},
		"(DESIGN.md, Cost) within 64 steps": nil,
		"sections of a page, step by step":  nil,
	} {
		if diff := cmp.Diff(want, oldCitations(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

var pageLink = regexp.MustCompile(`\]\(([^)#: ]+)(#[^) ]*)?\)`)

// TestPages_Links: links between files of the repository lead somewhere.
func TestPages_Links(t *testing.T) {
	pages := readPages(t)
	for name, text := range pages {
		for _, m := range pageLink.FindAllStringSubmatch(text, -1) {
			target := filepath.ToSlash(filepath.Join(filepath.Dir(name), m[1]))
			if _, err := os.Stat(filepath.Join("..", target)); err != nil {
				t.Errorf("%s: link to %s: %v", name, m[1], err)
				continue
			}
			if page, ok := pages[target]; ok && m[2] != "" && !slices.Contains(anchors(page), m[2][1:]) {
				t.Errorf("%s: %s has no anchor %s", name, target, m[2])
			}
		}
	}
}
