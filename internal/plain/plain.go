// SPDX-License-Identifier: Apache-2.0

// Package plain makes names safe to print, and times short. Callers name queues, nodes and tasks
// as they like, but what a name says must not reach a terminal as control
// characters, or break a line or a column.
package plain

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Name returns a name as it is if it is plain, and quoted as in Go if it
// is empty or has blanks, quotes, or what can't be printed.
func Name(s string) string {
	quoted := strconv.Quote(s)
	if s != "" && quoted == `"`+s+`"` && !strings.Contains(s, " ") {
		return s
	}
	return quoted
}

// Names returns names, each as Name does, with commas between.
func Names(all []string) string {
	plain := make([]string, len(all))
	for i, s := range all {
		plain[i] = Name(s)
	}
	return strings.Join(plain, ", ")
}

// Line returns a text on one line: what can't be printed becomes a blank.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}

// Duration writes a time for people: to the second from a minute on, as in "3h20m", to the
// hour from two days on, as in "2d5h", and the longest as "centuries".
func Duration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d == math.MaxInt64:
		return "centuries"
	case d >= 2*day:
		d = d.Round(time.Hour)
		text := strconv.FormatInt(int64(d/day), 10) + "d"
		if h := d % day / time.Hour; h > 0 {
			text += strconv.FormatInt(int64(h), 10) + "h"
		}
		return text
	case d >= time.Minute:
		d = d.Round(time.Second)
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
