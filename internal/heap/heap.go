// Package heap is a binary heap over a slice, with the least element first. It
// is container/heap without interfaces, so that nothing is boxed or allocated.
package heap

// Init makes a heap of s. The cost is linear in its length.
func Init[E any](s []E, compare func(a, b *E) int) {
	for i := len(s)/2 - 1; i >= 0; i-- {
		down(s, i, compare)
	}
}

// Pop moves the least element of the heap s to its end and returns the heap of
// the others. The cost is logarithmic. It panics where s is empty.
func Pop[E any](s []E, compare func(a, b *E) int) []E {
	last := len(s) - 1
	s[0], s[last] = s[last], s[0]
	down(s[:last], 0, compare)
	return s[:last]
}

// down moves element i of s down to where it belongs.
//
// Invariant: no element but perhaps s[i] is greater than one of its children,
// which are at 2i+1 and 2i+2.
func down[E any](s []E, i int, compare func(a, b *E) int) {
	for {
		child := 2*i + 1
		if child >= len(s) {
			return
		}
		if right := child + 1; right < len(s) && compare(&s[right], &s[child]) < 0 {
			child = right
		}
		if compare(&s[i], &s[child]) <= 0 {
			return
		}
		s[i], s[child] = s[child], s[i]
		i = child
	}
}
