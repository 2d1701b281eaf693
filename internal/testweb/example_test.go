package testweb_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"time"

	"crawler/internal/testweb"
)

// A web tells beforehand what a crawl of it has to find: redirects and 404s
// among it, but not the private pages 9, 11 and 12.
func ExampleWeb_Reachable() {
	w, err := testweb.New(testweb.Config{Seed: 5, Hosts: 2, Pages: 16, Private: 0.2, Redirects: 0.3, Gone: 0.2})
	if err != nil {
		log.Fatal(err)
	}
	for url, depth := range w.Reachable(testweb.Scope{MaxDepth: 2, SameHost: true}) {
		fmt.Println(depth, url)
	}
	// Output:
	// 0 http://h000.test/
	// 1 http://h000.test/s0/000001.html
	// 1 http://h000.test/s4/000002.html
	// 1 http://h000.test/s5/000003.html
	// 1 http://h000.test/s7/000004.html
	// 1 http://h000.test/s2/000005.html
	// 2 http://h000.test/go/000006
	// 2 http://h000.test/item?cat=4&id=000007
	// 2 http://h000.test/s3/000008.html
	// 2 http://h000.test/gone/000010.html
	// 2 http://h000.test/go/000013
	// 1 http://h000.test/s4/000014.html
	// 2 http://h000.test/item?cat=2&id=000015
}

// A client whose transport dials by the web itself needs neither a network nor
// DNS. The judge says what it did wrong.
func ExampleWeb_Report() {
	w, err := testweb.New(testweb.Config{Seed: 1, Hosts: 1, Pages: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	client := http.Client{Transport: &http.Transport{DialContext: w.Dial}}
	for _, path := range []string{"robots.txt", "", "old/news.html"} {
		resp, err := client.Get(w.Seeds()[0] + path)
		if err != nil {
			log.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	report := w.Report(testweb.Options{Scope: testweb.Scope{MaxDepth: -1}, MinDelay: time.Minute})
	fmt.Println("fetched", report.Fetched, "of", report.Expected)
	fmt.Println("missing", report.Missing)
	fmt.Println("unexpected", report.Unexpected)
	for _, gap := range report.Gaps {
		fmt.Println("too early", gap.URL)
	}
	// Output:
	// fetched 1 of 2
	// missing [http://h000.test/s8/000001.html]
	// unexpected [http://h000.test/old/news.html]
	// too early http://h000.test/
	// too early http://h000.test/old/news.html
}
