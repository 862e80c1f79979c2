// SPDX-License-Identifier: Apache-2.0

package moves

// Hasty has decisions over small clusters searched as those over large ones are.
func (p *Planner) Hasty() { p.search.hasty = true }
