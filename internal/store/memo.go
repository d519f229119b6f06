package store

import (
	"sync/atomic"

	"familiar/internal/lru"
)

// memo keeps what was read of tables that every turn reads and that seldom change.
type memo struct {
	changes atomic.Int64 // of the tables, by now; counted when a change is there to be read
	cache   *lru.Cache[string, memoised]
}

type memoised struct {
	value   any // nobody changes it
	size    int64
	changes int64 // when it was read
}

// perMemoised is what an entry takes beside its key and value, roughly, in bytes.
const perMemoised = 200

func newMemo(bytes int64) memo {
	return memo{cache: lru.New(bytes, func(key string, m memoised) int64 { return int64(len(key)) + m.size + perMemoised })}
}

// changed has everything be read again. It is called after the commit of a change.
func (m *memo) changed() { m.changes.Add(1) }

// memoise returns what read has returned under a key, or reads. size is how many bytes a value takes. Nobody may change the value.
func memoise[T any](db *DB, m *memo, key string, size func(T) int, read func() (T, error)) (T, error) {
	changes := m.changes.Load()
	if found, ok := m.cache.Get(key); ok && found.changes == changes && db.owns() {
		return found.value.(T), nil
	}
	value, err := read()
	if err == nil {
		m.cache.Set(key, memoised{value, int64(size(value)), changes})
	}
	return value, err
}

// maxSettings is how many bytes of settings are remembered: those of some thousand channels.
const maxSettings = 512 << 10

// setting is memoise for what people have set for a place.
func setting[T any](db *DB, kind, place string, read func() (T, error)) (T, error) {
	return memoise(db, &db.settings, kind+" "+place, func(T) int { return 0 }, read)
}
