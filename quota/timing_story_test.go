// SPDX-License-Identifier: Apache-2.0

package quota

import "testing"

// TestTimingStories has a story or more for every sentence of the design about
// timing, which it is named after.
func TestTimingStories(t *testing.T) {
	for _, test := range []struct {
		sentence string
		script   string
	}{
		{"delay 0: off", `
			0s    use x gpu=8
			0s    set x max gpu=10 delay 0s
			1h    set x max gpu=5 delay 0s
			1h    next -> never
			999h  due -> none
		`},
		{"a change that lowers the bound of any type starts the clock at the change", `
			0s     set x max gpu=10 disk=10 delay 10m
			0s     use x gpu=8
			1h     due -> none
			1h     next -> never
			2h     set x max gpu=5 disk=20 delay 10m
			2h     next -> 2h10m0s
			2h9m   due -> none
			2h10m  due -> x
		`},
		{"undefined → defined is lowering", `
			0s     set x max disk=10 delay 10m
			0s     use x gpu=8
			1h     due -> none
			2h     set x max gpu=5 disk=10 delay 10m
			2h10m  due -> x
		`},
		{"undefined → defined is lowering, also where another bound goes", `
			0s     set x max gpu=10 delay 10m
			0s     use x disk=8
			1h     due -> none
			2h     set x max disk=5 delay 10m
			2h10m  due -> x
		`},
		{"another change of max starts it again from zero", `
			0s   use x gpu=8
			0s   set x max gpu=5 delay 10m
			9m   set x max gpu=4 delay 10m
			18m  due -> none
			19m  due -> x
		`},
		{"another change of max starts it again from zero, also one that raises some bound", `
			0s   use x gpu=8 disk=8
			0s   set x max gpu=5 disk=5 delay 10m
			9m   set x max gpu=6 disk=4 delay 10m
			18m  due -> none
			19m  due -> x
		`},
		{"another change of delay starts it again from zero: longer", `
			0s   use x gpu=8
			0s   set x max gpu=5 delay 10m
			9m   set x max gpu=5 delay 20m
			28m  due -> none
			29m  due -> x
		`},
		{"another change of delay starts it again from zero: shorter", `
			0s   use x gpu=8
			0s   set x max gpu=5 delay 10m
			9m   set x max gpu=5 delay 5m
			13m  due -> none
			14m  due -> x
		`},
		{"a change of max and delay at once starts it once", `
			0s   use x gpu=8
			0s   set x max gpu=5 delay 10m
			9m   set x max gpu=4 delay 5m
			13m  due -> none
			14m  due -> x
		`},
		{"a pure increase cancels, though usage is over it", `
			0s  use x gpu=8
			0s  set x max gpu=5 disk=5 delay 10m
			9m  set x max gpu=6 disk=5 delay 10m
			9m  next -> never
			1h  due -> none
		`},
		{"a pure increase cancels: a bound goes", `
			0s  use x gpu=8 disk=8
			0s  set x max gpu=5 disk=5 delay 10m
			9m  set x max disk=5 delay 10m
			1h  due -> none
		`},
		{"a pure increase cancels, whatever the delay does", `
			0s  use x gpu=8
			0s  set x max gpu=5 delay 10m
			9m  set x max gpu=6 delay 20m
			1h  due -> none
			1h  set x max gpu=5 delay 0s
			1h  set x max gpu=6 delay 10m
			2h  due -> none
		`},
		{"equal values are no change", `
			0s   use x gpu=8
			0s   set x max gpu=5 delay 10m
			9m   set x max gpu=5 delay 10m
			10m  due -> x
			10m  set x max gpu=5 delay 10m
			10m  due -> x
		`},
		{"the first value told is one", `
			0s   use x gpu=8
			0s   next -> never
			5m   set x max gpu=5 delay 10m
			5m   next -> 15m0s
			14m  due -> none
			15m  due -> x
		`},
		{"the first value told is one, also one that bounds nothing", `
			0s   use x gpu=8
			5m   set x max none delay 10m
			5m   next -> 15m0s
			15m  due -> none
			15m  next -> never
		`},
		{"a change of delay alone to > 0 starts it", `
			0s   use x gpu=8
			0s   set x max gpu=5 delay 0s
			1h   due -> none
			1h   set x max gpu=5 delay 10m
			69m  due -> none
			70m  due -> x
		`},
		{"a change of delay alone to > 0 starts it, also where it was > 0", `
			0s   set x max gpu=5 delay 10m
			1h   due -> none
			1h   use x gpu=8
			1h   set x max gpu=5 delay 5m
			65m  due -> x
		`},
		{"a change of delay alone to 0 stops it", `
			0s  use x gpu=8
			0s  set x max gpu=5 delay 10m
			9m  set x max gpu=5 delay 0s
			9m  next -> never
			1h  due -> none
		`},
		{"a change of delay to 0 stops it, though max is lowered", `
			0s  use x gpu=8
			0s  set x max gpu=5 delay 10m
			9m  set x max gpu=4 delay 0s
			9m  next -> never
			1h  due -> none
		`},
		{"when it ends, usage of that moment decides: over at first", `
			0s   use x gpu=8
			0s   set x max gpu=5 delay 10m
			9m   use x gpu=5
			10m  due -> none
			10m  next -> never
			11m  use x gpu=8
			1h   due -> none
		`},
		{"when it ends, usage of that moment decides: over at last", `
			0s   use x gpu=5
			0s   set x max gpu=5 delay 10m
			9m   due -> none
			9m   use x gpu=6
			10m  due -> x
		`},
		{"when it ends, usage of that moment decides: what leaves is not counted", `
			0s   use x gpu=8
			0s   leave x gpu=3
			0s   set x max gpu=5 delay 10m
			10m  due -> none
		`},
		{"when it ends, usage of that moment decides: the first look after the end", `
			0s   use x gpu=8
			0s   set x max gpu=5 delay 10m
			20m  use x gpu=5
			30m  due -> none
		`},
		{"when it ends, max of that moment decides", `
			0s   use x gpu=8 disk=8
			0s   set x max gpu=5 delay 10m
			5m   set x max disk=8 delay 10m
			15m  due -> none
			15m  next -> never
		`},
		{"usage is not looked at before", `
			0s   use x gpu=5
			0s   set x max gpu=5 delay 10m
			5m   due -> none
			5m   next -> 10m0s
		`},
		{"what is due and free to begin is given up when usage falls", `
			0s   use x gpu=8
			0s   set x max gpu=5 delay 10m
			10m  due -> x
			11m  use x gpu=5
			11m  due -> none
			12m  use x gpu=8
			12m  due -> none
			12m  next -> never
		`},
		{"what is due starts again from zero, and is cancelled, like a clock that runs", `
			0s   use x gpu=8
			0s   use b gpu=8
			0s   set x max gpu=5 delay 10m
			0s   set b max gpu=5 delay 10m
			10m  due -> x b
			10m  set x max gpu=4 delay 10m
			10m  set b max gpu=6 delay 10m
			10m  due -> none
			20m  due -> x
		`},
		{"what changes during a run counts at its end: lowered", `
			0s   use x gpu=8
			0s   set x max gpu=5 delay 10m
			10m  begin -> x
			12m  set x max gpu=3 delay 10m
			12m  next -> never
			30m  use x gpu=5
			30m  end x
			30m  next -> 40m0s
			39m  due -> none
			40m  due -> x
		`},
		{"what changes during a run counts at its end: lowered, but usage is not over it", `
			0s   use x gpu=8
			0s   set x max gpu=5 delay 10m
			10m  begin -> x
			12m  set x max gpu=3 delay 10m
			30m  use x gpu=3
			30m  end x
			30m  next -> never
		`},
		{"what changes during a run counts at its end: raised, and usage is not over it", `
			0s   use x gpu=8
			0s   set x max gpu=5 delay 10m
			10m  begin -> x
			12m  set x max gpu=8 delay 10m
			30m  end x
			30m  next -> never
		`},
		{"what changes during a run counts at its end: raised, but usage is over it", `
			0s   use x gpu=8
			0s   set x max gpu=5 delay 10m
			10m  begin -> x
			12m  set x max gpu=6 delay 10m
			30m  end x
			40m  due -> x
		`},
		{"what changes during a run counts at its end: the delay", `
			0s   use x gpu=8
			0s   set x max gpu=5 delay 10m
			10m  begin -> x
			12m  set x max gpu=5 delay 1h
			30m  end x
			30m  next -> 1h30m0s
		`},
		{"what changes during a run counts at its end: no delay", `
			0s   use x gpu=8
			0s   set x max gpu=5 delay 10m
			10m  begin -> x
			12m  set x max gpu=5 delay 0s
			30m  end x
			30m  next -> never
		`},
		{"due but blocked stays due", `
			0s   use x gpu=8
			0s   set p max gpu=5 delay 10m
			5m   set x max gpu=5 delay 10m
			10m  begin -> p
			15m  due -> none
			15m  next -> never
			16m  use x gpu=5
			16m  due -> none
			17m  use x gpu=6
			18m  end p
			18m  next -> 15m0s
			18m  due -> x
		`},
		{"due but blocked stays due, until it is not blocked and not over", `
			0s   use x gpu=8
			0s   set p max gpu=5 delay 10m
			5m   set x max gpu=5 delay 10m
			10m  begin -> p
			15m  due -> none
			18m  use x gpu=5
			18m  end p
			18m  due -> none
			18m  next -> never
		`},
		{"blocked, and not over when the clock ends: not due", `
			0s   use x gpu=8
			0s   set p max gpu=5 delay 10m
			5m   set x max gpu=5 delay 10m
			10m  begin -> p
			15m  use x gpu=5
			15m  due -> none
			16m  use x gpu=6
			18m  end p
			18m  due -> none
		`},
		{"now never runs back: when a clock ends", `
			0s   use x gpu=8
			0s   set x max gpu=5 delay 10m
			10m  due -> x
			5m   due -> x
		`},
		{"now never runs back: when a clock starts", `
			0s   use x gpu=8
			20m  due -> none
			0s   set x max gpu=5 delay 10m
			0s   next -> 30m0s
			29m  due -> none
			30m  begin -> x
			0s   end x
			0s   next -> 40m0s
		`},
		{"a run once begun is neither stopped nor doubled by changes", `
			0s   use x gpu=8
			0s   set x max gpu=5 delay 10m
			10m  begin -> x
			11m  begin -> none
			11m  set x max gpu=9 delay 10m
			12m  set x max gpu=4 delay 10m
			13m  set x max gpu=4 delay 0s
			14m  set x max gpu=3 delay 1m
			1h   begin -> none
			1h   end x
		`},
		{"none begins below it until it is done", `
			0s   use x gpu=8
			0s   use y gpu=8
			0s   use b gpu=8
			0s   set p max gpu=5 delay 5m
			0s   set x max gpu=5 delay 10m
			0s   set q max gpu=5 delay 10m
			0s   set y max gpu=5 delay 10m
			0s   set b max gpu=5 delay 10m
			0s   set root max gpu=5 delay 10m
			5m   begin -> p
			10m  due -> b root
			10m  begin -> b
			10m  begin -> root
			10m  begin -> none
			20m  end p
			20m  begin -> none
			21m  end root
			21m  begin -> y
			21m  begin -> x
			21m  begin -> q
			21m  begin -> none
		`},
		{"a run begins above others that are going on", `
			0s   use x gpu=8
			0s   set x max gpu=5 delay 5m
			0s   set p max gpu=5 delay 10m
			5m   begin -> x
			10m  begin -> p
		`},
		{"due together: leaves before parents, deeper first", `
			0s  use x gpu=8
			0s  use y gpu=8
			0s  use z gpu=8
			0s  use b gpu=8
			0s  use e gpu=8
			0s  set root max gpu=5 delay 5m
			0s  set p max gpu=5 delay 5m
			0s  set x max gpu=5 delay 5m
			0s  set q max gpu=5 delay 5m
			0s  set y max gpu=5 delay 5m
			0s  set z max gpu=5 delay 5m
			0s  set b max gpu=5 delay 5m
			0s  set e max gpu=5 delay 5m
			5m  due -> y z x e b q p root
		`},
		{"a parent that its children have helped enough is not begun", `
			0s  use x gpu=8
			0s  set p max gpu=5 delay 5m
			0s  set x max gpu=4 delay 5m
			5m  due -> x p
			5m  begin -> x
			5m  leave x gpu=4
			5m  end x
			5m  begin -> none
			5m  next -> never
		`},
		{"a run that ends short while usage is still over is due again after the delay", `
			0s   use x gpu=8
			0s   set x max gpu=5 delay 10m
			10m  begin -> x
			15m  use x gpu=6
			15m  end x
			15m  next -> 25m0s
			24m  due -> none
			25m  begin -> x
			25m  use x gpu=5
			25m  end x
			25m  next -> never
		`},
		{"a restarted host starts the clock in full", `
			0s   use x gpu=8
			0s   use b gpu=8
			0s   set x max gpu=5 delay 10m
			0s   set b max gpu=5 delay 20m
			10m  begin -> x
			12m  restart
			12m  set x max gpu=5 delay 10m
			12m  set b max gpu=5 delay 20m
			12m  next -> 22m0s
			21m  due -> none
			22m  due -> x
			32m  due -> x b
		`},
		{"dynamic queues never start one", `
			0s   use e gpu=8
			0s   set d max gpu=5 delay 10m
			0s   next -> never
			1h   set d max gpu=4 delay 10m
			1h   set d max gpu=4 delay 5m
			9h   due -> none
			9h   set e max gpu=5 delay 10m
			10h  due -> e
		`},
	} {
		t.Run(test.sentence, func(t *testing.T) { runTimingScript(t, test.script) })
	}
}
