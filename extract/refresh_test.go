package extract_test

import (
	"strings"
	"testing"
	"time"

	"crawler/extract"
)

func TestParseRefresh(t *testing.T) {
	for _, tt := range []struct {
		name, content string
		delay         time.Duration
		url           string
		ok            bool
	}{
		{"a bare number is the page itself", "15", 15 * time.Second, "", true},
		{"a number and a URL", "0;url=/a", 0, "/a", true},
		{"without url=", "0;/a", 0, "/a", true},
		{"a comma for the semicolon", "0,/a", 0, "/a", true},
		{"white space for the semicolon", "0 /a", 0, "/a", true},
		{"white space everywhere", " \t1 ;\n URL \f=\r /a ", time.Second, "/a", true},
		{"single quotes", "2;url='/a b'c", 2 * time.Second, "/a b", true},
		{"double quotes that stay open", `2;url="/a'b `, 2 * time.Second, "/a'b", true},
		{"quotes without url=", "2;'/a'", 2 * time.Second, "/a", true},
		{"white space in quotes", "2;' /a '", 2 * time.Second, "/a", true},
		{"url without = is a reference", "2;url", 2 * time.Second, "url", true},
		{"quotes after url without = belong to the reference", "2;url '/a'", 2 * time.Second, "url '/a'", true},
		{"ur is a reference", "2;ur=/a", 2 * time.Second, "ur=/a", true},
		{"empty url=", "2;url=", 2 * time.Second, "", true},
		{"an empty pair of quotes", "2;url=''", 2 * time.Second, "", true},
		{"only a separator", "2;", 2 * time.Second, "", true},
		{"only one separator is cut off", "2;,/a", 2 * time.Second, ",/a", true},
		{"a fraction is cut off", "2.75;/a", 2 * time.Second, "/a", true},
		{"a fraction without a whole", ".5;/a", 0, "/a", true},
		{"several points", "1.2.3;/a", time.Second, "/a", true},
		{"a number beyond any duration", strings.Repeat("9", 40) + ";/a", 9223372036 * time.Second, "/a", true},
		{"a number beyond durations that fits an int64", "9223372036854775807;/a", 9223372036 * time.Second, "/a", true},
		{"empty", "", 0, "", false},
		{"only white space", " ", 0, "", false},
		{"no number", "url=/a", 0, "", false},
		{"a sign", "+1;/a", 0, "", false},
		{"a number that runs into the URL", "1url=/a", 0, "", false},
		{"a digit that is not ASCII", "\u0661;/a", 0, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			delay, url, ok := extract.ParseRefresh(tt.content)
			if delay != tt.delay || url != tt.url || ok != tt.ok {
				t.Errorf("%q: got %v %q %v, want %v %q %v", tt.content, delay, url, ok, tt.delay, tt.url, tt.ok)
			}
		})
	}
}
