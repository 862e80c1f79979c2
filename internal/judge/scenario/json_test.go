// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestRead_Mistakes(t *testing.T) {
	for _, test := range []struct {
		name, data, want string
	}{
		{"nothing", ``, `"": not valid JSON: line 1, byte 1: unexpected end of JSON input`},
		{"only space", " \n ", `" ": not valid JSON: line 2, byte 1: unexpected end of JSON input`},
		{"cut off", "{\n \"a\": [1,", `a[1]: ",": not valid JSON: line 2, byte 9: unexpected end of JSON input`},
		{"comma at the end of an object", `{"a": 1,}`, `"}": not valid JSON: line 1, byte 9: invalid character '}' looking for beginning of object key string`},
		{"comma at the end of a list", `{"a": [1,]}`, `a[1]: "]}": not valid JSON: line 1, byte 10: invalid character ']' looking for beginning of value`},
		{"no comma in a list", `{"a": [1 2]}`, `a[1]: "2]}": not valid JSON: line 1, byte 10: invalid character '2' after array element`},
		{"no comma in an object", `{"a": 1 "b": 2}`, `"\"b\": 2}": not valid JSON: line 1, byte 9: invalid character '"' after object key:value pair`},
		{"no colon", `{"a" 1}`, `a: "1}": not valid JSON: line 1, byte 6: invalid character '1' after object key`},
		{"colon in a list", `[1:2]`, `[1]: ":2]": not valid JSON: line 1, byte 3: invalid character ':' after array element`},
		{"name without quotes", `{a: 1}`, `"a: 1}": not valid JSON: line 1, byte 2: invalid character 'a' looking for beginning of object key string`},
		{"comment", "{} // none", `"// none": not valid JSON: line 1, byte 4: invalid character '/' after top-level value`},
		{"two documents", "{}\n{}", `"{}": not valid JSON: line 2, byte 1: invalid character '{' after top-level value`},
		{"two byte-order marks", "\ufeff\ufeff{}", `"\ufeff{}": not valid JSON: line 1, byte 4: invalid character 'ï' looking for beginning of value`},
		{"octal", `{"a": 01}`, `"1}": not valid JSON: line 1, byte 8: invalid character '1' after object key:value pair`},
		{"plus", `{"a": +1}`, `a: "+1}": not valid JSON: line 1, byte 7: invalid character '+' looking for beginning of value`},
		{"infinity", `{"a": NaN}`, `a: "NaN}": not valid JSON: line 1, byte 7: invalid character 'N' looking for beginning of value`},
		{"single quotes", `{"a": 'b'}`, `a: "'b'}": not valid JSON: line 1, byte 7: invalid character '\'' looking for beginning of value`},
		{"line break in a string", "{\"a\": \"\n\"}", `a: "\n\"}": not valid JSON: line 1, byte 8: invalid character '\n' in string literal`},
		{"escape", `{"a": "\x"}`, `a: "x\"}": not valid JSON: line 1, byte 9: invalid character 'x' in string escape code`},
		{"UTF-16", "\xff\xfe{\x00", `"\xff\xfe": not valid JSON: the text is UTF-16: save it as UTF-8`},
		{"not UTF-8", "{\"a\":\n\"\xff\"}", `"\xff": not valid JSON: line 2, byte 2 is not UTF-8`},
		{"half a pair", `{"a": "\ud800"}`, `a: "\ud800": not valid JSON: half a surrogate pair`},
		{"other half", `{"a": ["\uDC00\u0041"]}`, `a[0]: "\uDC00\u0041": not valid JSON: half a surrogate pair`},
		{"two halves in the wrong order", `{"a": "\udc00\ud800"}`, `a: "\udc00\ud800": not valid JSON: half a surrogate pair`},
		{"half a pair in a name", `{"\ud83d": 1}`, `"\ud83d": not valid JSON: half a surrogate pair`},
		{"twice", `{"a": 1, "b": 2, "a": 3}`, `a: 3: duplicate: the field is there already`},
		{"twice by escapes", `{"a": 1, "\u0061": [3, {"x": null}]}`, `a: [3,{"x":null}]: duplicate: the field is there already`},
		{"twice deep inside", `{"a": [0, {"b": {"c c": {}, "c c": {}}}]}`, `a[1].b["c c"]: {}: duplicate: the field is there already`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := readFirst([]byte(test.data))
			require.NotNil(t, err)
			require.EqualError(t, err, test.want)
		})
	}
}

// What JSON allows and looks odd is read as it is meant.
func TestRead_Odd(t *testing.T) {
	for _, test := range []struct {
		data string
		want any
	}{
		{"\ufeff{}", map[string]any{}},
		{` { } `, map[string]any{}},
		{`[]`, []any{}},
		{`{"": 0}`, map[string]any{"": json.Number("0")}},
		{`{"a": 1, "A": 2}`, map[string]any{"a": json.Number("1"), "A": json.Number("2")}},
		{`-0`, json.Number("-0")},
		{`1E+400`, json.Number("1E+400")},
		{`0.10000000000000000000000000000001`, json.Number("0.10000000000000000000000000000001")},
		{`"\ud83d\ude00\ufffd"`, "😀\ufffd"},
		{`"\\ud800\ufffd"`, `\ud800` + "\ufffd"},
		{"[true\r\n,\tfalse , null]", []any{true, false, nil}},
	} {
		v, err := readFirst([]byte(test.data))
		require.Nil(t, err, test.data)
		require.Equal(t, test.want, plainValue(v), test.data)
	}
}

// readFirst is read with the first of its mistakes.
func readFirst(data []byte) (value, *Error) {
	var found findings
	v, err := read(data, &found)
	if len(found.all) > 0 {
		err = found.all[0]
	}
	return v, err
}

func TestRead_Nesting(t *testing.T) {
	nested := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	_, err := readFirst(nested(1000))
	require.Nil(t, err)
	_, err = readFirst(nested(1001))
	require.ErrorIs(t, err, ErrValue)
	require.True(t, strings.HasSuffix(err.Error(), "[0][0][0]: [: bad value: nested deeper than 1000 levels"), err.Error())
	require.Equal(t, 1000, strings.Count(err.Path.String(), "[0]"))
	// Deeper than encoding/json goes; what would overrun the stack does not.
	for _, n := range []int{10_001, 1_000_000} {
		_, err = readFirst(nested(n))
		require.ErrorIs(t, err, ErrSyntax)
		_, err = readFirst(nested(n)[:n])
		require.ErrorIs(t, err, ErrSyntax)
	}
}

// A tree of queues may be deeper than a cluster's: whoever builds that says so.
func TestParse_DeepTree(t *testing.T) {
	deep := func(n int) string {
		return `{"name": "", "queues": ` + strings.Repeat(`{"name": "q", "queues": [`, n) + `{"name": "q"}` + strings.Repeat(`]}`, n) + `}`
	}
	doc, err := Parse("deep.json", []byte(deep(499)))
	require.NoError(t, err)
	levels := 1
	for q := doc.Root; len(q.Children) > 0; q = q.Children[0] {
		levels++
	}
	require.Equal(t, 500, levels)
	_, err = Parse("deep.json", []byte(deep(500)))
	require.ErrorIs(t, err, ErrValue)
	_, err = Parse("deep.json", []byte(deep(100_000)))
	require.ErrorIs(t, err, ErrSyntax)
}

// plainValue returns what encoding/json makes of a value.
func plainValue(v value) any {
	switch v.kind {
	case boolean:
		return v.yes
	case number:
		return json.Number(v.text)
	case text:
		return v.text
	case list:
		items := []any{}
		for _, item := range v.items {
			items = append(items, plainValue(item))
		}
		return items
	case object:
		fields := map[string]any{}
		for _, f := range v.items {
			fields[f.at.name] = plainValue(f)
		}
		return fields
	}
	return nil
}

// countNames counts the names in a text that is valid JSON, the same ones in the
// same object each time that they are there.
func countNames(data []byte) int {
	dec := json.NewDecoder(bytes.NewReader(data))
	var inObject []bool
	n, isName := 0, false
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			return n
		}
		if d, ok := tok.(json.Delim); ok {
			if d == '{' || d == '[' {
				inObject = append(inObject, d == '{')
				isName = d == '{'
				continue
			}
			inObject = inObject[:len(inObject)-1]
		} else if isName {
			n++
			isName = false
			continue
		}
		isName = len(inObject) > 0 && inObject[len(inObject)-1]
	}
}

// differentNames counts the names of all objects.
func differentNames(v any) int {
	n := 0
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			n += differentNames(item)
		}
	case map[string]any:
		n = len(v)
		for _, f := range v {
			n += differentNames(f)
		}
	}
	return n
}

// The twin of read is encoding/json, which takes whatever comes and says less.
func FuzzRead(f *testing.F) {
	f.Add([]byte(everything))
	for _, s := range []string{`{"a":[1,{"b":null}],"c":"\u00e9"}`, `{"a":1,"a":2}`, `["\ud800"]`, "\"\xff\"", `{} {}`, `[1,]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := readFirst(data)
		data = bytes.TrimPrefix(data, []byte("\ufeff"))
		if !utf8.Valid(data) || !json.Valid(data) {
			if err == nil || !errors.Is(err, ErrSyntax) {
				t.Fatalf("read %q: %v", data, err)
			}
			return
		}
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.UseNumber()
		var want any
		require.NoError(t, dec.Decode(&want))
		twice := countNames(data) > differentNames(want)
		switch {
		case err == nil:
			require.False(t, twice)
			require.True(t, reflect.DeepEqual(want, plainValue(v)), "%#v", plainValue(v))
			require.True(t, bytes.Equal(bytes.TrimSpace(data), v.raw))
		case errors.Is(err, ErrDuplicate):
			require.True(t, twice)
		case errors.Is(err, ErrValue):
			require.True(t, bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) > maxNesting)
		default:
			require.ErrorIs(t, err, ErrSyntax)
			require.Contains(t, strings.ToLower(string(data)), `\ud`)
		}
	})
}
