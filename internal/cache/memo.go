package cache

import "sync/atomic"

// Memo caches reads of tables that seldom change. A change makes all its entries stale. It is safe for concurrent use.
type Memo struct {
	changes atomic.Int64 // number of changes of the tables, counted after their commit
	cache   *LRU[string, memoised]
}

type memoised struct {
	value   any // must not be changed
	size    int64
	changes int64 // the number of changes when it was read
}

// perMemoised is roughly how many bytes an entry takes in addition to its key and value.
const perMemoised = 200

// NewMemo returns a memo that takes up to that many bytes.
func NewMemo(bytes int64) *Memo {
	return &Memo{cache: NewLRU(bytes, func(key string, m memoised) int64 { return int64(len(key)) + m.size + perMemoised })}
}

// Changed makes every entry stale. It is called after the commit of a change.
func (m *Memo) Changed() { m.changes.Add(1) }

// Memoise returns the cached value of a key, or calls read. size returns the bytes of a value. The caller must not change the value.
func Memoise[T any](m *Memo, key string, size func(T) int, read func() (T, error)) (T, error) {
	changes := m.changes.Load()
	if found, ok := m.cache.Get(key); ok && found.changes == changes {
		return found.value.(T), nil
	}
	value, err := read()
	if err == nil {
		m.cache.Set(key, memoised{value, int64(size(value)), changes})
	}
	return value, err
}
