// SPDX-License-Identifier: Apache-2.0

package least

// A Meter is what is left of a number of steps that several searches share.
type Meter struct {
	Left int64 // below 1 nothing more is begun, but for a first plan; see Search.Overdraw
	Used int64 // in all
	// Stop ends all work once it returns true. It is not asked again then.
	Stop    func() bool
	Stopped bool // Stop has returned true

	unasked int64 // steps since it was asked
}

// askEvery is how many steps at most are between two questions whether to stop. A piece of
// work that is charged as one is never longer than a few times that.
const askEvery = 500

// Pay charges for some steps.
func (m *Meter) Pay(steps int64) {
	m.Left -= steps
	m.Used += steps
	if m.unasked += steps; m.unasked >= askEvery {
		m.Ask()
	}
}

// Ask asks the caller whether to stop.
func (m *Meter) Ask() {
	m.unasked = 0
	m.Stopped = m.Stopped || m.Stop != nil && m.Stop()
}

// Within lets work have a part of what is left, and returns what it returns.
func (m *Meter) Within(part int64, work func() bool) bool {
	rest := m.Left - part
	m.Left = part
	done := work()
	m.Left += rest
	return done
}

// Over reports whether nothing is left.
func (m *Meter) Over() bool { return m.Left <= 0 || m.Stopped }
