// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-preempt/preempt/internal/judge/scenario"
)

// demo is what is decided if no file is named.
//
//go:embed demo.json
var demo []byte

// read reads what the arguments name. Its error is everything that could not
// be read.
func read(args []string, stdin io.Reader) ([]scenario.Text, error) {
	if len(args) == 0 {
		return []scenario.Text{{File: "demo.json", Data: demo}}, nil
	}
	var sources []scenario.Text
	var problems []error
	for _, arg := range args {
		files, err := expand(arg)
		if err != nil {
			problems = append(problems, err)
		}
		for _, file := range files {
			s, err := readOne(file, stdin)
			if err != nil {
				problems = append(problems, err)
			}
			sources = append(sources, s)
		}
	}
	return sources, errors.Join(problems...)
}

// large is a text, in bytes, of which a plan takes care not to need too much
// memory at a time.
const large = 16 << 20

// bytesOf returns how long all texts are.
func bytesOf(sources []scenario.Text) (sum int) {
	for _, s := range sources {
		sum += len(s.Data)
	}
	return sum
}

// readOne reads one file, or standard input for "-".
func readOne(file string, stdin io.Reader) (scenario.Text, error) {
	if file != "-" {
		data, err := os.ReadFile(file)
		return scenario.Text{File: file, Data: data}, err
	}
	data, err := io.ReadAll(stdin)
	if err != nil {
		err = fmt.Errorf("standard input: %w", err)
	}
	return scenario.Text{File: "stdin", Data: data}, err
}

// expand returns the *.json files of a directory, sorted, and everything else
// as it is.
func expand(arg string) ([]string, error) {
	if info, err := os.Stat(arg); arg == "-" || err != nil || !info.IsDir() {
		return []string{arg}, nil // reading it will tell what is wrong
	}
	entries, err := os.ReadDir(arg)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() && filepath.Ext(e.Name()) == ".json" {
			files = append(files, filepath.Join(arg, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no *.json files", arg)
	}
	return files, nil
}

// An outcome is what came of a source.
type outcome struct {
	file string
	run  *scenario.Run
}

// A way is a way to carry a document out, such as (*scenario.Document).Run.
type way func(*scenario.Document) (*scenario.Run, error)

// decide parses all documents and carries them out in a way. Its error is what
// is wrong with each of them.
func decide(sources []scenario.Text, carryOut way) ([]outcome, error) {
	var all []outcome
	var problems []error
	for i, s := range sources {
		sources[i].Data = nil // a text may be large: its document keeps what it needs of it
		run, err := decideOne(s, carryOut)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		all = append(all, outcome{file: s.File, run: run})
	}
	return all, errors.Join(problems...)
}

func decideOne(s scenario.Text, carryOut way) (*scenario.Run, error) {
	doc, err := scenario.ParseLong(s.File, s.Data)
	if err != nil {
		return nil, err
	}
	return carryOut(doc)
}
