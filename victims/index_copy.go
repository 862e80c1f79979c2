package victims

import "maps"

// What copies of an index share: they are made in memory that is there already.

// reuse returns a copy of from in the memory of dst.
func reuse[S ~[]E, E any](dst, from S) S { return append(dst[:0], from...) }

// resized returns list with n elements, which keep what they had at any time.
func resized[E any](list []E, n int) []E {
	list = list[:min(n, cap(list))]
	return append(list, make([]E, n-len(list))...)
}

// reuseLists returns a copy of lists in the memory of dst.
func reuseLists[E any](dst, from [][]E) [][]E {
	dst = resized(dst, len(from))
	for i := range dst {
		dst[i] = reuse(dst[i], from[i])
	}
	return dst
}

// reuseMap returns a copy of from in the memory of dst.
func reuseMap[M ~map[K]V, K comparable, V any](dst, from M) M {
	if dst == nil {
		return maps.Clone(from)
	}
	clear(dst)
	maps.Copy(dst, from)
	return dst
}
