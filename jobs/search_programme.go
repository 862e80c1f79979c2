package jobs

import (
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/victims/cover"
)

// A programme is a dynamic programme over hosts: table[i][j] is the least cost
// of j members on the hosts from the i-th listed one on. Each host is listed
// once, with the ways to take members that matter.
//
// The cost is members times listed ways.
type programme struct {
	order  *cover.Order
	first  []int32 // the ways of host h are ways[first[h]:], for one member and more
	ways   []way
	listed []choiceOfWay // by host, and of one host the most members first

	table   []way   // a row per listed host and one for the end, of sums only
	runs    []int32 // where the ways of each listed host begin
	columns int     // of table: for no member, for one, and so on
}

// solve works the table out for a number of members, from the last host to the
// first.
func (p *programme) solve(members int) {
	p.columns = members + 1
	p.runs = p.runs[:0]
	for i, c := range p.listed {
		if i == 0 || p.listed[i-1].host != c.host {
			p.runs = append(p.runs, int32(i))
		}
	}
	p.table = rows.Zeros(p.table, (len(p.runs)+1)*p.columns)
	p.table[len(p.runs)*p.columns].state = wayFound // no members on no hosts
	// From the end, so that eachChoice can walk from the first host on: of equal
	// plans the one comes first that has more members on earlier hosts.
	for i := len(p.runs) - 1; i >= 0; i-- {
		here := p.table[i*p.columns : (i+1)*p.columns]
		next := p.table[(i+1)*p.columns : (i+2)*p.columns]
		copy(here, next)
		for _, c := range p.listedOf(i) {
			p.improve(here[c.members:], next, p.wayOf(c.host, c.members))
		}
	}
}

// improve takes a way of a host wherever that is cheaper: here[j] is for as many
// members more than rest[j] as the way has.
func (p *programme) improve(here, rest []way, w *way) {
	for j := range here {
		if rest[j].state != wayFound {
			continue
		}
		if here[j].state != wayFound || w.sums.comparePlus(p.order, &rest[j].sums, &here[j].sums) < 0 {
			here[j] = way{state: wayFound, sums: w.sums.plus(p.order, &rest[j].sums)}
		}
	}
}

// wayOf returns the way of a host to take n members.
func (p *programme) wayOf(h, n int32) *way { return &p.ways[p.first[h]+n-1] }

// listedOf returns the ways of the i-th listed host, the most members first.
func (p *programme) listedOf(i int) []choiceOfWay {
	end := len(p.listed)
	if i+1 < len(p.runs) {
		end = int(p.runs[i+1])
	}
	return p.listed[p.runs[i]:end]
}

// result returns what all members cost.
func (p *programme) result() *way { return &p.table[p.columns-1] }

// eachChoice calls f with the choices of the cheapest plan, in node order. Of
// equals it puts the most members on the first host, so that their nodes come
// first in node order.
func (p *programme) eachChoice(f func(choiceOfWay)) {
	j := p.columns - 1
	for i := range p.runs {
		here := &p.table[i*p.columns+j]
		for _, c := range p.listedOf(i) {
			if int(c.members) > j {
				continue
			}
			rest := &p.table[(i+1)*p.columns+j-int(c.members)]
			if rest.state != wayFound {
				continue
			}
			w := p.wayOf(c.host, c.members)
			// The choice is found again by its sums, which are exact; so the table
			// needs no memory for it.
			if w.sums.comparePlus(p.order, &rest.sums, &here.sums) == 0 {
				f(c)
				j -= int(c.members)
				break
			}
		}
	}
}
