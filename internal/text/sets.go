package text

import (
	"cmp"
	"slices"
)

// A set is a sorted list in which nothing stands twice, as [Unique] makes them. Sets are compared by walking along both
// at once, which allocates nothing.

// Unique returns the set of a list's elements. The list stays as it is.
func Unique[T cmp.Ordered](list []T) []T {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// Common counts the elements that two sets share.
func Common[T cmp.Ordered](a, b []T) int {
	n := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			n, i, j = n+1, i+1, j+1
		}
	}
	return n
}

// Jaccard returns the share of the elements of two sets that are in both, from 0 to 1.
func Jaccard[T cmp.Ordered](a, b []T) float64 {
	both := Common(a, b)
	return float64(both) / float64(max(1, len(a)+len(b)-both))
}

// Containment returns the share of the smaller of two sets that is in the other, from 0 to 1.
func Containment[T cmp.Ordered](a, b []T) float64 {
	return float64(Common(a, b)) / float64(max(1, min(len(a), len(b))))
}

// Intersects reports whether two word sets share a word. It walks along the second.
func Intersects(a, b map[string]bool) bool {
	for k := range b {
		if a[k] {
			return true
		}
	}
	return false
}

// AddOnce appends s to the list unless it is there.
func AddOnce(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
