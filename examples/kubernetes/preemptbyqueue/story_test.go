// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPicture: the picture of the README is what the library makes of the story.
func TestPicture(t *testing.T) {
	want, err := exec.Command("go", "run", "github.com/go-preempt/preempt/examples/plan", "-svg", "-", "../story.json").Output()
	require.NoError(t, err)
	got, err := os.ReadFile("../story.svg")
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "go run ./examples/plan -svg examples/kubernetes/story.svg examples/kubernetes/story.json")
}
