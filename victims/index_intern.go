package victims

// An interner gives small numbers to strings and takes them back once no one
// uses them, so that a long-lived cluster does not remember every application.
// The number of the empty string is 0, always. The zero interner is empty.
type interner struct {
	ids   map[string]int32
	names []string
	uses  []int32
	free  []int32
}

// acquire returns the number of s and counts a use of it.
func (in *interner) acquire(s string) int32 {
	if s == "" {
		return 0
	}
	// Mostly it is known: a job has many tasks.
	id, ok := in.ids[s]
	if !ok {
		if in.ids == nil {
			in.ids = make(map[string]int32)
			in.names, in.uses = append(in.names, ""), append(in.uses, 0)
		}
		// Numbers are used again, since lists by number would grow for ever in
		// a cluster whose jobs come and go.
		if last := len(in.free) - 1; last >= 0 {
			id, in.free = in.free[last], in.free[:last]
			in.names[id] = s
		} else {
			id = int32(len(in.names))
			in.names = append(in.names, s)
			in.uses = append(in.uses, 0)
		}
		in.ids[s] = id
	}
	in.uses[id]++
	return id
}

// release takes a use of id back.
func (in *interner) release(id int32) {
	if id == 0 {
		return
	}
	in.uses[id]--
	// The last one to use the name has gone, and its memory goes too.
	if in.uses[id] == 0 {
		delete(in.ids, in.names[id])
		in.names[id] = ""
		in.free = append(in.free, id)
	}
}

// name returns the string of a number that is in use.
func (in *interner) name(id int32) string {
	if id == 0 {
		return ""
	}
	return in.names[id]
}

// lookup returns the number of s if it is in use, and none for the empty string.
//
// It counts no use: who only asks must not keep a name alive.
func (in *interner) lookup(s string) (int32, bool) {
	id, ok := in.ids[s]
	return id, ok
}

// copyFrom makes in a copy of from, in the memory of in.
func (in *interner) copyFrom(from *interner) {
	in.ids = reuseMap(in.ids, from.ids)
	in.names, in.uses, in.free = reuse(in.names, from.names), reuse(in.uses, from.uses), reuse(in.free, from.free)
}
