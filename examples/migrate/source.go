// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-preempt/preempt/internal/scenario"
)

// stdinName is what messages call standard input.
const stdinName = "stdin"

// A source is the text of a file.
type source struct {
	name string // for messages
	data []byte
}

// sources are the files of a migration.
type sources struct {
	queues    *source // nil: none
	manifests []source
}

// readAll reads the files of the options. Standard input can be read once.
func readAll(o *options, stdin io.Reader) (all sources, err error) {
	read := func(file string) (source, error) {
		if file != "-" {
			data, err := os.ReadFile(file)
			return source{file, data}, err
		}
		if stdin == nil {
			return source{}, errors.New("standard input is named twice")
		}
		data, err := io.ReadAll(stdin)
		if err != nil {
			err = fmt.Errorf("standard input: %w", err)
		}
		stdin = nil
		return source{stdinName, data}, err
	}
	if o.queues != "" {
		s, err := read(o.queues)
		if err != nil {
			return all, err
		}
		all.queues = &s
	}
	for _, file := range o.manifests {
		s, err := read(file)
		if err != nil {
			return all, err
		}
		all.manifests = append(all.manifests, s)
	}
	return all, nil
}

// values returns the JSON values that follow each other in a file, one at
// least. If there are several, messages number them.
func (s *source) values() (all []scenario.Value, err error) {
	pieces, broken := s.split()
	for i, p := range pieces {
		name := s.name
		if len(pieces) > 1 {
			name = fmt.Sprintf("%s (document %d)", s.name, i+1)
		}
		v, err := scenario.Read(name, s.data[p.from:p.to])
		if err != nil {
			// Once more, at its place in the file, for the sake of the message.
			_, err = scenario.Read(name, s.alone(p))
			return nil, s.hint(err)
		}
		all = append(all, v)
	}
	if broken {
		from := 0
		if len(pieces) > 0 {
			from = pieces[len(pieces)-1].to
		}
		_, err := scenario.Read(s.name, s.alone(piece{from, len(s.data)}))
		return nil, s.hint(err)
	}
	return all, nil
}

// A piece is a part of a file, from one byte to before another.
type piece struct{ from, to int }

// split returns where the values of the file are, and whether something that
// is no value comes after them. A file without any is broken.
func (s *source) split() (all []piece, broken bool) {
	dec := json.NewDecoder(bytes.NewReader(s.data))
	for {
		from := int(dec.InputOffset())
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return all, err != io.EOF || all == nil
		}
		all = append(all, piece{from, int(dec.InputOffset())})
	}
}

// alone returns the file up to the end of a piece with nothing but blanks
// before it, so that lines and bytes are counted from the start of the file.
func (s *source) alone(p piece) []byte {
	data := bytes.Clone(s.data[:p.to])
	for i, c := range data[:p.from] {
		if c != '\n' {
			data[i] = ' '
		}
	}
	return data
}
