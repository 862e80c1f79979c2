// SPDX-License-Identifier: Apache-2.0

package exam

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/stretchr/testify/require"
)

// cases returns the papers of the examination.
func cases(t *testing.T) (all []Paper) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "bench", "peers", "cases", "*.json"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		papers, err := Papers(file, text)
		require.NoError(t, err, file)
		all = append(all, papers...)
	}
	require.Greater(t, len(all), 100)
	return all
}

// TestOurs_Cases: this library breaks nothing in the examination, and the
// documents say of its cluster what it says itself.
func TestOurs_Cases(t *testing.T) {
	s := NewSheet(Ours{})
	for _, p := range cases(t) {
		require.NoError(t, s.Add(&p))
	}
	requireFaultless(t, s)
}

// TestFaults_Laws: each word that is a law's is one of the law-book, and has a text.
func TestFaults_Laws(t *testing.T) {
	laws := 0
	for _, f := range Faults {
		if text, ok := faultTexts[f]; ok {
			laws++
			require.True(t, finding.Known(string(f)), "fault.go: %q is no law", f)
			require.NotEmpty(t, text)
		}
	}
	require.Len(t, faultTexts, laws, "fault.go: a text of no fault")
}

// TestOurs_Random: nor in random worlds.
func TestOurs_Random(t *testing.T) {
	if testing.Short() {
		t.Skip("it decides many random papers")
	}
	s := NewSheet(Ours{})
	for i := range 200 {
		p, err := Random(i)
		require.NoError(t, err)
		require.NoError(t, s.Add(p))
	}
	requireFaultless(t, s)
	require.Greater(t, s.lawful, 20)
}

func requireFaultless(t *testing.T, s *Sheet) {
	t.Helper()
	require.Equal(t, s.papers, s.columns[0].judged)
	require.Zero(t, s.Broken(0))
	require.Empty(t, s.Defects)
	for _, f := range Faults {
		n, paper := s.Count(0, f)
		require.Zero(t, n, "%s: %s", f, paper)
	}
}

// TestRandom: the same number gives the same paper.
func TestRandom(t *testing.T) {
	for i := range 5 {
		a, err := Random(i)
		require.NoError(t, err)
		b, err := Random(i)
		require.NoError(t, err)
		require.Equal(t, string(a.Text), string(b.Text))
	}
}

// A liar is a peer whose answers and facts are set.
type liar struct {
	answers []Answer
	facts   func(Facts)
	asked   *int
}

func (l liar) Rules() Rules {
	r := Ours{}.Rules()
	r.Name = "liar"
	return r
}

func (l liar) Load(doc *scenario.Document) (World, error) {
	w, err := Ours{}.Load(doc)
	return &liarWorld{w, l}, err
}

type liarWorld struct {
	World
	liar
}

func (w *liarWorld) Decide(*scenario.Ask) (Answer, error) {
	a := w.answers[*w.asked%len(w.answers)]
	*w.asked++
	return a, nil
}

func (w *liarWorld) Facts() Facts {
	f := w.World.Facts()
	if w.facts != nil {
		w.facts(f)
	}
	return f
}

const story = `{"name": "s", "queues": {"name": "root", "queues": [
	{"name": "a", "resources": {"guaranteed": {"cpu": "4"}}}, {"name": "b", "resources": {"guaranteed": {"cpu": "2"}}}, {"name": "c"}]},
	"nodes": [{"name": "n1", "capacity": {"cpu": "4"}}],
	"tasks": [
		{"key": "b1", "queue": "root.b", "application": "b", "node": "n1", "resources": {"cpu": "2"}},
		{"key": "c1", "queue": "root.c", "application": "c", "node": "n1", "resources": {"cpu": "1"}},
		{"key": "c2", "queue": "root.c", "application": "c", "node": "n1", "resources": {"cpu": "1"}, "allowPreemption": false}],
	"requests": [{"ask": {"key": "x", "queue": "root.a", "application": "a", "resources": {"cpu": "1"}}, "then": "nothing"}]}`

// TestJudge: each kind of wrong answer is called what it is.
func TestJudge(t *testing.T) {
	papers, err := Papers("s", []byte(story))
	require.NoError(t, err)
	require.Len(t, papers, 1)
	n1 := func(victims ...string) Answer { return Answer{"n1", victims} }
	for _, test := range []struct {
		name    string
		answers []Answer
		want    []Fault
	}{
		{"least", []Answer{n1("c1")}, nil},
		{"refuses", []Answer{{}}, []Fault{Refuses}},
		{"guarantee", []Answer{n1("b1")}, []Fault{"guarantee", "surplus"}},
		{"opted out", []Answer{n1("c2")}, []Fault{"opted-out"}},
		{"too many", []Answer{n1("c2", "c1")}, []Fault{"minimal"}},
		{"no room", []Answer{n1()}, []Fault{"room"}},
		{"wavers", []Answer{n1("c1"), {}}, []Fault{Wavers}},
	} {
		t.Run(test.name, func(t *testing.T) {
			j, err := Judge(liar{answers: test.answers, asked: new(int)}, &papers[0])
			require.NoError(t, err)
			require.ElementsMatch(t, test.want, j.Faults, "%v", j.Texts)
			require.False(t, j.Defect)
		})
	}
}

// TestLoad_Fed: an adapter that feeds something else is found out, whatever it
// is.
func TestLoad_Fed(t *testing.T) {
	papers, err := Papers("s", []byte(story))
	require.NoError(t, err)
	told := Told(papers[0].Doc)
	require.Equal(t, "2000", told[Fact{QueueUsage, "root.c", "cpu"}])
	require.Equal(t, "4000", told[Fact{QueueUsage, "root", "cpu"}])
	require.Equal(t, "true", told[Fact{What: TaskOptedOut, Of: "c2"}])
	for fact := range told {
		for name, change := range map[string]func(Facts){
			"lost": func(f Facts) { delete(f, fact) }, "changed": func(f Facts) { f[fact] += "0" },
		} {
			_, err := Load(liar{facts: change}, papers[0].Doc)
			require.ErrorIs(t, err, ErrFed, "%v %s", fact, name)
		}
	}
	_, err = Load(liar{facts: func(f Facts) { f[Fact{QueueGuaranteed, "root.c", "cpu"}] = "0" }}, papers[0].Doc)
	require.ErrorIs(t, err, ErrFed)
}

// TestSheet: counts, bold where it is the peer's own promise.
func TestSheet(t *testing.T) {
	papers, err := Papers("s", []byte(story))
	require.NoError(t, err)
	s := NewSheet(Ours{}, liar{answers: []Answer{{"n1", []string{"b1"}}}, asked: new(int)})
	require.NoError(t, s.Add(&papers[0]))
	n, paper := s.Count(1, "guarantee")
	require.Equal(t, 1, n)
	require.Equal(t, "s", paper)
	require.Equal(t, 1, s.Broken(1))
	var b strings.Builder
	require.NoError(t, s.Write(&b))
	require.Contains(t, b.String(), "| law 2: a queue ends below its guarantee | 0 | **1** |")
	text, err := papers[0].Proposed(&Answer{"n1", []string{"b1"}})
	require.NoError(t, err)
	doc, err := scenario.Parse("s", text)
	require.NoError(t, err)
	require.Equal(t, "n1", doc.Requests[0].Proposed.Node)
}
