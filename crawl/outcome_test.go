package crawl_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"crawler/crawl"
	"crawler/fetcher"
	"crawler/frontier"
	"crawler/normalize"
)

// brief is what matters of an outcome in a table.
func brief(o frontier.Outcome) string {
	verdict := map[frontier.Verdict]string{
		frontier.Settled: "settled", frontier.GiveUp: "given up", frontier.Refuse: "refused",
		frontier.TryAgain: "again", frontier.PutBack: "put back",
	}[o.Verdict]
	if o.Reason != "" {
		verdict += ", " + o.Reason
	}
	if o.HostFailed {
		verdict += ", host failed"
	}
	if o.RetryAfter > 0 {
		verdict += ", after " + o.RetryAfter.String()
	}
	return verdict
}

func TestWhatAnAnswerMeans(t *testing.T) {
	redirect, err := normalize.Parse("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name  string
		page  fetcher.Page
		tries int
		want  string
	}{
		{name: "200", page: fetcher.Page{Status: 200}, want: "settled"},
		{name: "206", page: fetcher.Page{Status: 206}, want: "settled"},
		{name: "301", page: fetcher.Page{Status: 301, Redirect: redirect}, want: "settled"},
		{name: "308", page: fetcher.Page{Status: 308, Redirect: redirect}, want: "settled"},
		{name: "302 to nowhere", page: fetcher.Page{Status: 302}, want: "settled"},
		{name: "302 to what is no URL", page: fetcher.Page{Status: 302, RedirectErr: errors.New("bad")}, want: "given up, redirect"},
		{name: "304", page: fetcher.Page{Status: 304}, want: "settled"},
		{name: "400", page: fetcher.Page{Status: 400}, want: "given up, gone"},
		{name: "404", page: fetcher.Page{Status: 404, Truncation: fetcher.TruncatedDisconnect}, want: "given up, gone"},
		{name: "410", page: fetcher.Page{Status: 410}, want: "given up, gone"},
		{name: "451", page: fetcher.Page{Status: 451}, want: "given up, gone"},
		{name: "401", page: fetcher.Page{Status: 401}, want: "refused, server"},
		{name: "403", page: fetcher.Page{Status: 403, RetryAfter: time.Second}, want: "refused, server"},
		{name: "408", page: fetcher.Page{Status: 408}, want: "again, status 408, host failed"},
		{name: "425", page: fetcher.Page{Status: 425}, want: "again, status 425, host failed"},
		{name: "429", page: fetcher.Page{Status: 429}, want: "again, status 429, host failed"},
		{name: "503", page: fetcher.Page{Status: 503}, want: "again, status 503, host failed"},
		{name: "429 with Retry-After", page: fetcher.Page{Status: 429, RetryAfter: time.Minute}, want: "again, status 429, host failed, after 1m0s"},
		{name: "500", page: fetcher.Page{Status: 500}, want: "again, status 500"},
		{name: "500 with Retry-After", page: fetcher.Page{Status: 500, RetryAfter: time.Minute}, want: "again, status 500"},
		{name: "504", page: fetcher.Page{Status: 504}, want: "again, status 504"},
		{name: "599", page: fetcher.Page{Status: 599}, want: "again, status 599"},
		{name: "cut short by the server", page: fetcher.Page{Status: 200, Truncation: fetcher.TruncatedDisconnect}, want: "again, truncated"},
		{name: "cut short by the server again", page: fetcher.Page{Status: 200, Truncation: fetcher.TruncatedDisconnect}, tries: 1, want: "settled, truncated"},
		{name: "too slow", page: fetcher.Page{Status: 200, Truncation: fetcher.TruncatedTime}, want: "again, truncated"},
		{name: "too slow again", page: fetcher.Page{Status: 200, Truncation: fetcher.TruncatedTime}, tries: 2, want: "settled, truncated"},
		{name: "too long", page: fetcher.Page{Status: 200, Truncation: fetcher.TruncatedLength}, want: "settled, truncated"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.page.Body, tc.page.MediaType, tc.page.End, tc.page.Wait = []byte("abc"), "text/html", time.Unix(1000, 0), time.Second
			o := crawl.PageOutcome(&tc.page, tc.tries)
			if got := brief(o); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if o.Status != tc.page.Status || o.Bytes != 3 || o.MediaType != "text/html" || !o.End.Equal(tc.page.End) || o.Answer != time.Second {
				t.Errorf("the answer is told as %+v", o)
			}
			if (o.Detail == "") != (o.Reason == "") {
				t.Errorf("reason %q, in words %q", o.Reason, o.Detail)
			}
		})
	}
}

func TestWhatTheLackOfAnAnswerMeans(t *testing.T) {
	for _, tc := range []struct {
		kind  fetcher.Kind
		tries int
		want  string
	}{
		{kind: fetcher.KindDNS, want: "again, dns, host failed"},
		{kind: fetcher.KindNXDomain, want: "again, nxdomain, host failed"},
		{kind: fetcher.KindNXDomain, tries: 1, want: "given up, nxdomain"},
		{kind: fetcher.KindConnect, want: "again, connect, host failed"},
		{kind: fetcher.KindTLS, want: "again, tls, host failed"},
		{kind: fetcher.KindTimeout, want: "again, timeout, host failed"},
		{kind: fetcher.KindReset, want: "again, reset, host failed"},
		{kind: fetcher.KindProxy, want: "again, proxy, host failed"},
		{kind: fetcher.KindProtocol, want: "again, protocol"},
		{kind: fetcher.KindBlocked, want: "refused, blocked"},
		{kind: fetcher.KindCanceled, want: "put back, canceled"},
		{kind: "news", want: "again, news"},
	} {
		t.Run(fmt.Sprintf("%s after %d tries", tc.kind, tc.tries), func(t *testing.T) {
			o := crawl.ErrorOutcome(fmt.Errorf("get: %w", &fetcher.Error{Kind: tc.kind, Err: errors.New("why")}), tc.tries)
			if got := brief(o); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if o.Detail == "" {
				t.Error("no word of why")
			}
		})
	}
	if got, want := brief(crawl.ErrorOutcome(errors.New("x"), 0)), "again, other"; got != want {
		t.Errorf("an error of no kind: got %q, want %q", got, want)
	}
}
