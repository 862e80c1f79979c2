// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"bytes"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// filled returns a struct of which no field is zero, and all fields of a name and type are the same in any struct.
func filled[T any](t *testing.T) (x T) {
	v := reflect.ValueOf(&x).Elem()
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		switch f.Interface().(type) {
		case string:
			f.SetString("its " + name)
		case bool:
			f.SetBool(true)
		case int, int32, int64:
			f.SetInt(int64(len(name)))
		case uint64:
			f.SetUint(uint64(len(name)))
		case queue.ID, NodeID:
			f.SetInt(1)
		case State:
			f.SetUint(uint64(Releasing))
		case time.Time:
			f.Set(reflect.ValueOf(time.Unix(int64(len(name)), 0).UTC()))
		case resources.Vector:
			f.Set(reflect.ValueOf(resources.Vector{int64(len(name))}))
		case []string:
			f.Set(reflect.ValueOf([]string{"its " + name}))
		case []Member:
		default:
			require.Failf(t, "a field of a new type", "%T.%s", x, name)
		}
	}
	return x
}

// carries holds that to has all of from that both have, but for some fields.
func carries(t *testing.T, from, to any, but ...string) {
	t.Helper()
	f, shared := reflect.ValueOf(from), 0
	for i := range f.NumField() {
		name := f.Type().Field(i).Name
		at := reflect.ValueOf(to).FieldByName(name)
		if at.IsValid() && at.Type() == f.Field(i).Type() && !slices.Contains(but, name) {
			require.Equal(t, f.Field(i).Interface(), at.Interface(), "%T.%s in a %T", from, name, to)
			shared++
		}
	}
	require.Greater(t, shared, 9)
}

// What a task brings is the same of an ask, a member, a grant, a task, and over a restart: no field is lost on the way.
func TestTask_Brings(t *testing.T) {
	ask, member, task := filled[Ask](t), filled[Member](t), filled[Task](t)
	carries(t, ask, ask.task(1))
	carries(t, ask, ask.asMember())
	carries(t, ask.Member(0), member)
	gang := Ask{Key: "g", Members: []Member{member}}
	carries(t, member, gang.MemberAsk(0))
	gang = ask
	gang.Members = []Member{{Key: "m"}, {Key: "n"}}
	carries(t, gang, gang.MemberAsk(0), "Key", "Name", "Tag", "Job", "Members", "MinMembers", "DomainDepth",
		"Originator", "OptedOut", "Cost", "Preemptions") // which are its own

	schema, err := resources.NewSchema("slots")
	require.NoError(t, err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{{Name: "a"}}})
	require.NoError(t, err)
	c := NewCluster(tree)
	node := filled[Node](t)
	n, err := c.AddNode(&node)
	require.NoError(t, err)
	require.Equal(t, node, c.Node(n))
	task.Node, task.NodeName, task.MovesTo = n, node.Name, ""
	id, err := c.AddTask(&task)
	require.NoError(t, err)
	carries(t, task, c.Task(id), "NodeName") // Node says it
	move := Move{Task: id, Grant: task.Key}
	carries(t, task, move.ask(c))

	var text bytes.Buffer
	require.NoError(t, c.Save(&text))
	loaded, err := Load(&text)
	require.NoError(t, err)
	require.Equal(t, c.Task(id), loaded.Task(id))
	require.Equal(t, node, loaded.Node(n))
}
