package ranking

import (
	"slices"
	"testing"
)

func TestFuse(t *testing.T) {
	if got := Fuse([]string{"a", "b", "c"}, []string{"c", "b"}, []string{"b", "d"}); !slices.Equal(got, []string{"b", "c", "a", "d"}) {
		t.Error(got)
	}
	if got := Fuse[int](); len(got) > 0 {
		t.Error(got)
	}
}
