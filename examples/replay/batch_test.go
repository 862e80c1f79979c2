// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-preempt/preempt/internal/judge/golden"
	"github.com/go-preempt/preempt/internal/judge/trace"
)

// runPolicy replays a batch under one of the policies.
func runPolicy(t *testing.T, b *trace.Batch, p Policy) *BatchFigures {
	t.Helper()
	f, err := (&BatchReplay{Batch: b, Policy: p}).Run()
	if err != nil {
		t.Fatal(err)
	}
	if f.Laws.Violations > 0 {
		t.Error(f.Laws.First)
	}
	return f
}

// Two hosts, of which one is guaranteed to each of two virtual clusters. In the
// beginning a runs four jobs of 4 GPUs for ten hours: both hosts are full. After two
// and a half hours b wants a gang of two hosts, one more than it is guaranteed, so that
// the gang may take nothing. Forty minutes later b wants 8 GPUs, which it is guaranteed.
func TestBatchReplay(t *testing.T) {
	b := &trace.Batch{Hosts: 2, VCs: []trace.VC{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}}}
	for _, name := range []string{"a0", "a1", "a2", "a3"} {
		b.Jobs = append(b.Jobs, trace.Job{Name: name, VC: 0, GPUs: 4, Duration: 10 * hour})
	}
	b.Jobs = append(b.Jobs,
		trace.Job{Name: "gang", VC: 1, GPUs: 16, Submit: 5 * hour / 2, Duration: hour},
		trace.Job{Name: "b", VC: 1, GPUs: 8, Submit: 3*hour + 600, Duration: hour})
	for _, c := range []struct {
		policy Policy
		want   BatchFigures
	}{
		// When a has ended, b runs before the gang, for it stays within the guarantee.
		{Policy{Patient: true}, BatchFigures{
			Gangs: Waits{1, 17 * hour / 2, 17 * hour / 2}, Others: Waits{5, 24_600 / 5, 24_600},
			Under: 15 * hour / 2, LastSecond: 12 * hour,
		}},
		// b takes back its host from two jobs, after 3 h 10 min. They begin again from the start
		// when it has ended.
		{Policy{}, BatchFigures{
			Gangs: Waits{1, 11*hour + 2400, 11*hour + 2400}, Others: Waits{5, 2 * hour / 5, hour},
			Under: 600 + 1800 + 10*hour, Plans: 1, Stops: 2, Lost: 2 * 4 * (3*hour + 600), LastSecond: 15*hour + 600, MostStopped: 1,
		}},
		// Three hours are saved.
		{Policy{Checkpoint: hour}, BatchFigures{
			Gangs: Waits{1, 8*hour + 2400, 8*hour + 2400}, Others: Waits{5, 2 * hour / 5, hour},
			Under: 600 + 1800 + 7*hour, Plans: 1, Stops: 2, Lost: 2 * 4 * 600, LastSecond: 12*hour + 600, MostStopped: 1,
		}},
	} {
		t.Run(c.policy.Name, func(t *testing.T) {
			got := runPolicy(t, b, c.policy)
			got.Laws, got.guaranteed, got.starving, got.since = Laws{}, nil, 0, 0
			if diff := cmp.Diff(c.want, *got, cmp.AllowUnexported(BatchFigures{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestGangs replays the generated batch under all policies, and compares figures and
// picture with those in testdata.
func TestGangs(t *testing.T) {
	if testing.Short() {
		t.Skip("it replays a batch under each policy")
	}
	picture := filepath.Join(t.TempDir(), "gangs.svg")
	var out, errs bytes.Buffer
	if status := run([]string{"-gangs", "-json", "-svg", picture}, &out, &errs); status != sound {
		t.Fatalf("status %d, %s", status, errs.String())
	}
	drawn, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/gangs.svg", string(drawn))

	var got struct{ Policies []*BatchFigures }
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	// The text says no more than JSON does.
	var text bytes.Buffer
	if err := writeGangs(&text, &options{}, trace.PhillyTwin(), got.Policies); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/gangs.golden", text.String())
	// A batch of which anything is missing would show less than it is for.
	for i, f := range got.Policies {
		if f.Policy != policies[i].Name || f.Gangs.Jobs < 20 || i > 0 && f.Plans < 100 || f.Laws.Violations > 0 {
			t.Errorf("%+v", f)
		}
	}
	if g := got.Policies; g[2].Gangs.Mean >= g[0].Gangs.Mean || g[2].Lost >= g[1].Lost {
		t.Errorf("gangs wait %d instead of %d, %d is lost instead of %d", g[2].Gangs.Mean, g[0].Gangs.Mean, g[2].Lost, g[1].Lost)
	}
}

// TestPhilly replays two days of the production trace, where it is there.
func TestPhilly(t *testing.T) {
	const jobs, vcs = "../../../shared/traces/philly_jobs.csv", "../../../shared/traces/philly_vcs.csv"
	if testing.Short() {
		t.Skip("takes seconds")
	}
	if _, err := os.Stat(jobs); err != nil {
		t.Skip("no trace: ", err)
	}
	b, err := trace.ReadPhilly(jobs, vcs)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Jobs) != 82229 || len(b.VCs) != 11 {
		t.Fatalf("%d jobs and %d virtual clusters, want 82229 and 11", len(b.Jobs), len(b.VCs))
	}
	b.Window(35, 2)
	for _, p := range policies {
		if f := runPolicy(t, b, p); f.Gangs.Jobs+f.Others.Jobs != len(b.Jobs) || p.Patient != (f.Plans == 0) {
			t.Errorf("%+v", f)
		}
	}
}

func TestRunGangs_Arguments(t *testing.T) {
	for _, c := range []struct{ args, errs string }{
		{"-gangs -fair", "replay: -fair does not go with -gangs"},
		{"-gangs -nodes x", "replay: -nodes does not go with -gangs"},
		{"-jobs x -vcs x", "replay: -jobs goes with -gangs only"},
		{"-gangs -jobs x", "replay: -jobs and -vcs go together"},
		{"-gangs -first -1", "replay: -first -1: want 0 to "},
		{"-gangs -days 0", "replay: -days 0: want 1 to "},
		{"-gangs -jobs /does/not/exist -vcs /does/not/exist", "replay: open /does/not/exist: "},
	} {
		var out, errs bytes.Buffer
		if status := run(strings.Fields(c.args), &out, &errs); status != bad || !strings.Contains(errs.String(), c.errs) {
			t.Errorf("%s: status %d, %s", c.args, status, errs.String())
		}
	}
}
