// SPDX-License-Identifier: Apache-2.0

package choices

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/victims"
)

// Each choice is an option of planners, with a name of its own, and goes there and back.
func TestChoices(t *testing.T) {
	names := make(map[string]bool)
	for i, r := range Rows() {
		require.NotEmpty(t, r.Name)
		require.NotEmpty(t, r.Text)
		require.False(t, names[r.Name], r.Name)
		names[r.Name] = true
		var c Choices
		switch at := c.Pointer(i).(type) {
		case *bool:
			*at = true
		case *int:
			*at = 3
		default:
			t.Fatalf("%s is a %T, which no document can say", r.Name, at)
		}
		var o victims.Options
		c.Set(&o)
		require.Equal(t, c, Of(&o))
		require.Equal(t, []string{r.Text}, c.Differ(Choices{}))
		require.NotEqual(t, reflect.ValueOf(victims.Options{}).FieldByName(reflect.TypeFor[Choices]().Field(i).Name).Interface(),
			reflect.ValueOf(o).FieldByName(reflect.TypeFor[Choices]().Field(i).Name).Interface())
	}
}
