// Package lru is a cache that is bounded by what its entries weigh: what has not been used for the longest time makes room for
// what is new. Nothing expires by itself; whoever keeps values for a while checks their times when reading.
package lru

import (
	"container/list"
	"sync"
)

// Cache remembers values by key. Safe for concurrent use.
type Cache[K comparable, V any] struct {
	limit  int64
	weight func(K, V) int64

	mu      sync.Mutex
	entries map[K]*list.Element // guarded by mu
	recent  list.List           // guarded by mu: *entry[K, V], the one that was used last in front
	total   int64               // guarded by mu: what the entries weigh together
}

type entry[K comparable, V any] struct {
	key    K
	value  V
	weight int64
}

// New returns a cache whose entries weigh at most limit together, as weight says.
func New[K comparable, V any](limit int64, weight func(K, V) int64) *Cache[K, V] {
	return &Cache[K, V]{limit: limit, weight: weight, entries: map[K]*list.Element{}}
}

// Get returns the value of key, and reports whether there is one.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	if !ok {
		var none V
		return none, false
	}
	c.recent.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// Set remembers a value in place of the one that key may have. A value that weighs more than the limit is not kept.
func (c *Cache[K, V]) Set(key K, value V) {
	weight := c.weight(key, value)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(c.entries[key])
	if weight > c.limit {
		return
	}
	for c.total+weight > c.limit {
		c.drop(c.recent.Back())
	}
	c.entries[key] = c.recent.PushFront(&entry[K, V]{key, value, weight})
	c.total += weight
}

// Delete forgets the value of key.
func (c *Cache[K, V]) Delete(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(c.entries[key])
}

// Clear forgets all.
func (c *Cache[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
	c.recent.Init()
	c.total = 0
}

// Size returns how many entries there are, and what they weigh.
func (c *Cache[K, V]) Size() (entries int, weight int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries), c.total
}

// drop takes an element out, if there is one. The caller holds mu.
func (c *Cache[K, V]) drop(e *list.Element) {
	if e == nil {
		return
	}
	gone := c.recent.Remove(e).(*entry[K, V])
	delete(c.entries, gone.key)
	c.total -= gone.weight
}
