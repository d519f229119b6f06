package cache

import (
	"container/list"
	"sync"
)

// LRU is a cache in memory. When the weight of its entries exceeds the limit, it drops the least recently used. Nothing
// expires by itself. It is safe for concurrent use.
type LRU[K comparable, V any] struct {
	limit  int64
	weight func(K, V) int64

	mu      sync.Mutex
	entries map[K]*list.Element // guarded by mu
	recent  list.List           // guarded by mu; *entry[K, V], most recently used first
	total   int64               // guarded by mu; weight of all entries
}

type entry[K comparable, V any] struct {
	key    K
	value  V
	weight int64
}

// NewLRU returns a cache whose entries have a total weight of at most limit.
func NewLRU[K comparable, V any](limit int64, weight func(K, V) int64) *LRU[K, V] {
	return &LRU[K, V]{limit: limit, weight: weight, entries: map[K]*list.Element{}}
}

// Get returns the value of key and whether there is one.
func (c *LRU[K, V]) Get(key K) (V, bool) {
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

// Set sets the value of key. A value that weighs more than the limit is not kept.
func (c *LRU[K, V]) Set(key K, value V) {
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

// Delete removes the value of key.
func (c *LRU[K, V]) Delete(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(c.entries[key])
}

// Clear removes all values.
func (c *LRU[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
	c.recent.Init()
	c.total = 0
}

// Size returns the number of entries and their total weight.
func (c *LRU[K, V]) Size() (entries int, weight int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries), c.total
}

// drop removes an element; nil is allowed. mu is held.
func (c *LRU[K, V]) drop(e *list.Element) {
	if e == nil {
		return
	}
	gone := c.recent.Remove(e).(*entry[K, V])
	delete(c.entries, gone.key)
	c.total -= gone.weight
}
