package robots

import (
	"container/list"
	"sync"
	"time"
)

// MaxAge is how long a fetched robots.txt may be obeyed without asking again (RFC 9309 section 2.4).
const MaxAge = 24 * time.Hour

// The bounds that a zero argument of NewCache means. An authority with a file of common size takes about 2 KB, so that
// either bound may be met first.
const (
	DefaultMaxEntries = 100_000
	DefaultMaxBytes   = 128 << 20
)

// Entry is what is known of the robots.txt of one origin.
type Entry struct {
	Rules   *Rules // nil unless Access is AccessRules
	Access  Access
	Fetched time.Time
}

// Cache keeps the entries used last, up to a number of origins and of bytes in rules. It is safe for concurrent use.
type Cache struct {
	maxEntries int
	maxBytes   int64

	mu    sync.Mutex // guards what follows
	items map[string]*list.Element
	order *list.List // of *item, the one used last in front
	bytes int64
}

type item struct {
	origin string
	entry  Entry
	size   int64
}

// NewCache returns a cache for at most maxEntries origins whose rules take at most maxBytes, by estimate. Zero means
// DefaultMaxEntries and DefaultMaxBytes.
func NewCache(maxEntries int, maxBytes int64) *Cache {
	if maxEntries == 0 {
		maxEntries = DefaultMaxEntries
	}
	if maxBytes == 0 {
		maxBytes = DefaultMaxBytes
	}
	return &Cache{maxEntries: maxEntries, maxBytes: maxBytes, items: make(map[string]*list.Element), order: list.New()}
}

// Get returns the entry of an origin ("https://example.org:8080"), unless it is older than MaxAge.
func (c *Cache) Get(origin string, now time.Time) (Entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.items[origin]
	if !ok {
		return Entry{}, false
	}
	it := el.Value.(*item)
	if now.Sub(it.entry.Fetched) > MaxAge {
		c.remove(el)
		return Entry{}, false
	}
	c.order.MoveToFront(el)
	return it.entry, true
}

// Put sets the entry of an origin and drops those not used for longest until the bounds hold. An entry that is larger
// than the whole cache is not kept.
func (c *Cache) Put(origin string, e Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.items[origin]; ok {
		c.remove(el)
	}
	it := &item{origin: origin, entry: e, size: e.Rules.size()}
	if it.size > c.maxBytes {
		return
	}
	c.items[origin] = c.order.PushFront(it)
	c.bytes += it.size
	for c.order.Len() > c.maxEntries || c.bytes > c.maxBytes {
		c.remove(c.order.Back())
	}
}

// Len returns the number of origins held.
func (c *Cache) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.order.Len()
}

func (c *Cache) remove(el *list.Element) {
	it := c.order.Remove(el).(*item)
	delete(c.items, it.origin)
	c.bytes -= it.size
}
