package jobs_test

import (
	"encoding"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/jobs"
)

// text is what every enumeration of the package does.
type text interface {
	fmt.Stringer
	encoding.TextMarshaler
}

// checkWords holds an enumeration to its words: each value that has one comes
// back from its text, no two share one, and what is no word changes nothing.
func checkWords[E interface {
	~uint8
	text
}, P interface {
	*E
	encoding.TextUnmarshaler
}](t *testing.T, values int) {
	t.Helper()
	seen := map[string]E{}
	for n := range 256 {
		v := E(n)
		written, err := v.MarshalText()
		if err != nil {
			require.ErrorIs(t, err, word.ErrWord)
			require.Contains(t, v.String(), fmt.Sprintf("(%d)", n), "a number without a word says so")
			continue
		}
		if n == 0 && len(written) == 0 {
			continue // 0 is no value: a field that was never set
		}
		require.Equal(t, v.String(), string(written))
		_, taken := seen[string(written)]
		require.False(t, taken, "%s stands for two", written)
		seen[string(written)] = v
		back := E(255)
		require.NoError(t, P(&back).UnmarshalText(written))
		require.Equal(t, v, back)
	}
	require.Len(t, seen, values)
	kept := E(1)
	for _, wrong := range []string{"no such word", "No-Victims", " ", "Rule(1)"} {
		require.ErrorIs(t, P(&kept).UnmarshalText([]byte(wrong)), word.ErrWord, wrong)
		require.Equal(t, E(1), kept, "an error changes nothing")
	}
}

func TestWords_RoundTrip(t *testing.T) {
	t.Run("reasons", func(t *testing.T) { checkWords[jobs.Reason](t, int(jobs.Unlawful)) })
	t.Run("rules", func(t *testing.T) { checkWords[jobs.Rule](t, int(jobs.NumRules)-1) })
	t.Run("laws", func(t *testing.T) { checkWords[jobs.Law](t, int(jobs.LawMinimal)) })
	t.Run("formulas", func(t *testing.T) { checkWords[jobs.Formula](t, 3) })
	t.Run("triggers", func(t *testing.T) { checkWords[jobs.Trigger](t, 2) })
	t.Run("endings", func(t *testing.T) { checkWords[jobs.Ending](t, 4) })
}
