// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	"github.com/go-preempt/preempt/internal/judge/law"
)

func TestMain(m *testing.M) { law.Main(m) }
