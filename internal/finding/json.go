package finding

import (
	"encoding/json"
	"fmt"

	"github.com/go-preempt/preempt/internal/word"
)

// MarshalWord returns the word of a law for encoding/json and its like. A
// number that the table does not have is an error that wraps [word.ErrWord]; pkg is
// the name of the package, for its message.
func (t Laws) MarshalWord(pkg string, law uint8) ([]byte, error) {
	if !t.Has(law) {
		return nil, fmt.Errorf("%s: law %d: %w", pkg, law, word.ErrWord)
	}
	return []byte(t[law].Word), nil
}

// UnmarshalWord returns the law of a word. Errors are as for MarshalWord.
func (t Laws) UnmarshalWord(pkg string, text []byte) (law uint8, err error) {
	for law := 1; law < len(t); law++ {
		if t[law].Word == string(text) {
			return uint8(law), nil
		}
	}
	return 0, fmt.Errorf("%s: law %q: %w", pkg, text, word.ErrWord)
}

// JSON writes a finding as an object, with names instead of numbers: "law" and
// the number of the law, if it has one; each of Who under its What; "queue" and
// "type"; "have" and "want" as texts, with the quantities of the type; "other";
// and the "complaint", which is the end of the line.
func (t Laws) JSON(f *Finding) ([]byte, error) {
	o := object{'{'}
	o.add("law", t.Word(f.Law))
	if t.Has(f.Law) && t[f.Law].Number > 0 {
		o.add("number", t[f.Law].Number)
	}
	for _, s := range f.Who {
		o.add(s.What, s.Name)
	}
	if f.HasQueue && f.Tree != nil {
		o.add("queue", f.Tree.Path(f.Queue))
	}
	if f.HasType && f.Tree != nil {
		o.add("type", f.Tree.Schema().Name(f.Type))
	}
	if t.Has(f.Law) && t[f.Law].measures(f) {
		o.add("have", t[f.Law].quantity(f, f.Have))
		o.add("want", t[f.Law].quantity(f, f.Want))
	}
	if f.Other != "" {
		o.add("other", f.Other)
	}
	o.add("complaint", t.complaint(f))
	return append(o, '}'), nil
}

// quantity returns the text of an amount for machines.
func (l *Text) quantity(f *Finding, n int64) string {
	if l.Unit == Resource && f.Tree != nil {
		return f.Tree.Schema().Quantity(f.Type, n)
	}
	return l.amount(f, n)
}

// An object is the text of a JSON object that keeps the order of its members,
// up to the closing brace.
type object []byte

// add adds a member; the value is a string or an int, which always have a text.
func (o *object) add(name string, value any) {
	if len(*o) > 1 {
		*o = append(*o, ',')
	}
	for i, v := range []any{name, value} {
		text, _ := json.Marshal(v)
		if i > 0 {
			*o = append(*o, ':')
		}
		*o = append(*o, text...)
	}
}
