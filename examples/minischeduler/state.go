// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/go-preempt/preempt/victims"
)

// stateVersion is that of the line of the scheduler itself. The parts of the
// library have versions of their own.
const stateVersion = 2

// A state is what the scheduler knows beside what the library does. Amounts are in
// base units, and queues are numbers: the saved cluster that follows in the file
// keeps the order of both.
//
// Whether an ask rests after a refusal is left out. After a load it is decided
// once more, the answer is the same, and it was told that already.
type state struct {
	Version int
	Now     time.Time
	Waiting []waitingState
	Leaving []departureState
}

type waitingState struct {
	Ask  victims.Ask
	Told victims.Outcome
}

type departureState struct {
	Key string
	At  time.Time
}

// save writes all that the scheduler knows. A crash leaves the old file or the new
// one, and nothing between: the text goes to a file of its own, which then takes
// the name.
func (s *scheduler) save(name string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriter(f)
	err = errors.Join(s.write(w), w.Flush())
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("save %s: %w", name, err)
	}
	return os.Rename(f.Name(), name)
}

// write writes one line of the scheduler's, and after it the cluster and the clocks of
// quotas, in the order in which load needs them.
func (s *scheduler) write(w io.Writer) error {
	own := state{Version: stateVersion, Now: s.now}
	for a := range s.waiting.All() {
		own.Waiting = append(own.Waiting, waitingState{*a, s.told[a.Key]})
	}
	for _, d := range s.leaving {
		own.Leaving = append(own.Leaving, departureState(d))
	}
	return errors.Join(json.NewEncoder(w).Encode(own), s.cluster.Save(w), s.timing.Save(w))
}

// load returns the scheduler that save has written.
func load(out io.Writer, name string) (*scheduler, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := read(out, bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", name, err)
	}
	return s, nil
}

func read(out io.Writer, r *bufio.Reader) (*scheduler, error) {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("the scheduler's line: %w", err)
	}
	var own state
	if err := json.Unmarshal(line, &own); err != nil {
		return nil, fmt.Errorf("the scheduler's line: %w", err)
	}
	if own.Version != stateVersion {
		return nil, fmt.Errorf("the scheduler's line: version %d, want %d", own.Version, stateVersion)
	}
	cluster, err := victims.Load(r)
	if err != nil {
		return nil, err
	}
	s := newScheduler(out, cluster, own.Now)
	if err := s.timing.Load(r); err != nil {
		return nil, err
	}
	if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows what was saved")
	}
	for _, w := range own.Waiting {
		s.told[w.Ask.Key] = w.Told
		s.waiting.Add(w.Ask)
	}
	for _, d := range own.Leaving {
		s.leaving = append(s.leaving, departure(d))
	}
	return s, nil
}
