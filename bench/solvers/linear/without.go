// SPDX-License-Identifier: Apache-2.0

//go:build !solvers

package linear

import "time"

// Present says whether there are solvers.
const Present = false

// Relax solves a programme as if no column had to be whole.
func (p *Programme) Relax() Solution { return Solution{Answer: Open} }

// GLPK solves a programme.
func (p *Programme) GLPK(time.Duration) Solution { return Solution{Answer: Open} }

// CBC solves a programme.
func (p *Programme) CBC(time.Duration) Solution { return Solution{Answer: Open} }
