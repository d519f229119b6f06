package cache

import (
	"strings"
	"testing"
)

func TestCache(t *testing.T) {
	c := NewLRU(10, func(_ string, v string) int64 { return int64(len(v)) })
	holds := func(when, want string) {
		t.Helper()
		var keys []string
		for e := c.recent.Front(); e != nil; e = e.Next() {
			keys = append(keys, e.Value.(*entry[string, string]).key)
		}
		n, weight := c.Size()
		if got := strings.Join(keys, " "); got != want || n != len(keys) || weight > 10 {
			t.Errorf("%s: %q of %d entries that weigh %d, want %q", when, got, n, weight, want)
		}
	}
	c.Set("a", "1234")
	c.Set("b", "1234")
	if v, ok := c.Get("a"); !ok || v != "1234" {
		t.Errorf("a is %q, %v", v, ok)
	}
	holds("a was used last", "a b")
	c.Set("c", "12345")
	holds("c takes the room of b", "c a")
	c.Set("a", "12")
	holds("a is lighter now", "a c")
	c.Set("c", "12345678901")
	holds("c is above the limit", "a")
	if _, ok := c.Get("c"); ok {
		t.Error("a value above the limit was kept")
	}
	c.Delete("a")
	c.Delete("none")
	holds("empty", "")
}
