// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// duration writes a time for people, in three digits.
func duration(d time.Duration) string {
	for unit := time.Second; unit > time.Nanosecond; unit /= 1000 {
		if d >= unit {
			return d.Round(unit / 100).String()
		}
	}
	return d.String()
}

// number writes a ratio for people: what is above ten is whole, in groups of
// three digits.
func number(x float64) string {
	switch {
	case x == 0:
		return ""
	case x < 0.1:
		return strconv.FormatFloat(x, 'f', 3, 64)
	case x < 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	text := strconv.FormatFloat(x, 'f', 0, 64)
	var groups []string
	for len(text) > 3 {
		groups = append([]string{text[len(text)-3:]}, groups...)
		text = text[:len(text)-3]
	}
	return strings.Join(append([]string{text}, groups...), ",")
}

// volume writes bytes for people.
func volume(bytes uint64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	x := float64(bytes)
	for i, unit := range units {
		if x < 1000 || i == len(units)-1 {
			return fmt.Sprintf("%.3g %s", x, unit)
		}
		x /= 1000
	}
	return ""
}
