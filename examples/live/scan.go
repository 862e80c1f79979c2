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
	whole := b == '"' || b == '{' || b == '['
	depth, quoted, escaped := 0, false, false
	for begin := len(dst); ; {
		b, err := s.in.ReadByte()
		switch {
		case err == io.EOF && !whole:
			return dst, nil
		case err == io.EOF:
			return dst, s.wrong(io.ErrUnexpectedEOF)
		case err != nil:
			return dst, err
		case !whole && strings.IndexByte(" \t\r\n,:]}", b) >= 0 && len(dst) > begin:
			return dst, s.in.UnreadByte()
		}
		dst = append(dst, b)
		s.at++
		switch {
		case len(dst)-begin > mostBytes:
			return dst, fmt.Errorf("an object of more than %d bytes", mostBytes)
		case escaped:
			escaped = false
			continue
		case quoted && b == '\\':
			escaped = true
			continue
		case b == '"':
			quoted = !quoted
		case quoted:
			continue
		case b == '{' || b == '[':
			if depth++; depth > mostDepth {
				return dst, errDeep
			}
		case b == '}' || b == ']':
			depth--
		}
		if whole && depth <= 0 && !quoted {
			return dst, nil
		}
	}
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
