// SPDX-License-Identifier: Apache-2.0

// Package choices has the options of planners that are a switch or a number, as documents,
// snapshots, pictures and random worlds know them: one line for each.
package choices

import (
	"reflect"
	"strings"

	"github.com/go-preempt/preempt/victims"
)

// Choices are fields of victims.Options, by the same names. The first tag is the name in documents,
// the second what pictures say.
type Choices struct {
	StrictPriority     bool `json:"strictPriority" text:"strict priority"`
	VictimsOnNode      bool `json:"sameNode,omitempty" text:"same node"`
	MaxVictims         int  `json:"maxVictims,omitempty" text:"max victims"`
	TakeOwnApplication bool `json:"ownApplication,omitempty" text:"own application"`
}

// A Row is one of the choices.
type Row struct {
	Name string // in documents
	Text string // in pictures
}

// Rows returns all of them, in their order.
func Rows() (rows []Row) {
	t := reflect.TypeFor[Choices]()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		rows = append(rows, Row{name, t.Field(i).Tag.Get("text")})
	}
	return rows
}

// Of returns what a planner's options choose.
func Of(o *victims.Options) (c Choices) {
	v, from := reflect.ValueOf(&c).Elem(), reflect.ValueOf(o).Elem()
	for i := range v.NumField() {
		v.Field(i).Set(from.FieldByName(v.Type().Field(i).Name))
	}
	return c
}

// Set sets them in a planner's options.
func (c Choices) Set(o *victims.Options) {
	v, to := reflect.ValueOf(c), reflect.ValueOf(o).Elem()
	for i := range v.NumField() {
		to.FieldByName(v.Type().Field(i).Name).Set(v.Field(i))
	}
}

// Pointer returns where the choice of a row is: a pointer to a bool or an int.
func (c *Choices) Pointer(row int) any {
	return reflect.ValueOf(c).Elem().Field(row).Addr().Interface()
}

// Differ returns the texts of those in which c and d differ.
func (c Choices) Differ(d Choices) (texts []string) {
	for i, r := range Rows() {
		if reflect.ValueOf(c).Field(i).Interface() != reflect.ValueOf(d).Field(i).Interface() {
			texts = append(texts, r.Text)
		}
	}
	return texts
}
