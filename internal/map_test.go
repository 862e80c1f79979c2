// SPDX-License-Identifier: Apache-2.0

package internal

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	// mapLink is a link to a file of the repository: [Veto](victims/eligible.go).
	mapLink = regexp.MustCompile(`\[([^\]\n]+)\]\(([^)#: \n]+\.go)\)`)
	// mapCode is what stands in backticks.
	mapCode = regexp.MustCompile("`([^`\n]+)`")
	// mapFile is a file or a group of files: search_*, audit*, plan.go, a/b.go.
	mapFile = regexp.MustCompile(`^[a-z_/]+(\*|\.go)$`)
	mapName = regexp.MustCompile(`^[A-Za-z]\w*(\.\w+)?$`)
	// mapPair is a name and where it is, in a recipe: "`boundNode` and `quicklyBeaten` in `victims/plan_bound.go`".
	mapPair = regexp.MustCompile("((?:`\\w+`(?:, | or | and )?)+)\\s+(?:in|of)\\s+`([a-z_/]+\\.go)`")
)

// lost returns what a page says of files that is not so: names of files that do not
// exist, and functions that are not in the file that is said to have them. Files
// are named from the root, or from one of the given directories. A name is in a
// file if that has the word in its code.
func lost(page string, files map[string]string, dirs []string) (complaints []string) {
	in := func(name, file, where string) {
		if name = name[strings.LastIndexByte(name, '.')+1:]; mapName.MatchString(name) && !hasWord(files[file], name) {
			complaints = append(complaints, where+": "+file+" has no "+name)
		}
	}
	for _, m := range mapLink.FindAllStringSubmatch(page, -1) {
		if _, ok := files[m[2]]; !ok {
			complaints = append(complaints, "no file "+m[2])
		} else if !strings.HasSuffix(m[1], ".go") && mapName.MatchString(m[1]) {
			in(m[1], m[2], "link")
		}
	}
	for _, m := range mapCode.FindAllStringSubmatch(page, -1) {
		if mapFile.MatchString(m[1]) && !slices.ContainsFunc(dirs, func(dir string) bool { return exists(files, path.Join(dir, m[1])) }) {
			complaints = append(complaints, "no file "+m[1])
		}
	}
	for _, m := range mapPair.FindAllStringSubmatch(page, -1) {
		for _, name := range mapCode.FindAllStringSubmatch(m[1], -1) {
			for _, dir := range dirs {
				if file := path.Join(dir, m[2]); files[file] != "" {
					in(name[1], file, "recipe")
				}
			}
		}
	}
	return complaints
}

// hasWord reports whether a text has a word that is no part of a longer one.
func hasWord(text, word string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`).MatchString(text)
}

// exists reports whether there is a file of this name, which may end in a star.
func exists(files map[string]string, name string) bool {
	for file := range files {
		if ok, _ := path.Match(name, file); ok {
			return true
		}
	}
	return false
}

// TestMap: the code map and the recipes of CONTRIBUTING lead to files that exist and
// to functions that are there.
func TestMap(t *testing.T) {
	files := make(map[string]string)
	dirs := []string{""}
	for dir, list := range readModule(t) {
		dirs = append(dirs, dir)
		for _, s := range list {
			name := s.fset.Position(s.Pos()).Filename
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			files[path.Join(dir, filepath.Base(name))] = string(text)
		}
	}
	for _, complaint := range lost(readPage(t, "CONTRIBUTING.md"), files, dirs) {
		t.Error(complaint)
	}
}

// jobFile is a file that the list of files in jobs/doc.go names.
var jobFile = regexp.MustCompile(`\b[a-z_]+\.go\b`)

// TestMap_Jobs: the comment at the end of jobs/doc.go names all files of the case and of the
// search, which are read in its order, and none that does not exist.
func TestMap_Jobs(t *testing.T) {
	there := make(map[string]bool)
	var manual string
	for _, s := range readModule(t)["jobs"] {
		if s.base() == "doc.go" {
			manual = s.Comments[len(s.Comments)-1].Text()
		}
		there[s.base()] = !s.test
	}
	require.Contains(t, manual, "The files of this package.", "jobs/doc.go lists no files")
	named := jobFile.FindAllString(manual, -1)
	for _, name := range named {
		require.True(t, there[name], "jobs/doc.go names %s", name)
	}
	for name, code := range there {
		if code && (strings.HasPrefix(name, "case") || strings.HasPrefix(name, "search")) {
			require.Contains(t, named, name, "jobs/doc.go does not name a file")
		}
	}
}

func TestLost(t *testing.T) {
	files := map[string]string{"victims/plan_bound.go": "func boundNode() {}", "jobs/search_way.go": "func (x *ways) list() {}"}
	for page, want := range map[string][]string{
		"[boundNode](victims/plan_bound.go)":                              nil,
		"[bound](victims/plan_bound.go)":                                  {"link: victims/plan_bound.go has no bound"},
		"[ways.list](jobs/search_way.go)":                                 nil,
		"[how it is bounded](victims/plan_bound.go)":                      nil, // no name
		"[plan_bound.go](victims/plan_bound.go)":                          nil,
		"[Gone](victims/gone.go)":                                         {"no file victims/gone.go"},
		"`plan_bound.go` and `search_*`":                                  nil,
		"`plan_gone.go` and `gone*`":                                      {"no file plan_gone.go", "no file gone*"},
		"`boundNode` in `victims/plan_bound.go`":                          nil,
		"`boundNode` and `Gone` in `victims/plan_bound.go`, and so on":    {"recipe: victims/plan_bound.go has no Gone"},
		"a case of `Gone` or `boundNode`\nin `plan_bound.go`":             {"recipe: victims/plan_bound.go has no Gone"},
		"`go test` and `allow-preemption: false` are neither file nor it": nil,
	} {
		require.Equal(t, want, lost(page, files, []string{"", "victims", "jobs"}), page)
	}
}
