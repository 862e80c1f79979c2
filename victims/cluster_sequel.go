package victims

import "time"

// A Sequel says of a plan of a batch what the cluster is like once it is applied:
// as the next plan of the batch found it. So the plans of a batch can be applied one
// after another, also to the original of the clone that they were decided on. The
// zero Sequel, which other plans have, says nothing.
//
// It holds for what the plan did when it was decided. One that was changed since
// leads to a state of its own.
type Sequel struct {
	version Version
	seal    seal
}

// Equal reports whether two sequels are the same.
func (s Sequel) Equal(o Sequel) bool { return s == o }

// after returns the version of the state to which a change leads that was applied
// just now: a new one, unless its batch has been there before.
func (h *history) after(ch *Change) Version {
	if s := ch.Sequel; !s.version.IsZero() && s.seal == sealOf(ch) {
		return s.version
	}
	return h.next()
}

// A seal is a fingerprint of a change, FNV-1a of 64 bits. It finds out that a plan
// was changed by mistake, and holds off nobody who means to deceive.
type seal uint64

const (
	sealStart seal = 14695981039346656037
	sealPrime seal = 1099511628211
)

// sealOf returns the fingerprint of all of a change of which a cluster takes notice.
func sealOf(ch *Change) seal {
	s := sealStart.time(ch.At).number(int64(len(ch.Victims)))
	for i := range ch.Victims {
		s = s.number(int64(ch.Victims[i].Task))
	}
	for _, g := range ch.Grants {
		t := g.Ask.task(g.Node)
		s = s.text(t.Key).text(t.Name).text(t.Application).text(t.Job)
		s = s.number(int64(t.Tag)).number(int64(t.Queue)).number(int64(t.Node)).number(int64(t.Priority)).number(t.Cost)
		s = s.flag(t.Originator).flag(t.OptedOut).flag(t.RequiredNode).flag(t.NonPreemptible).time(t.Created)
		s = s.number(int64(len(t.Budgets)))
		for _, name := range t.Budgets {
			s = s.text(name)
		}
		s = s.number(int64(len(t.Size)))
		for _, v := range t.Size {
			s = s.number(v)
		}
	}
	return s
}

func (s seal) number(v int64) seal {
	for range 8 {
		s = (s ^ seal(v&0xff)) * sealPrime
		v >>= 8
	}
	return s
}

func (s seal) text(text string) seal {
	for i := range len(text) {
		s = (s ^ seal(text[i])) * sealPrime
	}
	return s.number(int64(len(text)))
}

func (s seal) flag(b bool) seal {
	if b {
		return s.number(1)
	}
	return s.number(0)
}

func (s seal) time(t time.Time) seal { return s.number(t.Unix()).number(int64(t.Nanosecond())) }
