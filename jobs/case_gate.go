package jobs

import (
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A moment says which amounts count: those of now, or those that will be once
// what is already leaving has gone.
type moment uint8

const (
	present moment = 1 + iota
	coming
)

// public returns the moment in the words of a predicate.
func (m moment) public() victims.Moment {
	if m == present {
		return victims.Present
	}
	return victims.Coming
}

// A gate is what the queues on the path of the job let in, by their max and by
// their quotas. It has one moment at a time: that of the last read.
type gate struct {
	tree     *queue.Tree
	leaf     queue.ID
	ledger   Ledger
	breaches []Breach // of the last question
}

// begin makes the gate that of the job of a case.
func (g *gate) begin(c *jobCase, quotas *Quotas) {
	g.tree, g.leaf = c.tree, c.job.Queue
	g.ledger.Cluster, g.ledger.Quotas = c.c, quotas
}

// read reads the accounts of the quotas on the path at a moment.
func (g *gate) read(m moment) {
	g.ledger.Present = m == present
	g.ledger.Read(g.leaf)
}

// admits reports whether the quotas admit a claim, as they were last read and
// changed.
func (g *gate) admits(claim Claim) bool {
	g.breaches = g.ledger.Admit(g.breaches[:0], claim)
	return len(g.breaches) == 0
}

// mayPreempt reports whether the quotas let a claim trigger preemption.
func (g *gate) mayPreempt(claim Claim) bool {
	g.breaches = g.ledger.MayPreempt(g.breaches[:0], claim)
	return len(g.breaches) == 0
}

// account returns the account of a queue, or nil if it has no quota.
func (g *gate) account(q queue.ID) *Account {
	accounts := g.ledger.Accounts()
	for i := range accounts {
		if accounts[i].Queue == q {
			return &accounts[i]
		}
	}
	return nil
}

// usage returns what a queue uses of a type at a moment.
func (g *gate) usage(q queue.ID, t int, m moment) int64 {
	used := g.tree.Usage(q)[t]
	if m == coming {
		used -= g.tree.Preempting(q)[t] // all that is leaving, whoever wants it gone
	}
	return used
}

// hasHeadroom reports whether no queue of the path would pass its max with
// amounts more than it uses at a moment.
func (g *gate) hasHeadroom(more resources.Vector, m moment) bool {
	return g.underMaxima(resources.Positive(more), more, m)
}

// underMaxima reports whether no queue of the path passes its max in some types
// with amounts more than it uses at a moment.
func (g *gate) underMaxima(types resources.Mask, more resources.Vector, m moment) bool {
	for q := range g.tree.Up(g.leaf) {
		most := g.tree.Max(q)
		for t := range (most.Defined & types).All() {
			if g.usage(q, t, m)+more.At(t) > most.Value[t] {
				return false
			}
		}
	}
	return true
}
