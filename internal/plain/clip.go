// SPDX-License-Identifier: Apache-2.0

package plain

// mostSummary is the most bytes of a summary.
const mostSummary = 1024

const cutOff = "…"

// Summary returns a line for a log: what would make it longer than 1 KB is cut
// off.
func Summary(line string) string {
	if len(line) <= mostSummary {
		return line
	}
	return Clip(line, mostSummary-len(cutOff))
}

// Clip returns s, or if it has more bytes than most its beginning. The cut falls
// between characters, and "…" follows it.
func Clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end := 0
	for i := range s {
		if i > most {
			break
		}
		end = i
	}
	return s[:end] + cutOff
}
