// SPDX-License-Identifier: Apache-2.0

package victims

// Hasten has a planner decide about small clusters as about large ones.
func Hasten(p *Planner) { p.hasty = true }
