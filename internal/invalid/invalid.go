// SPDX-License-Identifier: Apache-2.0

// Package invalid has the kinds of input that no cluster can take. Users see them as one, victims.ErrInvalid:
// each is a bug of the caller, and its text names the thing and its value.
package invalid

import (
	"errors"
	"fmt"
	"slices"
)

// Err is what all kinds are.
var Err = errors.New("invalid")

// The kinds.
const (
	Empty  kind = "empty name"       // a name, a task's node
	Amount kind = "bad amount"       // -1, an unknown type
	Range  kind = "out of range"     // a sum beyond int64, the year 2400
	Queue  kind = "not a leaf queue" // a task of a queue that has children
)

type kind string

func (k kind) Error() string { return string(k) }

func (k kind) Unwrap() error { return Err }

// Cost reports what is wrong with what stopping a task costs.
func Cost(cost int64) error {
	if cost < 0 {
		return fmt.Errorf("cost %d: %w", cost, Amount)
	}
	return nil
}

// Budgets reports names that are empty and, wrapping twice, names that stand twice in the budgets of a task. A task
// counts once for a budget: to name it twice is a mistake that must not cost twice as much.
func Budgets(names []string, twice error) error {
	for i, name := range names {
		if name == "" {
			return fmt.Errorf("budget %q: %w", name, Empty)
		}
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("budget %q: %w", name, twice)
		}
	}
	return nil
}
