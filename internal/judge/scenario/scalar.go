// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// text reads a string.
func (d *decoder) text(v value) string {
	d.want(v, text)
	return v.text
}

// texts reads strings under any names.
func (d *decoder) texts(v value) map[string]string {
	return fields(d, v, func(_, v value) string { return d.text(v) })
}

// name reads a string that is not empty.
func (d *decoder) name(v value) string {
	if d.want(v, text) && v.text == "" {
		d.fail(v, "%w: a name must not be empty", ErrValue)
	}
	return v.text
}

// unique returns what reads names that all differ.
func (d *decoder) unique(s seen) func(value) string {
	return func(v value) string {
		name := d.name(v)
		if d.scout {
			return name
		}
		if first, ok := s[name]; ok {
			d.fail(v, "%w: the name is taken at %s", ErrDuplicate, first)
		}
		s[name] = v.at
		return name
	}
}

// word reads one of some words and returns which, counted from 1.
func word[E ~uint8](d *decoder, words []string) func(value) E {
	return func(v value) E {
		i := slices.Index(words, v.text)
		if d.want(v, text) && i < 0 {
			d.fail(v, "%w: want one of %s", ErrValue, join(words))
		}
		return E(1 + i)
	}
}

// boolean reads true or false.
func (d *decoder) boolean(v value) bool {
	d.want(v, boolean)
	return v.yes
}

// whole returns what reads whole numbers from least to most. They are written
// in digits only: 1.0 and 1e3 are not.
func (d *decoder) whole(least, most int64) func(value) int64 {
	return func(v value) int64 {
		if !d.want(v, number) {
			return least
		}
		n, err := strconv.ParseInt(v.text, 10, 64)
		if err != nil || n < least || n > most {
			d.fail(v, "%w: want a whole number from %d to %d", ErrValue, least, most)
			return least
		}
		return n
	}
}

// within is whole for numbers of things.
func (d *decoder) within(least, most int) func(value) int {
	return func(v value) int { return int(d.whole(int64(least), int64(most))(v)) }
}

// cost reads what stopping a task costs the host.
func (d *decoder) cost(v value) int64 { return d.whole(0, math.MaxInt64)(v) }

// priority reads an int32.
func (d *decoder) priority(v value) int32 {
	return int32(d.within(math.MinInt32, math.MaxInt32)(v))
}

// count reads a number of things.
func (d *decoder) count(v value) int { return d.within(0, math.MaxInt32)(v) }

// duration reads a duration in Go's syntax that is not negative.
func (d *decoder) duration(v value) time.Duration {
	if !d.want(v, text) {
		return 0
	}
	t, err := time.ParseDuration(v.text)
	switch {
	case err != nil:
		d.fail(v, "%w: want a duration such as 1h30m", ErrValue)
	case t < 0:
		d.fail(v, "%w: a duration must not be negative here", ErrValue)
	}
	return t
}

// instant reads an RFC 3339 time and returns it in UTC, where it must have a
// year of four digits too.
func (d *decoder) instant(v value) time.Time {
	if !d.want(v, text) {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, v.text)
	// Parse also takes hours of one digit, and commas before a fraction.
	exact := strings.HasPrefix(v.text, t.Format("2006-01-02T15:04:05")) && !strings.Contains(v.text, ",")
	t = t.UTC()
	if err != nil || !exact || t.Year() < 0 || t.Year() > 9999 {
		d.fail(v, "%w: want a time such as 2026-01-01T00:00:00Z", ErrValue)
	}
	return t
}

// join lists words for a message.
func join[S ~string](words []S) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(w))
	}
	return b.String()
}

// spell returns word w of a list that is counted from 1.
func spell(words []string, w uint8) string {
	if w == 0 || int(w) > len(words) {
		return "unknown"
	}
	return words[w-1]
}
