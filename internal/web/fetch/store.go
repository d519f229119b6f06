package fetch

import (
	"math"
	"time"

	"github.com/maypok86/otter/v2"
)

// store remembers values for a while, bounded by weight. Expiry runs on the given clock; the cache evicts what is used
// least and latest.
type store[V any] struct {
	cache *otter.Cache[string, entry[V]] // nil remembers nothing
	now   func() time.Time
}

type entry[V any] struct {
	value   V
	expires time.Time
}

// newStore returns a store of at most bytes, as weighed by weight. Every value weighs at least least, which bounds how
// many there are.
func newStore[V any](bytes, least int64, weight func(V) int64, now func() time.Time) (*store[V], error) {
	if bytes <= 0 {
		return &store[V]{now: now}, nil
	}
	cache, err := otter.New(&otter.Options[string, entry[V]]{
		MaximumWeight: uint64(bytes),
		Weigher: func(key string, e entry[V]) uint32 {
			return uint32(min(max(int64(len(key))+weight(e.value), least), math.MaxUint32))
		},
		// Maintenance at once, by whoever writes: no goroutines, and no burst above the bound.
		Executor: func(f func()) { f() },
	})
	if err != nil {
		return nil, err
	}
	return &store[V]{cache: cache, now: now}, nil
}

func (s *store[V]) get(key string) (V, bool) {
	var none V
	if s.cache == nil {
		return none, false
	}
	e, ok := s.cache.GetIfPresent(key)
	if !ok {
		return none, false
	}
	if !s.now().Before(e.expires) {
		s.cache.Invalidate(key)
		return none, false
	}
	return e.value, true
}

func (s *store[V]) put(key string, v V, ttl time.Duration) {
	if s.cache != nil {
		s.cache.Set(key, entry[V]{value: v, expires: s.now().Add(ttl)})
	}
}

// size says how many values there are and what they weigh.
func (s *store[V]) size() (entries int, bytes int64) {
	if s.cache == nil {
		return 0, 0
	}
	return s.cache.EstimatedSize(), int64(s.cache.WeightedSize())
}
