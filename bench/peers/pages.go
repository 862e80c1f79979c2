// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// readPages reads the files into which tables go. Each has a mark of some part.
func readPages(files []string) ([]string, error) {
	texts := make([]string, len(files))
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		marked := false
		for _, name := range partNames() {
			marked = marked || strings.Contains(string(text), "<!-- peers "+name+" -->")
		}
		if !marked {
			return nil, fmt.Errorf("%s: %w", file, errNoMark)
		}
		texts[i] = string(text)
	}
	return texts, nil
}

var errNoMark = errors.New("no line <!-- peers PART -->")

// writePages writes what was found into the files.
func writePages(files, texts []string, r *report) error {
	for i, file := range files {
		text := texts[i]
		for _, part := range r.done {
			text = splice(text, "peers "+part, r.page(part))
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// splice returns a text with something between the lines of a mark, if it has
// them.
func splice(text, mark, content string) string {
	begin, end := "<!-- "+mark+" -->\n", "<!-- /"+mark+" -->"
	before, rest, begins := strings.Cut(text, begin)
	_, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		return text
	}
	return before + begin + "\n" + content + "\n" + end + after
}
