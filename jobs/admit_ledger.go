package jobs

import (
	"slices"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// An Account is what is counted at one queue that has a quota, in its whole
// subtree. Vectors are views into the ledger.
type Account struct {
	Queue queue.ID
	Quota Quota
	Used  resources.Vector // U; P, the part of the preemptible, is U - N
	// NonPreemptible is N, the part of Used whose tasks no other job may take.
	NonPreemptible resources.Vector
	// Waiting is what non-preemptible members ask for that wait below the
	// queue: NR is N + Waiting.
	Waiting resources.Vector
}

// A Ledger has the accounts of the path of one leaf: what the formulas of
// admission speak of. After Read its accounts are values of their own, from
// which a caller takes tasks that are to go, or to which it adds members that
// are to come, to see what the formulas say then.
//
// A Ledger serves one goroutine at a time. Its memory is reused, so that a warm
// one allocates nothing.
type Ledger struct {
	Cluster *victims.Cluster
	Quotas  *Quotas // nil: none
	// Present counts what is leaving as usage still. By default amounts are
	// coming ones: what is leaving is supply. Grants count in both.
	Present bool

	accounts []Account
	block    []int64
}

// Read reads the accounts of the queues from leaf to the root that have a
// quota, replacing what was there. Without any the cost is the depth; else it
// is linear in the queues and tasks below the uppermost one.
func (l *Ledger) Read(leaf queue.ID) {
	tree := l.Cluster.Tree()
	l.accounts = l.accounts[:0]
	for q := range tree.Up(leaf) {
		if quota, ok := l.Quotas.Lookup(q); ok {
			l.accounts = append(l.accounts, Account{Queue: q, Quota: quota})
		}
	}
	if len(l.accounts) == 0 {
		return
	}
	n := tree.Schema().Len()
	l.block = slices.Grow(l.block[:0], 3*n*len(l.accounts))[:3*n*len(l.accounts)]
	clear(l.block)
	rest := l.block
	cut := func() resources.Vector {
		v := rest[:n:n]
		rest = rest[n:]
		return v
	}
	for i := range l.accounts {
		a := &l.accounts[i]
		a.Used, a.NonPreemptible, a.Waiting = cut(), cut(), cut()
		if l.Present {
			a.Used = resources.Copy(a.Used, tree.Usage(a.Queue))
		} else {
			a.Used = tree.Effective(a.Used, a.Queue)
		}
	}
	l.sum(tree)
}

// sum adds up what is non-preemptible and what waits. The queues of the accounts
// contain each other, so that what is below one of them and not below the one
// before is added once, and then what the one before has.
func (l *Ledger) sum(tree *queue.Tree) {
	var inner *Account
	for i := range l.accounts {
		a := &l.accounts[i]
		for q := a.Queue; q < tree.End(a.Queue); {
			if inner != nil && q == inner.Queue {
				q = tree.End(q)
				continue
			}
			l.sumOf(a, q)
			q++
		}
		if inner != nil {
			a.NonPreemptible = resources.Add(a.NonPreemptible, a.NonPreemptible, inner.NonPreemptible)
			a.Waiting = resources.Add(a.Waiting, a.Waiting, inner.Waiting)
		}
		inner = a
	}
}

// sumOf adds what is in queue q itself to an account.
func (l *Ledger) sumOf(a *Account, q queue.ID) {
	if quota, ok := l.Quotas.Lookup(q); ok {
		// NR may saturate: it is compared with a min, and the smaller one counts.
		a.Waiting = resources.Add(a.Waiting, a.Waiting, quota.Waiting)
	}
	for id := range l.Cluster.TasksIn(q) {
		t := l.Cluster.TaskView(id)
		if t.NonPreemptible && (l.Present || t.State == victims.Running || t.State == victims.Granted) {
			a.NonPreemptible = resources.Add(a.NonPreemptible, a.NonPreemptible, t.Size)
		}
	}
}

// Accounts returns the accounts that were read, the innermost first, as a view.
func (l *Ledger) Accounts() []Account { return l.accounts }

// Remove takes a task that is counted out of the accounts of the queues that it
// is below: its queue, its size and whether it is non-preemptible are looked at.
func (l *Ledger) Remove(t *victims.Task) { l.change(t, resources.Sub) }

// Add counts a task, as Remove takes one out. Sums beyond the range of int64
// saturate, and then are wrong for good.
func (l *Ledger) Add(t *victims.Task) { l.change(t, resources.Add) }

func (l *Ledger) change(t *victims.Task, op func(dst, x, y resources.Vector) resources.Vector) {
	tree := l.Cluster.Tree()
	for i := range l.accounts {
		a := &l.accounts[i]
		if !tree.Contains(a.Queue, t.Queue) {
			continue
		}
		a.Used = op(a.Used, a.Used, t.Size)
		if t.NonPreemptible {
			a.NonPreemptible = op(a.NonPreemptible, a.NonPreemptible, t.Size)
		}
	}
}
