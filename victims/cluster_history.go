package victims

import "strconv"

// A Version identifies a state of a cluster: whatever changes the cluster
// changes its version, no two states share one, and undoing brings the old one
// back. Versions of two clusters are never equal, with one exception: a clone
// has the version of its original until either changes. See DESIGN.md, Identity.
//
// Versions are compared with ==. The zero Version is that of no cluster: a plan
// that is none has it.
type Version struct {
	line   *line
	number uint64
}

// A line is the states that a cluster has by its own changes. It says nothing:
// one differs from another by its place in memory.
type line struct{ _ byte }

// IsZero reports whether the version is that of no cluster.
func (v Version) IsZero() bool { return v == Version{} }

// Equal reports whether two versions are the same.
func (v Version) Equal(w Version) bool { return v == w }

// String returns the number of the version, which grows from change to change
// of a cluster. It does not tell the cluster.
func (v Version) String() string { return strconv.FormatUint(v.number, 10) }

// MarshalText returns what String returns.
func (v Version) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// A history tells the states of a cluster apart, and has what leads back from the
// present one: the changes that were applied since the last other change.
type history struct {
	line     *line   // the cluster's identity
	version  Version // of the present state; equal versions are equal states
	versions uint64  // the largest number of a version given so far

	applied []appliedChange // oldest first
	marked  []TaskID        // the victims of all of them, oldest first
	granted []TaskID        // their grants, likewise
}

// appliedChange is what is needed to undo a change.
type appliedChange struct {
	before  Version // the version to come back to
	victims int     // how many of history.marked are its
	grants  int     // how many of history.granted are its
}

func newHistory() history {
	line := new(line)
	return history{line: line, version: Version{line, 1}, versions: 1}
}

// Version identifies the present state.
func (h *history) Version() Version { return h.version }

// next returns a version that no state has had.
func (h *history) next() Version {
	h.versions++
	return Version{h.line, h.versions}
}

// changed gives the cluster a version of its own and forgets what could be undone.
func (h *history) changed() {
	h.version = h.next()
	h.final()
}

// final forgets what could be undone.
func (h *history) final() {
	h.applied = h.applied[:0]
	h.marked = h.marked[:0]
	h.granted = h.granted[:0]
}

// note notes that a change was applied just now, which has marked and granted what
// was added to the lists since they were so long.
func (h *history) note(ch *Change, marked, granted int) {
	h.applied = append(h.applied, appliedChange{
		before: h.version, victims: len(h.marked) - marked, grants: len(h.granted) - granted,
	})
	h.version = h.after(ch)
}

// merge makes the changes from one on a single one, which is undone as a whole.
func (h *history) merge(first int) {
	for len(h.applied) > first+1 {
		last := len(h.applied) - 1
		h.applied[first].victims += h.applied[last].victims
		h.applied[first].grants += h.applied[last].grants
		h.applied = h.applied[:last]
	}
}

// follow gives a cluster the state of another one, of which it is a copy now.
func (h *history) follow(from *history) {
	if h.line == nil {
		h.line = new(line)
	}
	h.version = from.version
	h.versions = max(h.versions, from.versions) // no number of its own twice
	h.final()
}
