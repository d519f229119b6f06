package ranking

import (
	"slices"
	"testing"

	"familiar/internal/context/turn"
)

// TestNear puts first what is high in both lists, and changes nothing without a second one.
func TestNear(t *testing.T) {
	result := Result{}
	for _, id := range []string{"a", "b", "c", "d"} {
		result.Hits = append(result.Hits, Hit{Message: turn.Message{ID: id}})
	}
	order := func() (ids string) {
		for _, h := range result.Hits {
			ids += h.ID
		}
		return ids
	}
	if result.Near(nil); order() != "abcd" {
		t.Error(order())
	}
	if result.Near([]string{"elsewhere"}); order() != "abcd" {
		t.Error(order())
	}
	if result.Near([]string{"d", "b"}); order() != "bdac" {
		t.Error(order())
	}
	if why := result.Hits[1].Why; !slices.Equal(why, []Reason{{"near in meaning", 1.0 / 61}}) {
		t.Error(why)
	}
}
