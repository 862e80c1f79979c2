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
