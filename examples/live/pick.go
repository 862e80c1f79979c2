// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
)

// Of most objects little is read, and a dump may have a gigabyte of the rest. So an object is gone
// over once, what is read of it is picked, and only that is decoded.

// A selection is the members of a JSON object that are read, by name, and which of theirs; nil: all of
// it. Those of a list are those of each item.
type selection map[string]selection

// and returns the selection of what p or others select.
func (p selection) and(others ...selection) selection {
	all := selection{}
	for _, from := range append(others, p) {
		for name, of := range from {
			have, twice := all[name]
			switch {
			case !twice:
				all[name] = of
			case have == nil || of == nil:
				all[name] = nil
			default:
				all[name] = have.and(of)
			}
		}
	}
	return all
}

// pick returns the parts of a JSON value as a value of its own; false: it is not valid. What is of
// another kind than its parts is kept: to decode it is the mistake.
func pick(raw []byte, of selection) ([]byte, bool) {
	p := picker{in: raw, out: make([]byte, 0, min(len(raw)/2, 1<<10))}
	ok := p.value(of, true)
	p.space()
	return p.out, ok && p.at == len(raw)
}

// find returns a member of a JSON object as it stands there; nil: there is none, or the object is
// not valid up to there.
func find(raw []byte, name string) []byte {
	p := picker{in: raw}
	var found []byte
	p.inside('{', '}', func() bool {
		own, ok := p.name()
		p.space()
		begin := p.at
		if !ok || !p.value(nil, false) {
			return false
		}
		if string(own) == name {
			found = raw[begin:p.at]
		}
		return found == nil
	})
	return found
}

// A picker goes over a valid JSON text, or a text up to where it is not valid. Its methods report
// whether it was so far.
type picker struct {
	in  []byte
	at  int
	out []byte
}

// space passes over white space.
func (p *picker) space() {
	for p.at < len(p.in) && (p.in[p.at] == ' ' || p.in[p.at] == '\n' || p.in[p.at] == '\t' || p.in[p.at] == '\r') {
		p.at++
	}
}

// peek returns the next byte, 0 at the end.
func (p *picker) peek() byte {
	if p.at < len(p.in) {
		return p.in[p.at]
	}
	return 0
}

// value passes over the next value, and puts out its parts if it is to keep them.
func (p *picker) value(of selection, keep bool) (ok bool) {
	p.space()
	begin, c := p.at, p.peek()
	switch {
	case keep && of != nil && c == '{':
		return p.members(of)
	case keep && of != nil && c == '[':
		return p.items(of)
	case c == '{':
		ok = p.inside('{', '}', func() bool { return p.quoted() && p.colon() && p.value(nil, false) })
	case c == '[':
		ok = p.inside('[', ']', func() bool { return p.value(nil, false) })
	case c == '"':
		ok = p.quoted()
	case c == '-' || digit(c):
		ok = p.number()
	default:
		ok = p.word("true") || p.word("false") || p.word("null")
	}
	if keep && ok {
		p.out = append(p.out, p.in[begin:p.at]...)
	}
	return ok
}

// word passes over a word.
func (p *picker) word(word string) bool {
	if !bytes.HasPrefix(p.in[p.at:], []byte(word)) {
		return false
	}
	p.at += len(word)
	return true
}

// members puts out the parts of an object.
func (p *picker) members(of selection) bool {
	p.out = append(p.out, '{')
	first := true
	ok := p.inside('{', '}', func() bool {
		begin := p.at
		name, ok := p.name()
		if !ok {
			return false
		}
		within, keep := of[string(name)]
		if keep {
			if !first {
				p.out = append(p.out, ',')
			}
			first = false
			p.out = append(p.out, p.in[begin:p.at]...)
		}
		return p.value(within, keep)
	})
	p.out = append(p.out, '}')
	return ok
}

// items puts out the parts of the items of a list.
func (p *picker) items(of selection) bool {
	p.out = append(p.out, '[')
	first := true
	ok := p.inside('[', ']', func() bool {
		if !first {
			p.out = append(p.out, ',')
		}
		first = false
		return p.value(of, true)
	})
	p.out = append(p.out, ']')
	return ok
}

// inside passes over a list or an object, of which one takes an item or a member.
func (p *picker) inside(begin, end byte, one func() bool) bool {
	if p.space(); p.peek() != begin {
		return false
	}
	p.at++
	if p.space(); p.peek() == end {
		p.at++
		return true
	}
	for one() {
		p.space()
		c := p.peek()
		p.at++
		if c != ',' {
			return c == end
		}
		p.space()
	}
	return false
}

// name passes over the name of a member and the colon.
func (p *picker) name() (name []byte, ok bool) {
	begin := p.at
	if !p.quoted() {
		return nil, false
	}
	name = p.in[begin+1 : p.at-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		var plain string
		if json.Unmarshal(p.in[begin:p.at], &plain) != nil {
			return nil, false
		}
		name = []byte(plain)
	}
	return name, p.colon()
}

func (p *picker) colon() bool {
	p.space()
	p.at++
	return p.at <= len(p.in) && p.in[p.at-1] == ':'
}

// quoted passes over a string.
func (p *picker) quoted() bool {
	if p.peek() != '"' {
		return false
	}
	for p.at++; p.at < len(p.in); p.at++ {
		switch c := p.in[p.at]; {
		case c == '"':
			p.at++
			return true
		case c < ' ':
			return false
		case c == '\\':
			if p.at++; !p.escape() {
				return false
			}
		}
	}
	return false
}

// escape passes over what follows a backslash, but for its last byte.
func (p *picker) escape() bool {
	switch p.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		for range 4 {
			p.at++
			if c := p.peek() | 0x20; !digit(p.peek()) && (c < 'a' || c > 'f') {
				return false
			}
		}
		return true
	}
	return false
}

// number passes over a number.
func (p *picker) number() bool {
	if p.peek() == '-' {
		p.at++
	}
	if p.peek() == '0' {
		p.at++
	} else if !p.digits() {
		return false
	}
	if p.peek() == '.' {
		p.at++
		if !p.digits() {
			return false
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.at++
		if c := p.peek(); c == '+' || c == '-' {
			p.at++
		}
		return p.digits()
	}
	return true
}

// digits passes over digits, of which there must be one.
func (p *picker) digits() bool {
	begin := p.at
	for digit(p.peek()) {
		p.at++
	}
	return p.at > begin
}

func digit(c byte) bool { return '0' <= c && c <= '9' }
