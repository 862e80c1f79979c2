// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// A verdict says what became of a mutant.
type verdict int

const (
	killed   verdict = iota // a test fails
	survived                // none does
	stale                   // its line is not there, or there more than once
	broken                  // it does not compile
)

func (v verdict) String() string {
	return [...]string{"killed", "SURVIVED", "STALE", "BROKEN"}[v]
}

// judge applies a mutant to the module in a directory, runs the tests and takes
// the mutant back.
func judge(dir string, m *mutant) (v verdict, output string, err error) {
	file := filepath.Join(dir, filepath.FromSlash(m.file))
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return stale, "", nil
	}
	if err != nil {
		return 0, "", err
	}
	mutated, ok := m.apply(string(text))
	if !ok {
		return stale, "", nil
	}
	if err := os.WriteFile(file, []byte(mutated), 0o644); err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, os.WriteFile(file, text, 0o644)) }()
	if output, err := command(dir, "build", "./"+path.Dir(m.file)); err != nil {
		return broken, output, nil
	}
	// A test that hangs has noticed as well.
	arguments := append([]string{"test", "-vet=off", "-failfast", "-timeout=3m"}, m.tests...)
	output, err = command(dir, arguments...)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return survived, output, nil
	case errors.As(err, &exit):
		return killed, output, nil
	}
	return 0, output, err
}

// command runs the go command in a directory.
func command(dir string, arguments ...string) (output string, err error) {
	c := exec.Command("go", arguments...)
	c.Dir = dir
	text, err := c.CombinedOutput()
	return string(text), err
}

// copyModule copies the files of a module to another directory, without those
// whose names begin with a dot, and without failures that rapid has kept: they would kill every mutant.
func copyModule(to, from string) error {
	return filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == from {
			return err
		}
		below, err := filepath.Rel(from, name)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") || filepath.ToSlash(below) == "testdata/rapid" || strings.HasSuffix(filepath.ToSlash(below), "/testdata/rapid")):
			return filepath.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, below), 0o755)
		case strings.HasPrefix(entry.Name(), ".") || !entry.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, below), text, 0o644)
	})
}
