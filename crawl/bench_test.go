package crawl_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"

	"crawler/crawl"
	"crawler/fetcher"
	"crawler/frontier"
	"crawler/internal/testweb"
)

// BenchmarkCrawl crawls 50 hosts of 100 pages with a median of 35 KB over loopback sockets, without delay, everything durable. The web
// is served by the same process, which takes part of the time.
func BenchmarkCrawl(b *testing.B) {
	web, err := testweb.New(testweb.Config{Hosts: 50, Pages: 100})
	if err != nil {
		b.Fatal(err)
	}
	server, err := web.Start(context.Background(), "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	seed, err := crawl.ParseSeed(server.Seeds()[0])
	if err != nil {
		b.Fatal(err)
	}
	polite := frontier.DefaultPoliteness()
	polite.Delay = 0
	pages := int64(0)
	for b.Loop() {
		c, err := crawl.Open(b.TempDir(), crawl.Config{
			Scope:      crawl.Scope{Reach: crawl.ReachAny},
			Politeness: frontier.Rules{Default: polite},
			Fetch:      fetcher.Config{Resolver: server.DNSAddr, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
		})
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Run(context.Background(), []crawl.Seed{seed}); !errors.Is(err, crawl.ErrFinished) {
			b.Fatal(err)
		}
		pages += c.Stats().URLs.Fetched
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(pages)/b.Elapsed().Seconds(), "pages/s")
}
