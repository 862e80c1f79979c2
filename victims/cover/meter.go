package cover

// A Meter is what is left of an amount of elementary work that several searches share,
// and the one place that charges for it. A step looks at a row of a problem and a class,
// or takes about as long.
type Meter struct {
	Left int64 // below 1 nothing more is to be begun; below 0 once more was taken
	Used int64 // in all
	// Stop, if it is set, ends all work once it returns true, as if nothing were left.
	// It is asked after every askEvery steps, and not again once it has said so.
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

// Over reports whether nothing is left.
func (m *Meter) Over() bool { return m.Left <= 0 || m.Stopped }
