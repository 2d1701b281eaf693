package fetcher_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"crawler/fetcher"
	"crawler/fetcher/robots"
	"crawler/internal/cases"
	"crawler/normalize"
)

// web answers by host and path: with a status, or with a redirect if the text is no number, or not at all if there is none.
// A 200 carries rules.
type web map[string]string

const rules = "User-agent: *\nDisallow: /private\n"

func (w web) serve(conn net.Conn, req *http.Request) bool {
	answer := w[req.Host+req.RequestURI]
	switch {
	case answer == "":
	case strings.Trim(answer, "0123456789") != "":
		fmt.Fprintf(conn, "HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", answer)
	default:
		fmt.Fprintf(conn, "HTTP/1.1 %s X\r\nRetry-After: 9\r\nContent-Length: %d\r\n\r\n%s", answer, len(rules), rules)
	}
	return answer != ""
}

func TestRobots(t *testing.T) {
	hops := func(n int, last string) web { // n redirects
		w := web{"e.example/robots.txt": "/1"}
		for i := 1; i < n; i++ {
			w[fmt.Sprintf("e.example/%d", i)] = fmt.Sprintf("/%d", i+1)
		}
		w[fmt.Sprintf("e.example/%d", n)] = last
		return w
	}
	tests := []struct {
		name     string
		web      web
		want     robots.Access
		status   int
		requests int
	}{
		{"rules", web{"e.example/robots.txt": "200"}, robots.AccessRules, 200, 1},
		{"none", web{"e.example/robots.txt": "404"}, robots.AccessAll, 404, 1},
		{"forbidden", web{"e.example/robots.txt": "403"}, robots.AccessAll, 403, 1},
		{"too many requests", web{"e.example/robots.txt": "429"}, robots.AccessUnreachable, 429, 1},
		{"server error", web{"e.example/robots.txt": "503"}, robots.AccessUnreachable, 503, 1},
		{"no answer", web{}, robots.AccessUnreachable, 0, 1},
		{"five redirects", hops(5, "200"), robots.AccessRules, 200, 6},
		{"six redirects", hops(6, "200"), robots.AccessAll, 302, 6},
		{"a redirect to a failure", hops(1, "500"), robots.AccessUnreachable, 500, 2},
		{"a redirect to no answer", web{"e.example/robots.txt": "/gone"}, robots.AccessUnreachable, 0, 2},
		{"a redirect to another host", web{"e.example/robots.txt": "http://f.example/r", "f.example/r": "200"}, robots.AccessRules, 200, 2},
		{"a redirect to itself", web{"e.example/robots.txt": "/robots.txt"}, robots.AccessAll, 302, 1},
		{"a loop", web{"e.example/robots.txt": "/a", "e.example/a": "/robots.txt"}, robots.AccessAll, 302, 2},
		{"a redirect that leads nowhere", web{"e.example/robots.txt": "mailto:a@b"}, robots.AccessAll, 302, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFetcher(t, fetcher.Config{Dial: onPipes(tt.web.serve)})
			got := f.Robots(context.Background(), parse(t, "http://e.example/a/b?c"), 0)
			if got.Access != tt.want || got.Status != tt.status || got.Requests != tt.requests {
				t.Errorf("got %q with status %d after %d requests (%v), want %q with %d after %d",
					got.Access, got.Status, got.Requests, got.Err, tt.want, tt.status, tt.requests)
			}
			if want := tt.want == robots.AccessRules; (string(got.Body) == rules) != want {
				t.Errorf("got body %q", got.Body)
			}
			if want := tt.status == 0; (got.Err != nil) != want {
				t.Errorf("got error %v, want one %t", got.Err, want)
			}
			if want := tt.status != 0 && tt.status != 302; (got.RetryAfter != 0) != want {
				t.Errorf("got retry after %v", got.RetryAfter)
			}
		})
	}
}

func TestRobotsIsReadUpToItsOwnLimit(t *testing.T) {
	pad := strings.Repeat("#\n", robots.MaxSize/2)
	f := newFetcher(t, fetcher.Config{MaxBody: 10, Dial: onPipes(answering("HTTP/1.1 200 OK\r\n\r\n" + rules + pad))})
	got := f.Robots(context.Background(), parse(t, "http://e.example/"), 0)
	if got.Access != robots.AccessRules || len(got.Body) != robots.MaxSize {
		t.Errorf("got %q of %d bytes, want rules of %d", got.Access, len(got.Body), robots.MaxSize)
	}
}

func TestRobotsThatBreaksOffIsUnreachable(t *testing.T) {
	f := newFetcher(t, fetcher.Config{Dial: onPipes(answering("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + rules))})
	got := f.Robots(context.Background(), parse(t, "http://e.example/"), 0)
	if got.Access != robots.AccessUnreachable || got.Err == nil || got.Body != nil {
		t.Errorf("got %+v, want unreachable with an error and no rules", got)
	}
}

// TestRobotsCases drives Robots with the statuses of the third-party table; its other conditions are tests above and in package robots.
func TestRobotsCases(t *testing.T) {
	access := map[string]robots.Access{
		"parse":        robots.AccessRules,
		"allow all":    robots.AccessAll,
		"disallow all": robots.AccessUnreachable,
		"treat as unreachable: disallow all, retry later": robots.AccessUnreachable,
	}
	ran := 0
	for _, c := range cases.Read[struct {
		Condition map[string]any
		Expected  string
	}](t, "robots/fetch_rules.jsonl") {
		status, ok := c.Condition["status"].(float64)
		if !ok {
			continue
		}
		ran++
		want, ok := access[c.Expected]
		if !ok {
			t.Errorf("unknown expectation %q", c.Expected)
		}
		f := newFetcher(t, fetcher.Config{Dial: onPipes(web{"e.example/robots.txt": strconv.Itoa(int(status))}.serve)})
		if got := f.Robots(context.Background(), parse(t, "http://e.example/"), 0); got.Access != want {
			t.Errorf("status %v: got %q, want %q", status, got.Access, want)
		}
	}
	if ran < 10 {
		t.Errorf("got %d cases with a status, want 10 at least", ran)
	}
}

func ExampleFetcher_Robots() {
	f, err := fetcher.New(fetcher.Config{Dial: onPipes(answering("HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /private\n"))})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	u, err := normalize.Parse("http://example.org/private/page")
	if err != nil {
		fmt.Println(err)
		return
	}
	result := f.Robots(context.Background(), u, 0)
	fmt.Println(result.Access, result.Status)
	if result.Access == robots.AccessRules {
		fmt.Println(robots.Parse(result.Body).Group("examplebot").Check(u.RequestURI()).Allowed)
	}
	// Output:
	// rules 200
	// false
}
