// SPDX-License-Identifier: Apache-2.0

// Package svg writes pictures that stand alone: SVG documents without scripts,
// fonts or anything else from elsewhere, on a light ground.
//
// Coordinates are whole pixels, to the right and down, so that the same calls
// give the same bytes everywhere. What shapes look like is said once, by the
// rules of a style sheet, and shapes name a class of it, or "". Texts are whatever
// callers have, and are escaped.
package svg

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// A Canvas collects shapes, later ones over earlier ones. Its zero value is
// empty.
type Canvas struct {
	b strings.Builder
}

// A Box is a rectangle.
type Box struct{ X, Y, W, H int }

// Right and Bottom return where a box ends.
func (b Box) Right() int  { return b.X + b.W }
func (b Box) Bottom() int { return b.Y + b.H }

// MidX and MidY return the middle of a box.
func (b Box) MidX() int { return b.X + b.W/2 }
func (b Box) MidY() int { return b.Y + b.H/2 }

// Rect draws a box whose corners are rounded by r.
func (c *Canvas) Rect(class string, b Box, r int) {
	round := ""
	if r > 0 {
		round = fmt.Sprintf(` rx="%d"`, r)
	}
	fmt.Fprintf(&c.b, "<rect%s x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"%s/>\n", attribute("class", class), b.X, b.Y, b.W, b.H, round)
}

// Path draws the path that commands of SVG describe.
func (c *Canvas) Path(class, commands string) {
	fmt.Fprintf(&c.b, "<path%s%s/>\n", attribute("class", class), attribute("d", commands))
}

// Text writes a text that begins at x, or ends or has its middle there if
// the rules of its class say so, on the line y.
func (c *Canvas) Text(class string, x, y int, text string) {
	fmt.Fprintf(&c.b, "<text%s x=\"%d\" y=\"%d\">%s</text>\n", attribute("class", class), x, y, Escape(text))
}

// Titled draws shapes over which a browser shows a text.
func (c *Canvas) Titled(title string, draw func()) {
	fmt.Fprintf(&c.b, "<g><title>%s</title>\n", Escape(title))
	draw()
	c.b.WriteString("</g>\n")
}

// A Document is the frame of a picture.
type Document struct {
	Width, Height      int
	Title, Description string   // for those who do not see it
	Rules              []string // of the style sheet, in CSS; the caller's own words
	Patterns           string   // that rules fill shapes with, in SVG; the caller's own words
}

// Bytes returns the document with what is on a canvas.
func (d *Document) Bytes(c *Canvas) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %[1]d %[2]d\" role=\"img\">\n", d.Width, d.Height)
	fmt.Fprintf(&b, "<title>%s</title>\n<desc>%s</desc>\n<style>\n", Escape(d.Title), Escape(d.Description))
	for _, rule := range d.Rules {
		b.WriteString(Escape(rule) + "\n")
	}
	b.WriteString("</style>\n")
	if d.Patterns != "" {
		b.WriteString("<defs>\n" + d.Patterns + "</defs>\n")
	}
	// The ground is drawn, so that a dark page does not shine through.
	fmt.Fprintf(&b, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", d.Width, d.Height)
	b.WriteString(c.b.String())
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// Escape returns a text as XML has it: what means something to XML is escaped,
// and what XML cannot hold at all becomes U+FFFD.
func Escape(s string) string {
	var b strings.Builder
	// A builder does not fail.
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}

// attribute returns an attribute with a blank before it, or nothing if it is
// empty.
func attribute(name, value string) string {
	if value == "" {
		return ""
	}
	return " " + name + `="` + Escape(value) + `"`
}
