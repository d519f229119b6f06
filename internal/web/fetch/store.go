package fetch

import (
	"time"

	"familiar/internal/lru"
)

// store remembers values for a while, bounded by weight. Expiry runs on the given clock; what was not used for the longest
// time makes room for what is new.
type store[V any] struct {
	cache *lru.Cache[string, entry[V]] // nil remembers nothing
	now   func() time.Time
}

type entry[V any] struct {
	value   V
	expires time.Time
}

// newStore returns a store of at most bytes, as weighed by weight. Every value weighs at least least, which bounds how
// many there are.
func newStore[V any](bytes, least int64, weight func(V) int64, now func() time.Time) *store[V] {
	s := &store[V]{now: now}
	if bytes > 0 {
		s.cache = lru.New(bytes, func(key string, e entry[V]) int64 { return max(int64(len(key))+weight(e.value), least) })
	}
	return s
}

func (s *store[V]) get(key string) (V, bool) {
	var none V
	if s.cache == nil {
		return none, false
	}
	e, ok := s.cache.Get(key)
	if !ok {
		return none, false
	}
	if !s.now().Before(e.expires) {
		s.cache.Delete(key)
		return none, false
	}
	return e.value, true
}

func (s *store[V]) put(key string, v V, ttl time.Duration) {
	if s.cache != nil {
		s.cache.Set(key, entry[V]{value: v, expires: s.now().Add(ttl)})
	}
}

func (s *store[V]) clear() {
	if s.cache != nil {
		s.cache.Clear()
	}
}

// size says how many values there are and what they weigh.
func (s *store[V]) size() (entries int, bytes int64) {
	if s.cache == nil {
		return 0, 0
	}
	return s.cache.Size()
}
