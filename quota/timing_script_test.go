// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// timingConfig is the hierarchy of the tests of [Timing]. No two queues of it
// have the same name.
var timingConfig = queue.Config{Name: "root", Children: []queue.Config{
	{Name: "p", Children: []queue.Config{
		{Name: "x"},
		{Name: "q", Guaranteed: resources.Limit{Value: resources.Vector{2}, Defined: 1}, Children: []queue.Config{
			{Name: "y"}, {Name: "z"},
		}},
	}},
	{Name: "b"},
	{Name: "d", Policies: queue.Policies{Dynamic: true}, Children: []queue.Config{{Name: "e"}}},
}}

// timingEpoch is the instant at which the tests begin.
var timingEpoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// timed returns a Timing of a cluster, and the cluster's tree, which the test may change:
// usage without tasks, and any max.
func timed(t require.TestingT, types []string, root queue.Config) (*Timing, *queue.Tree) {
	schema, err := resources.NewSchema(types...)
	require.NoError(t, err)
	tree, err := queue.NewLenient(schema, root)
	require.NoError(t, err)
	c := victims.NewCluster(tree)
	lent.Of(c.Tree()).ReadOnly = false
	return &Timing{Cluster: c}, c.Tree()
}

// tell sets max and delay of a queue.
func tell(t require.TestingT, tree *queue.Tree, q queue.ID, most resources.Limit, delay time.Duration) {
	require.NoError(t, tree.SetMax(q, most))
	*tree.Policies(q).QuotaDelay = delay
}

// timingQueue returns the queue of a name without those above it.
func timingQueue(t require.TestingT, tree *queue.Tree, name string) queue.ID {
	for q := range queue.ID(tree.Len()) {
		if trees.Name(tree, q) == name {
			return q
		}
	}
	require.Fail(t, "no such queue", name)
	return 0
}

// A timingScript is a Timing that acts out a script, line by line:
//
//	5m   use x gpu=8                       x uses this, and nothing of it leaves
//	5m   leave x gpu=3                     this much of it is marked to leave
//	5m   set x max gpu=5 disk=1 delay 10m  or: max none
//	15m  due -> x q                        in this order
//	15m  begin -> x
//	15m  end x
//	15m  next -> 25m
//	15m  restart
//
// Instants count from timingEpoch. A line whose outcome is not an empty one
// says it after the arrow.
type timingScript struct {
	tree   *queue.Tree
	timing *Timing
}

func newTimingScript(t *testing.T) *timingScript {
	timing, tree := timed(t, []string{"gpu", "disk"}, timingConfig)
	return &timingScript{tree, timing}
}

func (s *timingScript) act(t *testing.T, line string) {
	t.Helper()
	command, want, _ := strings.Cut(line, "->")
	words := append(strings.Fields(command), "")
	after, err := time.ParseDuration(words[0])
	require.NoError(t, err, line)
	got := s.do(t, timingEpoch.Add(after), words[1], words[2:len(words)-1])
	require.Equal(t, strings.TrimSpace(want), got, line)
}

// do does what a line says and returns its outcome.
func (s *timingScript) do(t *testing.T, now time.Time, verb string, words []string) string {
	t.Helper()
	switch verb {
	case "due":
		return s.names(s.timing.allDue(nil, now)...)
	case "begin":
		if q, ok := s.timing.begin(now); ok {
			return s.names(q)
		}
		return "none"
	case "next":
		if next, ok := s.timing.Next(); ok {
			return next.Sub(timingEpoch).String()
		}
		return "never"
	case "restart":
		s.timing = &Timing{Cluster: s.timing.Cluster}
		return ""
	}

	q := timingQueue(t, s.tree, words[0])
	switch verb {
	case "use":
		require.NoError(t, s.tree.Unmark(q, s.tree.Leaving(q)))
		require.NoError(t, s.tree.Remove(q, s.tree.Usage(q)))
		require.NoError(t, s.tree.Add(q, s.limit(t, words[1:]).Value))
	case "leave":
		require.NoError(t, s.tree.Mark(q, s.limit(t, words[1:]).Value))
	case "set":
		n := len(words)
		require.Equal(t, []string{"max", "delay"}, []string{words[1], words[n-2]})
		delay, err := time.ParseDuration(words[n-1])
		require.NoError(t, err)
		tell(t, s.tree, q, s.limit(t, words[2:n-2]), delay)
		s.timing.Observe(now)
	case "end":
		require.NoError(t, s.timing.End(q, now))
		require.False(t, s.timing.Running(q))
	default:
		require.Fail(t, "no such verb", verb)
	}
	return ""
}

func (s *timingScript) names(queues ...queue.ID) string {
	if len(queues) == 0 {
		return "none"
	}
	var names []string
	for _, q := range queues {
		names = append(names, trees.Name(s.tree, q))
	}
	return strings.Join(names, " ")
}

// limit reads the words gpu=1 disk=2, or none.
func (s *timingScript) limit(t *testing.T, words []string) resources.Limit {
	bounds := make(map[string]string)
	for _, word := range words {
		if word != "none" {
			name, amount, _ := strings.Cut(word, "=")
			bounds[name] = amount
		}
	}
	l, err := s.tree.Schema().Limit(bounds)
	require.NoError(t, err)
	return l
}

func runTimingScript(t *testing.T, script string) {
	s := newTimingScript(t)
	for line := range strings.Lines(script) {
		if strings.TrimSpace(line) != "" {
			s.act(t, line)
		}
	}
	// A picture of whatever came of it names each queue that is not idle.
	for q := range queue.ID(s.tree.Len()) {
		_, waits := s.timing.deadlineOf(q)
		shown := strings.Contains("\n"+s.timing.String(), fmt.Sprintf("\n%s ", s.tree.Path(q)))
		require.Equal(t, waits || s.timing.Running(q), shown, "%s in\n%s", s.tree.Path(q), s.timing)
	}
}
