package fetcher_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
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
				got := f.Robots(t.Context(), parse(t, "http://e.example/a"))
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
