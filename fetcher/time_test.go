package fetcher_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"crawler/fetcher"
	"crawler/fetcher/robots"
)

// inBubble runs a test in virtual time with a fetcher on the given network, whose connections end with it.
func inBubble(t *testing.T, cfg fetcher.Config, test func(t *testing.T, f *fetcher.Fetcher)) {
	synctest.Test(t, func(t *testing.T) {
		test(t, newFetcher(t, cfg))
	})
}

func TestNoHeadWithinTimeoutIsATimeout(t *testing.T) {
	silent := onPipes(func(conn net.Conn, _ *http.Request) bool {
		conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-"))
		io.Copy(io.Discard, conn) // until the fetcher hangs up
		return false
	})
	inBubble(t, fetcher.Config{Timeout: 7 * time.Second, Dial: silent}, func(t *testing.T, f *fetcher.Fetcher) {
		start := time.Now()
		_, err := f.Fetch(t.Context(), parse(t, "http://e.example/"))
		if got := kindOf(t, err); got != fetcher.KindTimeout {
			t.Errorf("got %v, want kind timeout", err)
		}
		if got := time.Since(start); got != 7*time.Second {
			t.Errorf("took %v, want 7s", got)
		}
	})
}

func TestSlowDialIsATimeout(t *testing.T) {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	inBubble(t, fetcher.Config{Dial: dial}, func(t *testing.T, f *fetcher.Fetcher) {
		start := time.Now()
		_, err := f.Fetch(t.Context(), parse(t, "http://e.example/"))
		if got := kindOf(t, err); got != fetcher.KindTimeout {
			t.Errorf("got %v, want kind timeout", err)
		}
		if got := time.Since(start); got != 30*time.Second {
			t.Errorf("took %v, want the default of 30s", got)
		}
	})
}

func TestSlowBodyIsKeptAndMarked(t *testing.T) {
	drip := onPipes(func(conn net.Conn, _ *http.Request) bool {
		time.Sleep(2 * time.Second)
		io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
		time.Sleep(time.Second)
		io.WriteString(conn, "Content-Length: 100\r\n\r\n")
		for range 8 {
			io.WriteString(conn, "x")
			time.Sleep(time.Second / 2)
		}
		io.Copy(io.Discard, conn) // until the fetcher hangs up
		return false
	})
	inBubble(t, fetcher.Config{Timeout: 10*time.Second + 1, Dial: drip}, func(t *testing.T, f *fetcher.Fetcher) {
		page, err := f.Fetch(t.Context(), parse(t, "http://e.example/"))
		if err != nil {
			t.Fatal(err)
		}
		if page.Truncation != fetcher.TruncatedTime || string(page.Body) != "xxxxxxxx" {
			t.Errorf("got %q cut by %q, want 8 bytes cut by time", page.Body, page.Truncation)
		}
		if page.Wait != 2*time.Second {
			t.Errorf("got a wait of %v for the first byte, want 2s", page.Wait)
		}
		if got := page.End.Sub(page.Start); got != 10*time.Second+1 {
			t.Errorf("took %v, want all of the time", got)
		}
	})
}

func TestCallerEndingItsContextIsCanceled(t *testing.T) {
	gone := errors.New("gone home")
	tests := []struct{ name, head string }{
		{"before the head", "HTTP/1.1 200 OK\r\n"},
		{"within the body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stuck := onPipes(func(conn net.Conn, _ *http.Request) bool {
				io.WriteString(conn, tt.head)
				io.Copy(io.Discard, conn)
				return false
			})
			inBubble(t, fetcher.Config{Dial: stuck}, func(t *testing.T, f *fetcher.Fetcher) {
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, gone)
				defer cancel()
				page, err := f.Fetch(ctx, parse(t, "http://e.example/"))
				if err == nil {
					t.Fatalf("got a page of %q", page.Body)
				}
				if got := kindOf(t, err); got != fetcher.KindCanceled || !errors.Is(err, gone) {
					t.Errorf("got %v, want kind canceled for the caller's cause", err)
				}
			})
		})
	}
}

func TestRetryAfter(t *testing.T) {
	tests := []struct {
		name, field string
		want        time.Duration
	}{
		{"missing", "", 0},
		{"seconds", "120", 2 * time.Minute},
		{"zero", "0", 0},
		{"a date counts from the end of the fetch", "Sat, 01 Jan 2000 00:01:00 GMT", 57 * time.Second},
		{"a date in the past", "Fri, 31 Dec 1999 00:00:00 GMT", 0},
		{"a date of RFC 850", "Saturday, 01-Jan-00 00:01:00 GMT", 57 * time.Second},
		{"a far date is capped", "Sat, 01 Jan 2050 00:00:00 GMT", fetcher.MaxRetryAfter},
		{"too many seconds are capped", "86401", fetcher.MaxRetryAfter},
		{"seconds that overflow are capped", "99999999999999999999999", fetcher.MaxRetryAfter},
		{"negative seconds", "-5", 0},
		{"a word", "soon", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			slow := onPipes(func(conn net.Conn, _ *http.Request) bool {
				time.Sleep(time.Second)
				fmt.Fprintf(conn, "HTTP/1.1 503 Busy\r\nRetry-After: %s\r\nContent-Length: 1\r\n\r\n", tt.field)
				time.Sleep(2 * time.Second)
				io.WriteString(conn, "x")
				return true
			})
			inBubble(t, fetcher.Config{Dial: slow}, func(t *testing.T, f *fetcher.Fetcher) {
				page := fetch(t, f, "http://e.example/")
				if page.RetryAfter != tt.want || page.Status != 503 {
					t.Errorf("got %v with status %d, want %v with 503", page.RetryAfter, page.Status, tt.want)
				}
			})
		})
	}
}

func TestRobotsTimeoutIsUnreachable(t *testing.T) {
	tests := []struct{ name, head string }{
		{"before the head", ""},
		{"within the file", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nUser-agent: *\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stuck := onPipes(func(conn net.Conn, _ *http.Request) bool {
				io.WriteString(conn, tt.head)
				io.Copy(io.Discard, conn)
				return false
			})
			inBubble(t, fetcher.Config{Dial: stuck}, func(t *testing.T, f *fetcher.Fetcher) {
				got := f.Robots(t.Context(), parse(t, "http://e.example/a"), 0)
				if got.Access != robots.AccessUnreachable || got.Err == nil || got.Body != nil {
					t.Errorf("got %+v, want unreachable with an error and no rules", got)
				}
				if took := got.End.Sub(got.Start); took != 30*time.Second {
					t.Errorf("took %v, want 30s", took)
				}
			})
		})
	}
}

// A request whose connection breaks off is not repeated: that would be a second request without any delay.
func TestARequestIsNotRepeatedByItself(t *testing.T) {
	requests := 0
	hangUp := onPipes(func(conn net.Conn, _ *http.Request) bool {
		requests++
		if requests%2 == 0 { // the second on a connection
			return false
		}
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		return true
	})
	inBubble(t, fetcher.Config{Dial: hangUp}, func(t *testing.T, f *fetcher.Fetcher) {
		if _, err := f.Fetch(t.Context(), parse(t, "http://e.example/1")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // until the connection is kept
		if _, err := f.Fetch(t.Context(), parse(t, "http://e.example/2")); err == nil || kindOf(t, err) != fetcher.KindReset {
			t.Errorf("got %v, want kind reset", err)
		}
		if requests != 2 {
			t.Errorf("the server saw %d requests, want 2", requests)
		}
	})
}

func TestRedirectsOfRobotsKeepTheGapOnOneHost(t *testing.T) {
	var at []time.Duration
	var start time.Time
	site := web{"e.example/robots.txt": "/1", "e.example/1": "http://f.example/2", "f.example/2": "http://e.example/3", "e.example/3": "200"}
	seen := onPipes(func(conn net.Conn, req *http.Request) bool {
		at = append(at, time.Since(start))
		return site.serve(conn, req)
	})
	inBubble(t, fetcher.Config{Dial: seen}, func(t *testing.T, f *fetcher.Fetcher) {
		start = time.Now()
		if got := f.Robots(t.Context(), parse(t, "http://e.example/"), 3*time.Second); got.Access != robots.AccessRules {
			t.Errorf("got %+v", got)
		}
		want := []time.Duration{0, 3 * time.Second, 3 * time.Second, 6 * time.Second}
		if !slices.Equal(at, want) {
			t.Errorf("requests at %v, want %v", at, want)
		}
	})
}
