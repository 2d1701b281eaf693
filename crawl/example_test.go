package crawl_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"crawler/crawl"
	"crawler/fetcher"
	"crawler/frontier"
	"crawler/internal/testweb"
)

// A crawl of a synthetic web of one host, which is served without a network.
func Example() {
	web, err := testweb.New(testweb.Config{Seed: 2, Hosts: 1, Pages: 14, Gone: 0.3})
	if err != nil {
		log.Fatal(err)
	}
	defer web.Close()
	dir, err := os.MkdirTemp("", "crawl")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	c, err := crawl.Open(dir, crawl.Config{
		Scope:      crawl.Scope{Reach: crawl.ReachAny},
		Politeness: frontier.Rules{Default: frontier.Politeness{Connections: 1, ObeyRobots: true}}, // no delay
		Fetch:      fetcher.Config{Dial: web.Dial},
	})
	if err != nil {
		log.Fatal(err)
	}
	seed, err := crawl.ParseSeed(web.Seeds()[0])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Run(context.Background(), []crawl.Seed{seed}))
	urls := c.Stats().URLs
	fmt.Println(urls.Fetched, "fetched,", urls.Failed, "failed,", urls.Queued, "queued")
	for e, err := range c.View().URLs("failed") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.URL, e.Reason, "linked from", e.Via)
	}
	if err := c.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// finished: nothing is left to crawl
	// 12 fetched, 2 failed, 0 queued
	// http://h000.test/gone/000009.html gone linked from http://h000.test/s1/000001.html
	// http://h000.test/gone/000008.html gone linked from http://h000.test/s1/000001.html
}

// What a crawl would make of a URL can be known without one.
func ExampleJudge() {
	seed, err := crawl.ParseSeed("www.example.org/docs/")
	if err != nil {
		log.Fatal(err)
	}
	other, err := crawl.ParseSeed("http://example.com/")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(crawl.Judge(crawl.Scope{Reach: crawl.ReachDomain}, []crawl.Seed{seed}, other.URL))
	// Output:
	// scope no seed is of the domain example.com (scope domain)
}
