// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

const (
	allMarked  = "j-0=granted j-1=granted v1=preempting v2=preempting | j waits for v1 v2"
	oneGone    = "j-0=granted j-1=granted v2=preempting | j waits for v2"
	bothGone   = "j-0=granted j-1=granted | j"
	bothHeld   = "j-0=granted j-1=granted | "
	nothingOn  = " | "
	noVictim   = "jobs: round: victim v1: no victim that is waited for"
	noRoundOfJ = "jobs: round of job j: no round is under way"
)

// TestRounds has each event in each state of a round: before it, with all
// victims marked, with one and with both gone, after completion, and after it
// failed.
func TestRounds(t *testing.T) {
	const (
		marked    = "begin j 10"
		one       = marked + "; ack v1"
		both      = one + "; ack v2"
		completed = both + "; complete j"
		failed    = one + "; fail v2"
	)
	for _, test := range []struct {
		state, event string
		answer       string
		picture      string
	}{
		{"", "begin j", "ok", allMarked},
		{marked, "begin j", "jobs: round of job j: a round is under way", allMarked},
		{one, "begin j", "jobs: round of job j: a round is under way", oneGone},
		{both, "begin j", "jobs: round of job j: a round is under way", bothGone},
		{marked, "begin k", "ok", "j-0=granted j-1=granted k-0=granted v1=preempting v2=preempting w=preempting | j waits for v1 v2, k waits for w"},

		{"", "ack v1", noVictim, nothingOn},
		{marked, "ack v1", "ok", oneGone},
		{marked, "ack w", "jobs: round: victim w: no victim that is waited for", allMarked},
		{one, "ack v1", noVictim, oneGone},
		{one, "ack v2", "ok", bothGone},
		{completed, "ack v1", noVictim, bothHeld},
		{failed, "ack v1", noVictim, nothingOn},
		{failed, "ack v2", "jobs: round: victim v2: no victim that is waited for", nothingOn},

		{"", "fail v1", noVictim, nothingOn},
		{marked, "fail v1", "j failed: back v1 v2, dropped j-0 j-1", nothingOn},
		{one, "fail v1", noVictim, oneGone},
		{one, "fail v2", "j failed: gone v1, back v2, dropped j-0 j-1", nothingOn},
		{both, "fail v1", noVictim, bothGone},
		{completed, "fail v1", noVictim, bothHeld},

		{"", "complete j", noRoundOfJ, nothingOn},
		{marked, "complete j", "jobs: round of job j: victim v1: it has not gone yet", allMarked},
		{one, "complete j", "jobs: round of job j: victim v2: it has not gone yet", oneGone},
		{both, "complete j", "j completed: gone v1 v2, held j-0 j-1", bothHeld},
		{both + "; start j-0", "complete j", "j completed: gone v1 v2, held j-1", "j-1=granted | "},
		{both + "; start j-0; start j-1", "complete j", "j completed: gone v1 v2", nothingOn},
		{completed, "complete j", noRoundOfJ, bothHeld},
		{failed, "complete j", noRoundOfJ, nothingOn},

		{"", "abandon j", noRoundOfJ, nothingOn},
		{marked, "abandon j", "j abandoned: back v1 v2, dropped j-0 j-1", nothingOn},
		{one, "abandon j", "j abandoned: gone v1, back v2, dropped j-0 j-1", nothingOn},
		{both, "abandon j", "j abandoned: gone v1 v2, dropped j-0 j-1", nothingOn},
		{both + "; start j-0", "abandon j", "j abandoned: gone v1 v2, dropped j-1", nothingOn},
		{completed, "abandon j", "j abandoned: dropped j-0 j-1", nothingOn},
		{completed + "; start j-0", "abandon j", "j abandoned: dropped j-1", nothingOn},
		{completed + "; start j-0; start j-1", "abandon j", noRoundOfJ, nothingOn},
		{completed + "; abandon j", "abandon j", noRoundOfJ, nothingOn},
		{failed, "abandon j", noRoundOfJ, nothingOn},

		{"", "expire 10", "", nothingOn},
		{marked, "expire 9", "", allMarked},
		{marked, "expire 10", "j expired: back v1 v2, dropped j-0 j-1", nothingOn},
		{one, "expire 11", "j expired: gone v1, back v2, dropped j-0 j-1", nothingOn},
		{both, "expire 10", "j expired: gone v1 v2, dropped j-0 j-1", nothingOn},
		{completed, "expire 10", "", bothHeld},
		{"begin j", "expire 999999", "", allMarked},
		{"begin k 5; begin j 5", "expire 5", "j expired: back v1 v2, dropped j-0 j-1, k expired: back w, dropped k-0", nothingOn},
		{"begin k 4; begin j 5", "expire 5", "k expired: back w, dropped k-0, j expired: back v1 v2, dropped j-0 j-1", nothingOn},
		{"begin k 4; begin j 5", "expire 4", "k expired: back w, dropped k-0", allMarked},
	} {
		t.Run(test.state+" / "+test.event, func(t *testing.T) {
			x := newRoundWorld(t)
			if test.state != "" {
				x.run(test.state)
			}
			require.Equal(t, test.answer, x.run(test.event))
			require.Equal(t, test.picture, x.picture())
		})
	}
}

// TestRounds_OthersChangeTheCluster has what rounds make of changes that were
// not told to them.
func TestRounds_OthersChangeTheCluster(t *testing.T) {
	for _, test := range []struct {
		script, answer, picture string
	}{
		// A victim that someone removed has gone; to acknowledge it is in order.
		{"begin j; remove v1; ack v2; complete j", "j completed: gone v1 v2, held j-0 j-1", bothHeld},
		{"begin j; remove v1; ack v1", "ok", oneGone},
		{"begin j; remove v1; fail v2", "j failed: gone v1, back v2, dropped j-0 j-1", nothingOn},
		{"begin j; remove v1; fail v1", "j failed: gone v1, back v2, dropped j-0 j-1", nothingOn},
		// One that leaves by itself is waited for, and not touched.
		{"begin j; release v1; ack v1", "ok", oneGone},
		{"begin j; release v1; ack v2; complete j", "jobs: round of job j: victim v1: it has not gone yet", "j-0=granted j-1=granted v1=releasing | j waits for v1"},
		{"begin j; release v1; fail v2", "j failed: back v2, dropped j-0 j-1", "v1=releasing | "},
		// One that runs again is lost: the round can only be ended otherwise.
		{"begin j; return v1; ack v1", "jobs: round of job j: victim v1: it runs and is not marked", "j-0=granted j-1=granted v2=preempting | j waits for v2 lost v1"},
		{"begin j; return v1; ack v2; complete j", "jobs: round of job j: victim v1: it runs and is not marked", "j-0=granted j-1=granted | j lost v1"},
		{"begin j; return v1; fail v1", "j failed: back v2, dropped j-0 j-1", nothingOn},
		{"begin j; undo; abandon j", "j abandoned: ", nothingOn},
		// One that was acknowledged has gone, whatever has its key now.
		{"begin j; ack v1; add v1; ack v2; complete j", "j completed: gone v1 v2, held j-0 j-1", bothHeld},
		{"begin j; ack v1; add v1; fail v2", "j failed: gone v1, back v2, dropped j-0 j-1", nothingOn},
		// Grants that were started or dropped are no more the round's.
		{"begin j; start j-0; fail v1", "j failed: back v1 v2, dropped j-1", nothingOn},
		{"begin j; drop j-1; fail v1", "j failed: back v1 v2, dropped j-0", nothingOn},
	} {
		t.Run(test.script, func(t *testing.T) {
			x := newRoundWorld(t)
			require.Equal(t, test.answer, x.run(test.script))
			require.Equal(t, test.picture, x.picture())
		})
	}
}

// TestRounds_Begin has what cannot begin. Nothing changes then.
func TestRounds_Begin(t *testing.T) {
	change := func(x *roundWorld) victims.Change { return x.change("j", []string{"v1"}, []string{"j-0"}) }
	for _, test := range []struct {
		name     string
		before   string
		spoil    func(x *roundWorld, ch *victims.Change)
		deadline time.Time
		kind     error
		text     string
	}{
		{
			name: "nobody", spoil: func(_ *roundWorld, ch *victims.Change) { ch.For = "" },
			kind: jobs.ErrNoJob, text: "jobs: round: no job is named",
		},
		{
			name: "deadline is now", deadline: minutes(0), kind: jobs.ErrDeadline,
			text: "jobs: round of job j: the deadline is over: 2026-01-01 00:00:00 +0000 UTC, and it is 2026-01-01 00:00:00 +0000 UTC",
		},
		{
			name: "another change came between", spoil: func(x *roundWorld, _ *victims.Change) { x.add("late") },
			kind: victims.ErrStale, text: `jobs: round of job j: victims: plan for "j" made for version 5, not 6: cluster has changed`,
		},
		{
			name: "no plan at all", spoil: func(_ *roundWorld, ch *victims.Change) { ch.Version = victims.Version{} },
			kind: victims.ErrState, text: `jobs: round of job j: victims: plan for "j": wrong state: the decision has no plan to apply`,
		},
		{
			name: "victim of another round, come back", before: "begin k; return w",
			spoil: func(x *roundWorld, ch *victims.Change) { *ch = x.change("j", []string{"v1", "w"}, nil) },
			kind:  jobs.ErrTaken, text: "jobs: round of job j: victim w: a victim of another round: that of job k",
		},
		{
			name:  "victim twice",
			spoil: func(_ *roundWorld, ch *victims.Change) { ch.Victims = append(ch.Victims, ch.Victims[0]) },
			kind:  victims.ErrDuplicate, text: `jobs: round of job j: victims: plan for "j": victim "v1": duplicate key`,
		},
		{
			name: "member runs already", spoil: func(_ *roundWorld, ch *victims.Change) { ch.Grants[0].Ask.Key = "v2" },
			kind: victims.ErrDuplicate, text: `jobs: round of job j: victims: task "v2": duplicate key`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			x := newRoundWorld(t)
			if test.before != "" {
				x.run(test.before)
			}
			ch := change(x)
			if test.spoil != nil {
				test.spoil(x, &ch)
			}
			picture, version := x.picture(), x.c.Version()
			err := x.r.Begin(ch, minutes(0), test.deadline)
			require.ErrorIs(t, err, test.kind)
			require.EqualError(t, err, test.text)
			require.Equal(t, picture, x.picture())
			require.Equal(t, version, x.c.Version())
			_, ok := x.r.Lookup("j")
			require.False(t, ok)
		})
	}
}

// TestRounds_WithoutVictims: a plan that waits or fits is a round as well, with
// nothing to wait for.
func TestRounds_WithoutVictims(t *testing.T) {
	x := newRoundWorld(t)
	require.NoError(t, x.r.Begin(x.change("j", nil, []string{"j-0"}), minutes(0), time.Time{}))
	require.Equal(t, "j completed: held j-0", x.run("complete j"))
}

// TestRounds_SecondRound: after a round has completed the next one may begin,
// and takes over what the first still holds where it places the same members.
func TestRounds_SecondRound(t *testing.T) {
	x := newRoundWorld(t)
	x.run("begin j; ack v1; ack v2; complete j; start j-0")
	require.Equal(t, []string{"j-1"}, x.r.Held("j"))

	require.NoError(t, x.r.Begin(x.change("j", []string{"w"}, []string{"j-1", "j-2"}), minutes(1), minutes(2)))
	require.Empty(t, x.r.Held("j"), "j-1 is the second round's")
	require.Equal(t, "j-1=granted j-2=granted w=preempting | j waits for w", x.picture())
	require.Equal(t, "j failed: back w, dropped j-1 j-2", x.run("fail w"))
	require.Equal(t, nothingOn, x.picture())
}

// TestRounds_HeldTogether: what two completed rounds hold goes when the job goes.
func TestRounds_HeldTogether(t *testing.T) {
	x := newRoundWorld(t)
	x.run("begin j; ack v1; ack v2; complete j")
	require.NoError(t, x.r.Begin(x.change("j", []string{"w"}, []string{"j-2"}), minutes(1), time.Time{}))
	require.Equal(t, []string{"j-0", "j-1"}, x.r.Held("j"), "of the first")
	x.run("ack w; complete j")
	require.Equal(t, []string{"j-0", "j-1", "j-2"}, x.r.Held("j"))
	require.Equal(t, "j abandoned: dropped j-0 j-1 j-2", x.run("abandon j"))
	require.Empty(t, x.r.Held("j"))

	x.add("w")
	require.NoError(t, x.r.Begin(x.change("j", []string{"w"}, []string{"j-2"}), minutes(1), time.Time{}))
	require.Equal(t, "j abandoned: back w, dropped j-2", x.run("abandon j"))
}

// TestRounds_ForeignGrant: a grant that someone else gave is not the round's to
// drop.
func TestRounds_ForeignGrant(t *testing.T) {
	x := newRoundWorld(t)
	ch := x.change("j", []string{"v1"}, []string{"j-0", "j-1"})
	_, err := x.c.Grant(ch.Grants[0].Ask, 1)
	require.NoError(t, err)
	ch.Version = x.c.Version()
	v1, _ := x.c.Lookup("v1")
	ch.Victims[0].Task = v1
	require.NoError(t, x.r.Begin(ch, minutes(0), time.Time{}))
	require.Equal(t, "j failed: back v1, dropped j-1", x.run("fail v1"))
	require.Equal(t, "j-0=granted | ", x.picture())
}

// TestRounds_MemberTwice: a change that names a grant twice makes one.
func TestRounds_MemberTwice(t *testing.T) {
	x := newRoundWorld(t)
	require.NoError(t, x.r.Begin(x.change("j", []string{"v1"}, []string{"j-0", "j-0"}), minutes(0), time.Time{}))
	require.Equal(t, "j failed: back v1, dropped j-0", x.run("fail v1"))
}

// TestRounds_KeyComesBack: once a victim is acknowledged its key may be that of
// another task, which another round may take.
func TestRounds_KeyComesBack(t *testing.T) {
	x := newRoundWorld(t)
	x.run("begin j; ack v1; add v1")
	require.NoError(t, x.r.Begin(x.change("k", []string{"v1"}, []string{"k-0"}), minutes(0), time.Time{}))
	require.Equal(t, "j failed: gone v1, back v2, dropped j-0 j-1", x.run("fail v2"))
	require.Equal(t, "k-0=granted v1=preempting | k waits for v1", x.picture())
	require.Equal(t, "k completed: gone v1, held k-0", x.run("ack v1; complete k"))
}

// TestRounds_HeldNoMore: what a completed round left behind and the job has
// given up is not its own when someone else grants it anew.
func TestRounds_HeldNoMore(t *testing.T) {
	for _, test := range []struct{ name, script string }{
		{"the job departed", "abandon j"},
		{"it ran, and another round began meanwhile", "start j-0; remove j-0; start j-1; remove j-1; begin k"},
		{"it ran, and another round completed meanwhile", "begin k; ack w; start j-0; remove j-0; drop j-1; complete k"},
	} {
		x := newRoundWorld(t)
		x.run("begin j; ack v1; ack v2; complete j; " + test.script)
		_, err := x.c.Grant(x.change("j", nil, []string{"j-0"}).Grants[0].Ask, 1)
		require.NoError(t, err)
		require.Empty(t, x.r.Held("j"), test.name)
		require.Equal(t, noRoundOfJ, x.run("abandon j"), test.name)
	}
}

// TestRounds_Views: what is returned is the caller's.
func TestRounds_Views(t *testing.T) {
	x := newRoundWorld(t)
	x.run("begin j")
	round, _ := x.r.Lookup("j")
	round.Held[0], round.Leaving[0] = "?", "?"
	require.Equal(t, allMarked, x.picture())
	x.run("ack v1; ack v2; complete j")
	x.r.Held("j")[0] = "?"
	require.Equal(t, []string{"j-0", "j-1"}, x.r.Held("j"))
}

// TestRounds_Space follows the amounts through a round: nothing is free for
// others before the members have it, and all of it is when the job goes.
func TestRounds_Space(t *testing.T) {
	x := newRoundWorld(t)
	space := func(present, coming, a, b int64) {
		t.Helper()
		p, c := x.free()
		require.Equal(t, []int64{present, coming, a, b}, []int64{p, c, x.uses(quotaA), x.uses(quotaB)})
	}
	space(6, 6, 3, 0)
	x.run("begin j")
	space(4, 6, 3, 2)
	x.run("ack v1")
	space(5, 6, 2, 2)
	x.run("ack v2")
	space(6, 6, 1, 2)
	x.run("start j-0; complete j")
	space(6, 6, 1, 2)
	x.run("abandon j")
	space(7, 7, 1, 1)
}

func TestRounds_Lookup(t *testing.T) {
	x := newRoundWorld(t)
	x.run("begin k; begin j 10; ack v1; start j-0; return w")
	got, ok := x.r.Lookup("j")
	require.True(t, ok)
	require.Equal(t, jobs.Round{
		Job: "j", Deadline: minutes(10),
		Gone: []string{"v1"}, Leaving: []string{"v2"}, Held: []string{"j-1"},
	}, got)
	got, _ = x.r.Lookup("k")
	require.Equal(t, jobs.Round{Job: "k", Returned: []string{"w"}, Held: []string{"k-0"}}, got)
	_, ok = x.r.Lookup("l")
	require.False(t, ok)

	var all []string
	for round := range x.r.All() {
		all = append(all, round.Job)
	}
	require.Equal(t, []string{"j", "k"}, all)
	for round := range x.r.All() { // stops where it is told to
		require.Equal(t, "j", round.Job)
		break
	}
}

// TestRounds_Empty: the zero value has no rounds.
func TestRounds_Empty(t *testing.T) {
	var r jobs.Rounds
	_, ok := r.Lookup("j")
	require.False(t, ok)
	require.Empty(t, slices.Collect(r.All()))
	require.Empty(t, r.Expire(minutes(0)))
	require.Empty(t, r.Held("j"))
}

// TestRounds_ErrorKinds: errors name job and victim, as data too.
func TestRounds_ErrorKinds(t *testing.T) {
	x := newRoundWorld(t)
	x.run("begin j")
	for _, test := range []struct {
		script string
		kind   error
		want   jobs.RoundError
	}{
		{"begin j", jobs.ErrUnderWay, jobs.RoundError{Job: "j"}},
		{"complete j", jobs.ErrLeaving, jobs.RoundError{Job: "j", Victim: "v1"}},
		{"complete k", jobs.ErrNoRound, jobs.RoundError{Job: "k"}},
		{"abandon k", jobs.ErrNoRound, jobs.RoundError{Job: "k"}},
		{"ack w", jobs.ErrVictim, jobs.RoundError{Victim: "w"}},
		{"fail w", jobs.ErrVictim, jobs.RoundError{Victim: "w"}},
		{"return v2; ack v2", jobs.ErrReturned, jobs.RoundError{Job: "j", Victim: "v2"}},
	} {
		var err error
		for _, event := range splitScript(test.script) {
			_, err = x.event(event[0], event[1])
		}
		require.ErrorIs(t, err, test.kind, test.script)
		var problem *jobs.RoundError
		require.ErrorAs(t, err, &problem)
		require.Equal(t, test.want.Job, problem.Job)
		require.Equal(t, test.want.Victim, problem.Victim)
	}
	require.EqualError(t, &jobs.RoundError{Job: "a b", Victim: "c\n", Err: jobs.ErrVictim},
		`jobs: round of job "a b": victim "c\n": no victim that is waited for`)
}

// TestRounds_Elsewhere: a gang goes as a whole for a job that needs the room of one member.
// The round does not wait for the other, unless a max or an allowance does.
func TestRounds_Elsewhere(t *testing.T) {
	const gang = "node n1 4\nnode n2 4\nkeep g 2\n" +
		"task near low n1 4 job=g\ntask far low n2 4 job=g\njob q 4"
	for _, test := range []struct {
		town    string
		outcome victims.Outcome // of a decision once near has gone
		want    string
	}{
		{"queue q\nqueue low\n" + gang, victims.Fits, "j completed: gone near, held j0"},
		{"queue root max=7\nqueue q\nqueue low\n" + gang, victims.Refused, "jobs: round of job j: victim far: it has not gone yet"},
		{"queue root quota=4:7\nqueue q\nqueue low\n" + gang + " fixed", victims.Refused, "jobs: round of job j: victim far: it has not gone yet"},
	} {
		w := build(t, test.town)
		d := w.decide()
		require.Equal(t, "plan j0=n1 -far! -near!", w.brief(d))
		rounds := &jobs.Rounds{Cluster: w.cluster}
		require.NoError(t, rounds.Begin(d.Plan.Change(), noon, noon.Add(time.Hour)))
		require.NoError(t, rounds.Acknowledge("near"))
		var text bytes.Buffer
		require.NoError(t, rounds.Save(&text))
		rounds = &jobs.Rounds{Cluster: w.cluster}
		require.NoError(t, rounds.Load(&text))

		again := w.decide()
		if again.Outcome == victims.Refused {
			require.Equal(t, "in-flight", again.Refusal.Reason)
		}
		require.Equal(t, test.outcome == victims.Fits, again.Outcome == victims.Fits, "as a decision has it")
		end, err := rounds.Complete("j")
		if test.outcome != victims.Fits {
			require.EqualError(t, err, test.want)
			require.NoError(t, rounds.Acknowledge("far"))
			_, err = rounds.Complete("j")
			require.NoError(t, err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, test.want, describeEnd(end))
		require.Equal(t, []string{"far"}, end.Leaving)
		require.NoError(t, w.cluster.Start("j0", noon))
		require.ErrorIs(t, rounds.Acknowledge("far"), jobs.ErrVictim)
		far, _ := w.cluster.Lookup("far")
		require.Equal(t, victims.Preempting, w.cluster.State(far), "it stays marked")
	}
}
