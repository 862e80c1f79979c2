// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/examples/plan/internal/say"
	"github.com/go-preempt/preempt/internal/judge/svg"
	"github.com/go-preempt/preempt/internal/plain"
)

// checkPicture holds a picture to what all have to be.
func checkPicture(t require.TestingT, s *scene, data []byte) {
	p := readPicture(t, data)
	for i, a := range p.texts {
		for _, b := range p.texts[:i] {
			apart := a.box.Right() <= b.box.X || b.box.Right() <= a.box.X || a.box.Bottom() <= b.box.Y || b.box.Bottom() <= a.box.Y
			if !apart {
				require.Fail(t, "one text lies over another", "%q over %q", a.text, b.text)
			}
		}
	}
	for _, track := range p.rects["track"] {
		for _, w := range p.texts {
			b := w.box
			if b.X < track.X && b.Right() > track.X && b.Y < track.Bottom() && b.Bottom() > track.Y {
				require.Fail(t, "a text runs into a bar", "%q", w.text)
			}
		}
	}
	titles := "\n" + strings.Join(p.titles, "\n")
	if s.decided {
		require.Contains(t, titles, "\n"+s.queue(s.asker)+": uses ")
	}
	for i := range say.First(s.victims, mostVictims) {
		require.Contains(t, titles, "\n"+s.describe(&s.victims[i]))
	}
	for id := range s.cluster.Nodes() {
		if s.cluster.NodeLen() <= mostNodes {
			require.Contains(t, titles, "\n"+s.node(id)+": ")
		}
	}
	for _, a := range s.comes {
		require.Contains(t, titles, "\n"+plain.Name(a.key)+": its place, ")
	}
}

// A picture is what a browser has of one.
type picture struct {
	box    svg.Box
	titles []string
	texts  []written
	rects  map[string][]svg.Box // by class
}

type written struct {
	text string
	box  svg.Box // that no font passes
}

// textsLike returns the texts that a pattern matches as a whole, in order.
func (p *picture) textsLike(pattern string) (all []string) {
	for _, w := range p.texts {
		if regexp.MustCompile("^(" + pattern + ")$").MatchString(w.text) {
			all = append(all, w.text)
		}
	}
	return all
}

// fonts are the sizes of texts by their classes.
var fonts = map[string]int{
	"": 12, "title": svg.Bold(19), "number": svg.Bold(28), "headline": 14, "verdict": svg.Bold(14), "column": svg.Bold(13), "strong": svg.Bold(12),
	"muted": 11, "muted end": 11, "small": 10,
	"goes": svg.Bold(12), "comes": svg.Bold(12), "goes small": svg.Bold(10), "comes small": svg.Bold(10),
}

// readPicture reads a picture, which must be well-formed, with known elements,
// everything in whole pixels and within its frame.
func readPicture(t require.TestingT, data []byte) *picture {
	var root element
	d := xml.NewDecoder(bytes.NewReader(data))
	require.NoError(t, d.Decode(&root))
	_, err := d.Token()
	for err == nil {
		_, err = d.Token()
	}
	require.True(t, errors.Is(err, io.EOF), "%v", err)
	p := &picture{rects: make(map[string][]svg.Box)}
	p.box = svg.Box{W: root.number(t, "width"), H: root.number(t, "height")}
	require.Equal(t, "svg", root.XMLName.Local)
	p.read(t, root.Children)
	return p
}

type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []element  `xml:",any"`
}

func (e *element) attribute(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (e *element) number(t require.TestingT, name string) int {
	n, err := strconv.Atoi(e.attribute(name))
	require.NoError(t, err, "%s of %v", name, e.Attrs)
	return n
}

var pathCommands = regexp.MustCompile(`^M[MHVQlZ0-9 -]+$`)

// read reads elements and what is in them.
func (p *picture) read(t require.TestingT, all []element) {
	for i := range all {
		e := &all[i]
		class := e.attribute("class")
		switch e.XMLName.Local {
		case "title":
			p.titles = append(p.titles, e.Text)
		case "text":
			w, size := svg.Width(e.Text, fonts[class]), fonts[class]
			require.NotZero(t, size, "no size for class %q", class)
			box := svg.Box{X: e.number(t, "x"), Y: e.number(t, "y") - size*3/4, W: w, H: size * 3 / 4}
			if strings.HasSuffix(class, " end") {
				box.X -= w
			}
			p.within(t, box, e.Text)
			p.texts = append(p.texts, written{e.Text, box})
		case "rect":
			if class == "" {
				continue // the ground
			}
			box := svg.Box{X: e.number(t, "x"), Y: e.number(t, "y"), W: e.number(t, "width"), H: e.number(t, "height")}
			require.Positive(t, min(box.W, box.H), "%v", e.Attrs)
			p.within(t, box, class)
			p.rects[class] = append(p.rects[class], box)
		case "path":
			if !pathCommands.MatchString(e.attribute("d")) {
				require.Fail(t, "bad path", e.attribute("d"))
			}
		case "defs":
			continue // the patterns, which are no shapes
		case "g", "desc", "style":
		default:
			require.Fail(t, "unknown element", e.XMLName.Local)
		}
		p.read(t, e.Children)
	}
}

// within holds that something lies in the picture.
func (p *picture) within(t require.TestingT, b svg.Box, what string) {
	if b.X < 0 || b.Y < 0 || b.Right() > p.box.W || b.Bottom() > p.box.H {
		require.Fail(t, "outside of the picture", "%s: %+v is not in %+v", what, b, p.box)
	}
}
