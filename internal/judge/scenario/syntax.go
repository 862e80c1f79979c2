// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// checkUTF8 reports the first byte that is not UTF-8. JSON is UTF-8, and
// encoding/json would replace what is not.
func checkUTF8(data []byte) *Error {
	if utf8.Valid(data) {
		return nil
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return &Error{Value: fmt.Sprintf("%q", data[:2]), Err: fmt.Errorf("%w: the text is UTF-16: save it as UTF-8", ErrSyntax)}
	}
	i := 0
	for {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		i += n
	}
	return &Error{
		Value: fmt.Sprintf("%q", data[i:i+1]),
		Err:   fmt.Errorf("%w: %s is not UTF-8", ErrSyntax, position(data, i)),
		Byte:  i,
	}
}

// checkSurrogates reports half a surrogate pair in the escapes of a string,
// which encoding/json would replace.
func checkSurrogates(v value) *Error {
	if !strings.ContainsRune(v.text, utf8.RuneError) {
		return nil
	}
	raw := string(v.raw)
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		if !utf16.IsSurrogate(escaped(raw[i-1:])) {
			continue
		}
		// A pair is two escapes of six bytes; i is one past the backslash.
		if utf16.DecodeRune(escaped(raw[i-1:]), escaped(raw[i+5:])) == utf8.RuneError {
			return v.wrong(fmt.Errorf("%w: half a surrogate pair", ErrSyntax))
		}
		i += 10
	}
	return nil
}

// escaped returns the code unit of the \uXXXX that s begins with, or 0.
func escaped(s string) rune {
	if len(s) < 6 || s[:2] != `\u` {
		return 0
	}
	n, _ := strconv.ParseUint(s[2:6], 16, 16) // four hex digits: it is valid JSON
	return rune(n)
}

// syntaxError turns an error of encoding/json, met at the given place, into
// one that says where in the text it is and what stands there.
func syntaxError(data []byte, err error, at *Path) *Error {
	i := len(data)
	if e, ok := err.(*json.SyntaxError); ok && e.Offset <= int64(len(data)) {
		i = max(int(e.Offset)-1, 0) // Offset counts the offending byte
	}
	rest := string(data[i:min(i+20, len(data))])
	return &Error{
		Path:  at,
		Value: strconv.Quote(rest),
		Err:   fmt.Errorf("%w: %s: %w", ErrSyntax, position(data, i), err),
		Byte:  i,
	}
}

// position returns where byte i of data is, lines and bytes counted from 1.
func position(data []byte, i int) string {
	before := data[:i]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := i - bytes.LastIndexByte(before, '\n')
	return fmt.Sprintf("line %d, byte %d", line, column)
}
