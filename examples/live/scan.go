// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// A scanner finds where the values of a JSON text begin and end. Whether they are valid is
// seen when they are decoded.
type scanner struct {
	in *bufio.Reader
	at int64 // the bytes that are read
}

func newScanner(in io.Reader) *scanner { return &scanner{in: bufio.NewReaderSize(in, 1<<16)} }

// peek returns the next byte that is no white space, and leaves it there; io.EOF at the end.
func (s *scanner) peek() (byte, error) {
	for {
		b, err := s.in.ReadByte()
		if err != nil {
			return 0, err
		}
		if b != ' ' && b != '\t' && b != '\n' && b != '\r' {
			return b, s.in.UnreadByte()
		}
		s.at++
	}
}

// next takes the next byte that is no white space.
func (s *scanner) next() (byte, error) {
	b, err := s.peek()
	if err == nil {
		s.at++
		_, err = s.in.ReadByte()
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return b, s.wrong(err)
}

// expect takes a byte, which must be the next.
func (s *scanner) expect(want byte) error {
	have, err := s.next()
	if err == nil && have != want {
		err = s.wrong(fmt.Errorf("invalid character %q, want %q", have, want))
	}
	return err
}

// wrong says where something is wrong with the text.
func (s *scanner) wrong(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("not valid JSON at byte %d: %w", s.at, err)
}

// valid reports what is wrong with a value that has just been read.
func (s *scanner) valid(raw []byte) error {
	err := json.Unmarshal(raw, new(json.RawMessage))
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return (&scanner{at: s.at - int64(len(raw)) + e.Offset}).wrong(err)
	}
	return err
}

// value appends the next value to dst; the error is io.EOF if there is none. A value that is
// no list, object or string ends where something else begins.
func (s *scanner) value(dst []byte) ([]byte, error) {
	b, err := s.peek()
	if err != nil {
		return dst, err
	}
	e := ending{whole: b == '"' || b == '{' || b == '['}
	for begin := len(dst); ; {
		if _, err := s.in.Peek(1); err == io.EOF && !e.whole {
			return dst, nil
		} else if err == io.EOF {
			return dst, s.wrong(io.ErrUnexpectedEOF)
		} else if err != nil {
			return dst, err
		}
		text, _ := s.in.Peek(s.in.Buffered())
		n, done := e.in(text)
		dst = append(dst, text[:n]...)
		s.at += int64(n)
		if _, err := s.in.Discard(n); err != nil {
			return dst, err
		}
		switch {
		case len(dst)-begin > mostBytes:
			return dst, fmt.Errorf("an object of more than %d bytes", mostBytes)
		case e.depth > mostDepth:
			return dst, errDeep
		case done:
			return dst, nil
		}
	}
}

// An ending finds where a value ends that comes in parts.
type ending struct {
	whole   bool // it is a list, an object or a string
	begun   bool
	quoted  bool
	escaped bool // the next byte is
	depth   int
}

// marks are the bytes that matter to where a list, an object or a string ends.
var marks = [256]bool{'"': true, '\\': true, '{': true, '}': true, '[': true, ']': true}

// in returns how many bytes of the next part belong to the value, and whether it ends there. It
// ends too if it is too deep.
func (e *ending) in(text []byte) (n int, done bool) {
	if !e.whole {
		return e.plain(text)
	}
	i := 0
	if e.escaped {
		i, e.escaped = 1, false
	}
	for ; i < len(text); i++ {
		b := text[i]
		switch {
		case !marks[b]:
			continue
		case b == '"':
			e.quoted = !e.quoted
		case e.quoted && b == '\\':
			i++
			e.escaped = i == len(text)
			continue
		case e.quoted:
			continue
		case b == '{' || b == '[':
			e.depth++
		case b == '}' || b == ']':
			e.depth--
		}
		if e.depth <= 0 && !e.quoted || e.depth > mostDepth {
			return i + 1, true
		}
	}
	return len(text), false
}

// plain is in for another value, which has a byte at least.
func (e *ending) plain(text []byte) (n int, done bool) {
	for i, b := range text {
		if e.begun && strings.IndexByte(" \t\r\n,:]}", b) >= 0 {
			return i, true
		}
		e.begun = true
	}
	return len(text), false
}

// name takes the name of a member of an object, and the colon.
func (s *scanner) name() (string, error) {
	if b, err := s.peek(); err == nil && b != '"' {
		return "", s.wrong(fmt.Errorf("invalid character %q, want a name", b))
	}
	raw, err := s.whole(nil)
	if err == nil {
		err = s.expect(':')
	}
	return string(raw), err
}

// whole is value for one that must be there.
func (s *scanner) whole(dst []byte) ([]byte, error) {
	dst, err := s.value(dst)
	if err == io.EOF {
		err = s.wrong(io.ErrUnexpectedEOF)
	}
	return dst, err
}

// each hands the items of a list to take.
func (s *scanner) each(take func(raw []byte) error) error {
	return s.inside('[', ']', func() error {
		raw, err := s.whole(nil)
		if err != nil {
			return err
		}
		if err := take(raw); err != nil {
			return cmp.Or(s.valid(raw), err)
		}
		return nil
	})
}

// inside takes a list or an object, of which one takes an item or a member.
func (s *scanner) inside(begin, end byte, one func() error) error {
	if err := s.expect(begin); err != nil {
		return err
	}
	if b, err := s.peek(); err == nil && b == end {
		_, err := s.next()
		return err
	}
	for {
		if err := one(); err != nil {
			return err
		}
		switch b, err := s.next(); {
		case err != nil:
			return err
		case b == end:
			return nil
		case b != ',':
			return s.wrong(fmt.Errorf("invalid character %q, want ',' or %q", b, end))
		}
	}
}
