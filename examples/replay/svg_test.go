// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/trace"
)

// replayed returns the history of a replay.
func replayed(t *testing.T, r Replay) *history {
	t.Helper()
	h := newHistory(&r)
	r.Observe, r.Second = h.step, h.second
	if _, err := r.Run(); err != nil {
		t.Fatal(err)
	}
	return h
}

// A best effort pod fills the node from second 0 on. A latency sensitive one
// comes in second 10, may preempt 30 s later, and starts when the victim has had
// its 30 s of grace. When it ends, in second 200, the victim runs again, or it
// runs for the first time where nobody preempts: then it does not run at all,
// for the other ends in second 1000.
func TestHistory(t *testing.T) {
	workload := &trace.Workload{Nodes: []trace.Node{{Name: "n", CPU: 4000}}, Pods: []trace.Pod{bePod("be", 4, 0, 1000), lsPod("ls", 4, 10, 200)}}
	r := Replay{Workload: workload, Stretch: 1, Retries: 4, Grace: 30}
	patient := r
	patient.Patient = true
	with, without := replayed(t, r), replayed(t, patient)
	for _, c := range []struct {
		name     string
		h        *history
		plans    int
		be, ls   []point
		stopped  []int64
		beWaited int64
		lsWaited int64
	}{
		{"with", with, 1,
			[]point{{0, whole}, {40, 0}, {200, whole}, {1000, 0}}, // what is leaving counts no more
			[]point{{0, 0}, {40, whole}, {200, 0}},                // and what is granted does
			[]int64{40}, 130, 60},
		{"without", without, 0,
			[]point{{0, whole}, {1000, 0}}, []point{{0, 0}}, nil, 0, 190},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.h.plans != c.plans || c.h.full != 10 || c.h.last != 1000 {
				t.Errorf("%d plans, full in second %d, until %d; want %d, 10, 1000", c.h.plans, c.h.full, c.h.last, c.plans)
			}
			be, ls := c.h.tenants[trace.BestEffort], c.h.tenants[trace.LatencySensitive]
			if diff := cmp.Diff([][]point{c.be, c.ls}, [][]point{be.usage, ls.usage}, cmp.AllowUnexported(point{})); diff != "" {
				t.Errorf("usage: %s", diff)
			}
			if diff := cmp.Diff(c.stopped, be.stopped); diff != "" || ls.stopped != nil {
				t.Errorf("stopped: %s, %v", diff, ls.stopped)
			}
			if ls.guaranteed != 70_00 || be.guaranteed != 0 {
				t.Errorf("guaranteed %d and %d, want 7000 and 0", ls.guaranteed, be.guaranteed)
			}
			got := [][]int64{c.h.waits(int(trace.BestEffort), 1000), c.h.waits(int(trace.LatencySensitive), 1000), c.h.waits(int(trace.Burstable), 1000)}
			if diff := cmp.Diff([][]int64{{c.beWaited}, {c.lsWaited}, nil}, got); diff != "" {
				t.Errorf("waiting: %s", diff)
			}
		})
	}
	// Who looks earlier sees less of the waiting of those who wait still.
	if got := without.waits(int(trace.LatencySensitive), 100); got[0] != 90 {
		t.Errorf("by second 100 it has waited for %d s, want 90", got[0])
	}
}

// Without grace two things happen in second 40, one after the other: be stops
// for ls, which leaves room for bf. That stops for lt in second 330 and runs
// again when lt ends, so that it has waited for 35 s and for 70 s.
func TestHistory_Twice(t *testing.T) {
	h := replayed(t, Replay{Workload: &trace.Workload{Nodes: []trace.Node{{Name: "n", CPU: 4000}}, Pods: []trace.Pod{
		bePod("be", 4, 0, 350), bePod("bf", 2, 5, 1000), lsPod("ls", 2, 10, 200), lsPod("lt", 4, 300, 400),
	}}, Stretch: 1, Retries: 4})
	want := []point{{0, whole}, {40, whole / 2}, {330, 0}, {400, whole / 2}, {1000, 0}}
	if diff := cmp.Diff(want, h.tenants[trace.BestEffort].usage, cmp.AllowUnexported(point{})); diff != "" {
		t.Errorf("usage: %s", diff)
	}
	if diff := cmp.Diff([]int64{105, 310}, h.waits(int(trace.BestEffort), 1000)); diff != "" {
		t.Errorf("waiting: %s", diff)
	}
	if diff := cmp.Diff([]int64{40, 330}, h.tenants[trace.BestEffort].stopped); diff != "" {
		t.Errorf("stopped: %s", diff)
	}
}

func TestMeans(t *testing.T) {
	usage := []point{{10, 100}, {15, 300}, {40, 0}}
	for _, c := range []struct {
		from, to int64
		n        int
		want     []int64
	}{
		{0, 40, 4, []int64{0, 200, 300, 300}},
		{5, 20, 1, []int64{133}}, // 5 s of 0, 5 of 100 and 5 of 300, rounded down
		{12, 14, 2, []int64{100, 100}},
		{30, 50, 2, []int64{300, 0}},
		{10, 11, 2, []int64{100, 100}}, // no span is shorter than a second
	} {
		if diff := cmp.Diff(c.want, means(usage, c.from, c.to, c.n)); diff != "" {
			t.Errorf("means from %d to %d: %s", c.from, c.to, diff)
		}
	}
}

// Means are what adding up second by second gives.
func TestMeansSlowly(t *testing.T) { rapid.Check(t, meansProperty) }

func FuzzMeans(f *testing.F) { f.Fuzz(rapid.MakeFuzz(meansProperty)) }

func meansProperty(t *rapid.T) {
	var x tenant
	at := int64(0)
	used := make(map[int64]int64)
	for range rapid.IntRange(0, 8).Draw(t, "points") {
		at += rapid.Int64Range(1, 9).Draw(t, "after")
		x.usage = append(x.usage, point{at, rapid.Int64Range(0, whole).Draw(t, "parts")})
	}
	now := int64(0)
	for s := int64(0); s < 200; s++ {
		for _, p := range x.usage {
			if p.at == s {
				now = p.parts
			}
		}
		used[s] = now
	}
	n := rapid.IntRange(1, 9).Draw(t, "n")
	from := rapid.Int64Range(0, 60).Draw(t, "from")
	each := rapid.Int64Range(1, 9).Draw(t, "each")
	got := means(x.usage, from, from+each*int64(n), n)
	for i := range n {
		sum := int64(0)
		for s := range each {
			sum += used[from+int64(i)*each+s]
		}
		if got[i] != sum/each {
			t.Fatalf("%v from %d by %d: mean %d is %d, want %d", x.usage, from, each, i, got[i], sum/each)
		}
	}
}

func TestSpan(t *testing.T) {
	for _, c := range []struct {
		seconds int64
		want    string
	}{{0, "0 s"}, {119, "119 s"}, {120, "2 min"}, {7199, "119 min"}, {7200, "2 h"}, {172799, "47 h"}, {172800, "2 days"}, {forever, "49710 days"}} {
		if got := span(c.seconds); got != c.want {
			t.Errorf("span(%d) = %s, want %s", c.seconds, got, c.want)
		}
	}
}

func TestCeiling(t *testing.T) {
	for _, c := range []struct{ parts, want int64 }{{0, 100}, {100, 100}, {101, 200}, {2000, 2000}, {2001, 4000}, {10000, 10000}, {10001, 10001}} {
		if got := ceiling(c.parts); got != c.want {
			t.Errorf("ceiling(%d) = %d, want %d", c.parts, got, c.want)
		}
	}
}

// There are never too many marks on the axis of time, and always some.
func TestPace(t *testing.T) {
	for seconds := int64(1); seconds <= forever; seconds += 1 + seconds/3 {
		if marks := seconds / pace(seconds); marks > 8 || marks < 3 && seconds > 3 {
			t.Errorf("%d marks in %d s", marks, seconds)
		}
	}
}

func TestCurve(t *testing.T) {
	height := func(v int64) int { return 100 - int(v) }
	if got, want := curve(10, []int64{5, 5, 7, 7}, height), "M10 95H12V93H13V93"; got != want {
		t.Errorf("curve %s, want %s", got, want)
	}
}

// Of whatever workload, the picture is well-formed and the same every time.
func TestDrawSVG(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a second")
	}
	for _, c := range []struct {
		name string
		r    Replay
	}{
		{"generated", Replay{Workload: generate(), Stretch: 1, Retries: 4, Grace: 30}},
		{"for ever", Replay{Workload: generate(), Retries: 4}},
		{"teams", Replay{Workload: generate(), Stretch: 1, Retries: 4, Grace: 30, Fair: true}},
		{"nothing", Replay{Workload: &trace.Workload{}}},
		{"one pod", Replay{Workload: &trace.Workload{Nodes: []trace.Node{{Name: "n", CPU: 4000}}, Pods: []trace.Pod{lsPod("p", 1, 7, 8)}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			patient := c.r
			patient.Patient = true
			without := replayed(t, patient)
			got := drawSVG(replayed(t, c.r), without)
			if !bytes.Equal(got, drawSVG(replayed(t, c.r), without)) {
				t.Error("another picture of the same")
			}
			if without.plans > 0 {
				t.Errorf("%d plans without preemption", without.plans)
			}
			texts := textsOf(t, got)
			for tenant := range tenants {
				if name := c.r.tenantName(tenant); !strings.Contains(texts, "\n"+name+"\n") {
					t.Errorf("%s is not in it", name)
				}
			}
			for _, bad := range []string{"NaN", "Inf", "%!", `="-`} {
				if bytes.Contains(got, []byte(bad)) {
					t.Errorf("there is %s in it", bad)
				}
			}
		})
	}
}

// textsOf returns the texts of a picture, each on a line.
func textsOf(t *testing.T, data []byte) string {
	t.Helper()
	texts := "\n"
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := token.(xml.CharData); ok && strings.TrimSpace(string(s)) != "" {
			texts += string(s) + "\n"
		}
	}
}

// With -svg there is a picture, and the figures are those without, but that they
// compare.
func TestRunSVG(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a second")
	}
	file := filepath.Join(t.TempDir(), "replay.svg")
	var plain, out, errs bytes.Buffer
	if status := run([]string{"-quiet"}, &plain, &errs); status != sound {
		t.Fatalf("status %d", status)
	}
	if status := run([]string{"-quiet", "-svg", file}, &out, &errs); status != sound || errs.Len() > 0 {
		t.Fatalf("status %d, %s", status, errs.String())
	}
	figures := func(b *bytes.Buffer) string {
		text, _, _ := strings.Cut(b.String(), "\nstarved") // that is compared, and timings follow
		return text
	}
	if diff := cmp.Diff(figures(&plain), figures(&out)); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(out.String(), "in all 21 h instead of 25 h without preemption") {
		t.Error(out.String())
	}
	texts := pictureOf(t, file)
	for _, text := range []string{
		"how long queues were under their guarantee while pods of them waited, added up:", "21 h", "25 h",
		"1200 pods of 4 tenants on 16 nodes", "what it cost: 234 plans stopped 235 pods, which began again later",
	} {
		if !strings.Contains(texts, "\n"+text+"\n") {
			t.Errorf("no %q in %s", text, texts)
		}
	}
	if !strings.Contains(plain.String(), "234 plans") || !strings.Contains(plain.String(), "victims     235,") {
		t.Error(plain.String())
	}
	nowhere := filepath.Join(t.TempDir(), "nowhere", "x.svg")
	if status := run([]string{"-quiet", "-svg", nowhere}, io.Discard, &errs); status != bad {
		t.Errorf("status %d, want %d", status, bad)
	}
}

// pictureOf returns the texts of a picture in a file.
func pictureOf(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return textsOf(t, data)
}

// With -fair the picture tells how far each team was below its share, and says
// nothing of guarantees.
func TestRunSVG_Fair(t *testing.T) {
	file := filepath.Join(t.TempDir(), "replay.svg")
	var out, errs bytes.Buffer
	if status := run([]string{"-quiet", "-fair", "-svg", file}, &out, &errs); status != sound || errs.Len() > 0 {
		t.Fatalf("status %d, %s", status, errs.String())
	}
	texts := pictureOf(t, file)
	for _, text := range []string{"how far teams were below their fair shares:", "its fair share", "GPU-hours below its share:", "team-a", "weight 4", "pods stopped"} {
		if !strings.Contains(texts, "\n"+text+"\n") {
			t.Errorf("no %q in %s", text, texts)
		}
	}
	if strings.Contains(texts, "\nguaranteed\n") || !strings.Contains(out.String(), "GPU-hours below the fair share") {
		t.Errorf("%s\n%s", texts, out.String())
	}
}

// Two teams of weights 4 and 1 share a GPU of four parts. The second has all of it
// until the first wants it as well. Then four fifths are the share of the first: it
// is below that until its plan, which counts at once, and without preemption until
// the other pods end.
func TestBehind(t *testing.T) {
	w := &trace.Workload{Nodes: []trace.Node{{Name: "n", CPU: 4000, GPUs: 1}}}
	add := func(team int, created, deleted int64) {
		for i := 0; ; i++ {
			p := trace.Pod{Name: fmt.Sprint("p", i), GPU: 250, QoS: trace.BestEffort, Created: created, Deleted: deleted}
			if !slices.ContainsFunc(w.Pods, func(q trace.Pod) bool { return q.Name == p.Name }) && p.Team() == team {
				w.Pods = append(w.Pods, p)
				return
			}
		}
	}
	for range 4 {
		add(3, 0, 200)
	}
	for range 4 {
		add(0, 10, 300)
	}
	r := Replay{Workload: w, Stretch: 1, Retries: 4, Grace: 30, Fair: true}
	_, with := story(t, r)
	r.Patient = true
	_, without := story(t, r)
	with.compare(without, 300)
	// 80 % of the cluster from second 10 to 40, when a pod may preempt at first, and
	// to 200; three of four pods make up 75 %, so that 5 % stay open until then.
	const late, open = 30 * 80_00, 160 * 5_00
	if b := with.Behind[0]; b.below != late+open || b.without != 190*80_00 {
		t.Errorf("%+v, want %d and %d", b, late+open, 190*80_00)
	}
	if b := with.Behind[3]; b.below != 0 || b.without != 0 {
		t.Errorf("%+v, want nothing", b)
	}
}
