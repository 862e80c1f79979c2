// SPDX-License-Identifier: Apache-2.0

package internal

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

const module = "github.com/go-preempt/preempt"

// mayImport has the packages of the library, and which of each other they may
// import beside the kernels. (DESIGN.md, Packages.)
var mayImport = map[string][]string{
	".":             nil, // the manual
	"resources":     nil,
	"queue":         {"resources", "internal/lent", "internal/vectors"},
	"fence":         {"resources", "queue"},
	"toleration":    nil,
	"victims":       {"resources", "queue", "fence", "internal/lent", "internal/cost", "internal/least", "internal/eligible", "internal/finding", "internal/rulebook", "internal/saved", "internal/trigger", "internal/vectors", "internal/trees"},
	"victims/cover": {"resources", "internal/cost", "internal/least", "internal/units"},
	"quota":         {"resources", "queue", "victims", "internal/cost", "internal/eligible", "internal/least", "internal/units", "internal/finding", "internal/rulebook", "internal/saved", "internal/vectors", "internal/lent", "internal/trees"},
	"jobs":          {"resources", "queue", "fence", "victims", "internal/lent", "internal/aside", "internal/moves", "internal/cost", "internal/gangs", "internal/least", "internal/units", "internal/eligible", "internal/finding", "internal/rulebook", "internal/saved", "internal/trigger", "internal/vectors", "internal/trees"},

	// The words of another scheduler. Nothing of the library imports it.
	"jobs/koordinator": {"resources", "victims", "jobs"},

	// It may import all of ours, and nothing of ours but examples imports it.
	"victims/snapshot": {"internal/choices", "resources", "queue", "fence", "toleration", "victims", "quota", "jobs", "jobs/koordinator", "internal/judge/scenario", "internal/lent", "internal/trees"},

	// What a set of victims costs, the search for the cheapest one, and its face for those
	// who state units.
	"internal/cost":  {"resources"},
	"internal/least": {"resources", "internal/cost"},
	"internal/units": {"resources", "internal/cost", "internal/least"},

	// The search for places of gangs, and who goes for them.
	"internal/gangs": {"resources", "internal/least"},

	// The search for tasks that start again elsewhere.
	"internal/moves": {"resources", "queue", "victims", "internal/lent", "internal/aside", "internal/cost", "internal/least", "internal/units", "internal/eligible", "internal/rulebook", "internal/trees", "internal/trigger"},

	// Who may be a victim, for asks and jobs.
	"internal/eligible": {"resources", "queue", "fence", "internal/cost", "internal/units", "internal/rulebook"},

	// The gate in front of preemption, for asks and jobs.
	"internal/trigger": {"resources", "queue", "internal/rulebook"},

	// What the rules of asks, jobs and quotas share.
	"internal/rulebook": {"resources", "queue", "internal/cost", "internal/vectors"},

	// What trees of queues keep from users, and what the library does with it.
	"internal/lent":  {"resources"},
	"internal/trees": {"resources", "queue", "internal/lent", "internal/saved"},
	"internal/aside": {"victims"},

	// The options that documents have a word for.
	"internal/choices": {"victims"},

	// The text that goes over a restart.
	"internal/saved": {"resources"},

	// What the library writes of amounts, and how it divides them.
	"internal/vectors": {"resources"},

	// What the three auditors share.
	"internal/finding": {"resources", "queue", "internal/rulebook", "internal/vectors"},

	// For tests of callers, and held to the same purity.
	"victims/preempttest": {"internal/lent", "resources", "queue", "victims", "jobs", "internal/rulebook"},
}

// judge has what judges the library: it serves tests, examples and benchmarks. All other
// internal packages are kernels.
const judge = "internal/judge"

// Modules that tests may import. The library imports none.
var (
	forLibrary []string
	forTests   = []string{"golang.org/x/exp", "pgregory.net/rapid", "github.com/google/go-cmp", "github.com/stretchr/testify"}
)

// impure has the standard packages that do what the library leaves to the
// caller: they talk to the world, or roll dice.
var impure = []string{
	"C", "crypto/rand", "database/sql", "flag", "io/ioutil", "log", "math/rand", "net", "os", "plugin", "syscall", "testing",
}

// A role is what a package is to the others.
type role int

const (
	stranger role = iota // not in the table of DESIGN.md, Packages
	library
	kernel
	tool    // of what judges
	program // an example or a benchmark
)

func roleOf(dir string) role {
	_, known := mayImport[dir]
	switch {
	case known:
		return library
	case isBelow(dir, judge):
		return tool
	case isBelow(dir, "internal"):
		return kernel
	case isBelow(dir, "examples"), isBelow(dir, "bench"):
		return program
	}
	return stranger
}

// isBelow reports whether a slashed path is another one or below it.
func isBelow(p, above string) bool { return p == above || strings.HasPrefix(p, above+"/") }

func isBelowAny(p string, list []string) bool {
	return slices.ContainsFunc(list, func(above string) bool { return isBelow(p, above) })
}

// checkImports returns what is wrong with the imports of a file.
func checkImports(s *source) (complaints []string) {
	if roleOf(s.dir) == stranger {
		s.complain(&complaints, s.File, "package %s is not listed in DESIGN.md, Packages", s.dir)
	}
	for _, spec := range s.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			s.complain(&complaints, spec, "import %s: %v", spec.Path.Value, err)
			continue
		}
		if why := refused(s, p); why != "" {
			s.complain(&complaints, spec, "%s imports %s: %s", s.dir, p, why)
		}
		if s.pure() && spec.Name != nil && spec.Name.Name == "." {
			s.complain(&complaints, spec, "%s imports %s without its name", s.dir, p)
		}
	}
	return complaints
}

// refused returns why a file may not import a package, or "".
func refused(s *source, p string) (why string) {
	ours := isBelow(p, module)
	standard := !strings.Contains(strings.Split(p, "/")[0], ".")
	switch {
	case ours:
		return refusedOurs(s, path.Join(".", strings.TrimPrefix(p, module)))
	case standard && s.pure() && isBelowAny(p, impure):
		return "the library is pure"
	case standard, isBelowAny(p, forLibrary):
		return ""
	case !isBelowAny(p, forTests):
		return "no module for this one"
	case !s.test && roleOf(s.dir) != tool:
		return "for tests only"
	}
	return ""
}

// refusedOurs is refused for the package of a directory of the module.
func refusedOurs(s *source, dir string) (why string) {
	switch roleOf(dir) {
	case stranger:
		return "it is not listed in DESIGN.md, Packages"
	case program:
		if above, _, ok := strings.Cut(dir, "/internal/"); ok && isBelow(s.dir, above) {
			return "" // a part of the program itself
		}
		return "nobody imports programs"
	case tool:
		if s.pure() && !slices.Contains(mayImport[s.dir], dir) {
			return "it serves tests, examples and benchmarks"
		}
	case library:
		if s.pure() && !slices.Contains(mayImport[s.dir], dir) {
			return "it does not lie below"
		}
	}
	return ""
}

func TestImports(t *testing.T) {
	packages := readModule(t)
	for _, dir := range []string{"resources", "queue", "fence", "victims", "internal", "internal/sat"} {
		require.Contains(t, packages, dir, "the module was not read")
	}
	for _, files := range packages {
		for _, s := range files {
			for _, complaint := range checkImports(s) {
				t.Error(complaint)
			}
		}
	}
}

// TestDraws holds the tests of a package that draw to the same cases in every run, which
// they get from internal/judge/law.
func TestDraws(t *testing.T) {
	draws, fixed := map[string]bool{}, map[string]bool{}
	for dir, files := range readModule(t) {
		for _, s := range files {
			for _, spec := range s.Imports {
				p := spec.Path.Value
				draws[dir] = draws[dir] || s.test && p == `"pgregory.net/rapid"`
				fixed[dir] = fixed[dir] || p == `"`+module+`/internal/judge/law"`
			}
		}
	}
	require.True(t, draws["victims"])
	for dir := range draws {
		if draws[dir] && !fixed[dir] && dir != "internal/judge/law" {
			t.Errorf("%s: tests draw other cases in each run: import internal/judge/law", dir)
		}
	}
}

// TestRequirements holds go.mod to the modules above.
func TestRequirements(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "go.mod"))
	require.NoError(t, err)
	require.Contains(t, string(text), "module "+module+"\n")
	var direct []string
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(strings.TrimPrefix(line, "require "))
		if len(fields) == 2 && strings.HasPrefix(fields[1], "v") {
			direct = append(direct, fields[0]) // an indirect one has a comment, too
		}
	}
	require.Subset(t, slices.Concat(forLibrary, forTests), direct)
}

// TestCheckImports shows that each rule can be broken.
func TestCheckImports(t *testing.T) {
	const ours = `"` + module + `/`
	for _, test := range []struct {
		dir, text string
		why       string // "" where it is allowed
	}{
		{"queue", `import ` + ours + `resources"`, ""},
		{"queue", `import ` + ours + `internal/sat"`, ""},
		{"toleration", `import ` + ours + `internal/wide"`, ""},
		{"resources", `import ` + ours + `queue"`, `resources imports ` + module + `/queue: it does not lie below`},
		{"fence", `import ` + ours + `victims"`, `fence imports ` + module + `/victims: it does not lie below`},
		{"toleration", `import ` + ours + `victims"`, `toleration imports ` + module + `/victims: it does not lie below`},
		{"victims", `import ` + ours + `toleration"`, `victims imports ` + module + `/toleration: it does not lie below`},
		{"quota", `import ` + ours + `jobs"`, `quota imports ` + module + `/jobs: it does not lie below`},
		{".", `import ` + ours + `queue"`, `. imports ` + module + `/queue: it does not lie below`},
		{"queue", `import "` + module + `"`, `queue imports ` + module + `: it does not lie below`},
		{"internal/sat", `import ` + ours + `resources"`, `internal/sat imports ` + module + `/resources: it does not lie below`},
		{"internal/judge/world", `import ` + ours + `victims"`, ""},
		{"internal/judge/world", `import "pgregory.net/rapid"`, ""},
		{"queue", `import ` + ours + `internal/judge/world"`, `queue imports ` + module + `/internal/judge/world: it serves tests, examples and benchmarks`},
		{"internal/sat", `import ` + ours + `internal/judge/world"`, `internal/sat imports ` + module + `/internal/judge/world: it serves tests, examples and benchmarks`},
		{"queue", `_test import ` + ours + `internal/judge/world"`, ""},
		{"examples/plan", `import ` + ours + `internal/judge/scenario"`, ""},
		{"examples/replay", `import ` + ours + `internal/judge/trace"`, ""},
		{"internal/judge/workload", `import ` + ours + `internal/judge/trace"`, ""},
		{"queue", `import ` + ours + `internal/judge/trace"`, `queue imports ` + module + `/internal/judge/trace: it serves tests, examples and benchmarks`},
		{"examples/plan", `import "os"`, ""},
		{"examples/plan", `import ` + ours + `examples/plan/internal/say"`, ""},
		{"examples/plan/internal/when", `import ` + ours + `examples/plan/internal/say"`, ""},
		{"examples/replay", `import ` + ours + `examples/plan/internal/say"`, `examples/replay imports ` + module + `/examples/plan/internal/say: nobody imports programs`},
		{"victims", `_test import ` + ours + `examples/plan"`, `victims imports ` + module + `/examples/plan: nobody imports programs`},
		{"victims", `import ` + ours + `scheduler"`, `victims imports ` + module + `/scheduler: it is not listed in DESIGN.md, Packages`},
		{"victims/preempttest", `import ` + ours + `victims"`, ""},
		{"victims/preempttest", `import ` + ours + `quota"`, `victims/preempttest imports ` + module + `/quota: it does not lie below`},
		{"victims", `import ` + ours + `jobs"`, `victims imports ` + module + `/jobs: it does not lie below`},
		{"victims", `_test import ` + ours + `jobs"`, ""},
		{"victims/preempttest", `import "testing"`, `victims/preempttest imports testing: the library is pure`},
		{"victims", `import ` + ours + `victims/preempttest"`, `victims imports ` + module + `/victims/preempttest: it does not lie below`},
		{"victims/snapshot", `import ` + ours + `internal/judge/scenario"`, ""},
		{"victims/snapshot", `import ` + ours + `internal/judge/world"`, `victims/snapshot imports ` + module + `/internal/judge/world: it serves tests, examples and benchmarks`},
		{"jobs", `import ` + ours + `victims/snapshot"`, `jobs imports ` + module + `/victims/snapshot: it does not lie below`},
		{"scheduler", ``, `package scheduler is not listed in DESIGN.md, Packages`},

		{"queue", `import "math/rand/v2"`, `queue imports math/rand/v2: the library is pure`},
		{"queue", `import "log/slog"`, `queue imports log/slog: the library is pure`},
		{"queue", `import "os"`, `queue imports os: the library is pure`},
		{"queue", `import "net/netip"`, `queue imports net/netip: the library is pure`},
		{"internal/sat", `import "os/exec"`, `internal/sat imports os/exec: the library is pure`},
		{"queue", `import . "math"`, `queue imports math without its name`},
		{"queue", `import "math/bits"`, ""},
		{"queue", `_test import "os"`, ""},

		{"queue", `import "pgregory.net/rapid"`, `queue imports pgregory.net/rapid: for tests only`},
		{"examples/plan", `import "github.com/google/go-cmp/cmp"`, `examples/plan imports github.com/google/go-cmp/cmp: for tests only`},
		{"queue", `_test import "github.com/stretchr/testify/require"`, ""},
		{"queue", `_test import "k8s.io/api/core/v1"`, `queue imports k8s.io/api/core/v1: no module for this one`},
		{"internal/judge/world", `import "github.com/google/go-cmparison"`, `internal/judge/world imports github.com/google/go-cmparison: no module for this one`},
	} {
		var want []string
		if test.why != "" {
			want = []string{"f0.go:1: " + test.why}
		}
		if diff := cmp.Diff(want, checkImports(parse(t, test.dir, test.text)[0])); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", test.dir, test.text, diff)
		}
	}
}
