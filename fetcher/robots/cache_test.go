package robots_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"crawler/fetcher/robots"
)

func TestAccessFor(t *testing.T) {
	tests := []struct {
		want     robots.Access
		statuses []int
	}{
		{robots.AccessRules, []int{200, 204, 206, 299}},
		{robots.AccessAll, []int{0, 101, 199, 300, 302, 304, 399, 400, 401, 403, 404, 410, 418, 428, 430, 451, 499, 600, 777}},
		{robots.AccessUnreachable, []int{429, 500, 502, 503, 599}},
	}
	for _, tt := range tests {
		for _, status := range tt.statuses {
			if got := robots.AccessFor(status); got != tt.want {
				t.Errorf("AccessFor(%d) = %q, want %q", status, got, tt.want)
			}
		}
	}
}

func entry(file string, fetched time.Time) robots.Entry {
	return robots.Entry{Access: robots.AccessRules, Rules: robots.Parse([]byte(file)).Group("examplebot"), Fetched: fetched}
}

func TestCacheForgetsAfterMaxAge(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := robots.NewCache(0, 0)
	put := entry("User-agent: *\nDisallow: /a", start)
	c.Put("https://e.example", put)

	if got, ok := c.Get("https://e.example", start.Add(robots.MaxAge)); !ok || got != put {
		t.Errorf("at MaxAge: got %+v, %t, want %+v", got, ok, put)
	}
	if got, ok := c.Get("https://e.example", start.Add(robots.MaxAge+1)); ok {
		t.Errorf("after MaxAge: got %+v", got)
	}
	if got := c.Len(); got != 0 {
		t.Errorf("after MaxAge: got %d entries held, want 0", got)
	}
}

func TestCacheKeepsOriginsApart(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := robots.NewCache(0, 0)
	c.Put("https://e.example", robots.Entry{Access: robots.AccessAll, Fetched: now})
	for _, other := range []string{"http://e.example", "https://e.example:8080", ""} {
		if _, ok := c.Get(other, now); ok {
			t.Errorf("Get(%q) finds the entry of https://e.example", other)
		}
	}
}

func TestCacheDropsTheLeastRecentlyUsed(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := robots.NewCache(2, 0)
	c.Put("a", entry("", now))
	c.Put("b", entry("", now))
	c.Get("a", now)
	c.Put("c", entry("", now))
	for origin, want := range map[string]bool{"a": true, "b": false, "c": true} {
		if _, got := c.Get(origin, now); got != want {
			t.Errorf("%s is held: got %t, want %t", origin, got, want)
		}
	}
}

func TestCacheIsBoundedByRuleBytes(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := robots.NewCache(0, 100<<10)
	small := entry("User-agent: *\nDisallow: /a\n", now)
	c.Put("small", small)
	c.Put("large", entry("User-agent: *\n"+strings.Repeat("Disallow: /a\n", 10_000), now))
	if _, ok := c.Get("large", now); ok {
		t.Error("an entry larger than the cache is held")
	}
	if _, ok := c.Get("small", now); !ok {
		t.Error("an entry larger than the cache has driven out another")
	}
	for i := range 2000 {
		c.Put(fmt.Sprint(i), small)
	}
	if got := c.Len(); got < 100 || got >= 1000 {
		t.Errorf("got %d small entries in 100 KiB, want some hundreds", got)
	}
	before := c.Len()
	for range 2000 {
		c.Put("1999", small)
	}
	if got := c.Len(); got != before {
		t.Errorf("putting one origin again and again: got %d entries, want %d", got, before)
	}
}

func TestCacheIsSafeForConcurrentUse(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := robots.NewCache(10, 0)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 500 {
				origin := fmt.Sprint((i * (w + 1)) % 30)
				c.Put(origin, robots.Entry{Access: robots.AccessAll, Fetched: now})
				c.Get(origin, now)
			}
		})
	}
	wg.Wait()
	if got := c.Len(); got != 10 {
		t.Errorf("got %d entries, want 10", got)
	}
}

func ExampleCache() {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	cache := robots.NewCache(0, 0)
	cache.Put("https://example.org", robots.Entry{
		Access:  robots.AccessFor(200),
		Rules:   robots.Parse([]byte("User-agent: *\nDisallow: /private/")).Group("examplebot"),
		Fetched: now,
	})

	e, ok := cache.Get("https://example.org", now.Add(time.Hour))
	fmt.Println(ok, e.Access, e.Rules.Check("/private/x").Allowed)
	_, ok = cache.Get("https://example.org", now.Add(25*time.Hour))
	fmt.Println(ok)
	// Output:
	// true rules false
	// false
}
