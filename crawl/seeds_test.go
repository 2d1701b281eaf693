package crawl_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"crawler/crawl"
)

func TestReadSeeds(t *testing.T) {
	long := "http://a.test/" + strings.Repeat("x", 200_000)
	for _, tc := range []struct {
		name, text string
		want       []string // URLs, those with a fallback marked, and faults
	}{
		{name: "nothing"},
		{name: "one a line", text: "http://a.test/\nhttp://b.test/\n", want: []string{"http://a.test/", "http://b.test/"}},
		{name: "the last line needs no end", text: "http://a.test/\nhttp://b.test/", want: []string{"http://a.test/", "http://b.test/"}},
		{name: "CRLF", text: "http://a.test/\r\n\r\nhttp://b.test/\r\n", want: []string{"http://a.test/", "http://b.test/"}},
		{name: "a byte order mark", text: "\ufeffhttp://a.test/\n", want: []string{"http://a.test/"}},
		{name: "a byte order mark before a comment", text: "\ufeff# x\nhttp://a.test/\n", want: []string{"http://a.test/"}},
		{
			name: "comments and blank lines", text: "# one\n\n  # two\n\t\nhttp://a.test/#three\n",
			want: []string{"http://a.test/"},
		},
		{name: "space around", text: "  http://a.test/ \t\n", want: []string{"http://a.test/"}},
		{name: "very long lines", text: "# " + long + "\n" + long + "\nhttp://b.test/", want: []string{"http://b.test/", "f:2 " + long}},
		{
			name: "no scheme", text: "a.test\na.test/x:y\na.test:8080/x\n//b.test/\nlocalhost:80\n[::1]:80\n",
			want: []string{
				"https://a.test/ or http", "https://a.test/x:y or http", "https://a.test:8080/x or http", "https://b.test/ or http",
				"https://localhost:80/ or http", "https://[::1]:80/ or http",
			},
		},
		{name: "canonical form", text: "HTTP://A.test:80/%7ex/../y", want: []string{"http://a.test/y"}},
		{
			name: "faults are told by line", text: "http://a.test/\nmailto:x@a.test\n# \nhttp://\nftp://a.test/\nhttp://b.test/",
			want: []string{"http://a.test/", "http://b.test/", "f:2 mailto:x@a.test", "f:4 http://", "f:5 ftp://a.test/"},
		},
		{name: "a byte order mark in another line is none", text: "\n\ufeffhttp://a.test/", want: []string{"f:2 \ufeffhttp://a.test/"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			seeds, faults, err := crawl.ReadSeeds("f", iotest.OneByteReader(strings.NewReader(tc.text)))
			if err != nil {
				t.Error(err)
			}
			var got []string
			for _, seed := range seeds {
				text := seed.URL.String()
				if seed.Fallback {
					text += " or http"
				}
				got = append(got, text)
			}
			for _, f := range faults {
				got = append(got, fmt.Sprintf("%s:%d %s", f.File, f.Line, f.Text))
				if prefix := fmt.Sprintf("f:%d: ", f.Line); !strings.HasPrefix(f.Error(), prefix) || errors.Unwrap(f) == nil {
					t.Errorf("the fault reads %q, want it to begin with %q", f, prefix)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadSeedsTellsTheErrorOfItsReader(t *testing.T) {
	broken := errors.New("broken")
	seeds, _, err := crawl.ReadSeeds("f", io.MultiReader(strings.NewReader("http://a.test/\nhttp://b.te"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || len(seeds) != 1 { // and not one of the line that broke off
		t.Errorf("%d seeds and %v, want 1 and the error", len(seeds), err)
	}
}

func FuzzParseSeed(f *testing.F) {
	for _, text := range []string{"a.test", "http://a.test/", "mailto:x", "//x", "a:1", "x:", ":", "a.test:80/x?y=z:1#w", "https:/a"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		seed, err := crawl.ParseSeed(text)
		if err != nil {
			return
		}
		if scheme := seed.URL.Scheme(); seed.Fallback && scheme != "https" {
			t.Errorf("%q has a fallback from %s", text, scheme)
		}
		again, err := crawl.ParseSeed(seed.URL.String())
		if err != nil || again.URL.String() != seed.URL.String() || again.Fallback {
			t.Errorf("%q is %v, which is read as %v (%v)", text, seed, again, err)
		}
	})
}
