package scenario

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A document that does not keep its tasks decides what it decides with them, as
// often as it is run, and is as wrong.
func TestParseLong(t *testing.T) {
	for _, folder := range []string{"scenarios", "bad"} {
		docs := corpus(t, folder)
		ran := 0
		for _, file := range slices.Sorted(maps.Keys(docs)) {
			kept, err := Parse(file, docs[file])
			long, errLong := ParseLong(file, docs[file])
			if err != nil {
				require.EqualError(t, errLong, err.Error())
				continue
			}
			require.NoError(t, errLong, file)
			require.Nil(t, long.Tasks, file)
			require.Equal(t, kept.Tasks, slices.Collect(long.eachTask()), file)
			require.Equal(t, len(kept.Tasks), long.countTasks(), file)
			want, err := kept.Run()
			for range 2 {
				run, errLong := long.Run()
				if err != nil {
					require.EqualError(t, errLong, err.Error())
					continue
				}
				require.NoError(t, errLong, file)
				var one, other bytes.Buffer
				require.NoError(t, want.Report().Write(&one))
				require.NoError(t, run.Report().Write(&other))
				require.Equal(t, one.String(), other.String(), file)
				ran++
			}
		}
		require.True(t, ran > 0 || folder == "bad")
	}
}
