package extract_test

import (
	"slices"
	"strings"
	"testing"

	"crawler/extract"
)

func TestIsHTML(t *testing.T) {
	for contentType, want := range map[string]bool{
		"text/html":                       true,
		"Text/HTML; charset=utf-8":        true,
		" text/html ;charset=a;charset=b": true,
		"text/html, text/html":            true,
		"application/xhtml+xml":           true,
		"":                                false,
		"text/plain":                      false,
		"text/html2":                      false,
		"application/xml":                 false,
		"image/svg+xml":                   false,
	} {
		if got := extract.IsHTML(contentType); got != want {
			t.Errorf("%q: got %v, want %v", contentType, got, want)
		}
	}
}

func TestSniffHTML(t *testing.T) {
	for body, want := range map[string]bool{
		"<!DOCTYPE html><p>":        true,
		"\n  <html>":                true,
		"<!-- x --><p>":             true,
		"":                          false,
		"plain <p>":                 false,
		"%PDF-1.7":                  false,
		"\x89PNG\r\n\x1a\n<html>":   false,
		"<?xml version='1.0'?><rss": false,
	} {
		if got := extract.SniffHTML([]byte(body)); got != want {
			t.Errorf("%q: got %v, want %v", body, got, want)
		}
	}
}

func TestHTMLDecodesThePage(t *testing.T) {
	const (
		latin1 = "<a href='/caf\xe9'>"
		utf8   = "<a href='/caf\u00e9'>"
		koi8   = "<a href='/\xcd\xc9\xd2'>" // "mir"
	)
	padding := strings.Repeat(" ", 2000)
	for _, tt := range []struct{ name, contentType, page, want string }{
		{"the header names the charset", "text/html; charset=iso-8859-1", latin1, "/caf\u00e9"},
		{"the header names it in quotes and capitals", `text/html; Charset="KOI8-R"`, koi8, "/\u043c\u0438\u0440"},
		{"the header wins over a meta", "text/html; charset=koi8-r", "<meta charset=utf-8>" + koi8, "/\u043c\u0438\u0440"},
		{"an unknown charset in the header counts for nothing", "text/html; charset=x", "<meta charset=koi8-r>" + koi8, "/\u043c\u0438\u0440"},
		{"a meta names it", "text/html", "<meta charset=koi8-r>" + koi8, "/\u043c\u0438\u0440"},
		{"a meta names it in the old way", "", "<meta http-equiv=content-type content='text/html; charset=koi8-r'>" + koi8, "/\u043c\u0438\u0440"},
		{"a byte order mark wins over the header", "text/html; charset=koi8-r", "\ufeff" + utf8, "/caf\u00e9"},
		{"UTF-16, big end first", "text/html", "\xfe\xff\x00<\x00a\x00 \x00h\x00r\x00e\x00f\x00=\x01\x42\x00>", "\u0142"},
		{"UTF-16, little end first", "text/html", "\xff\xfe<\x00a\x00 \x00h\x00r\x00e\x00f\x00=\x00\x42\x01>\x00", "\u0142"},
		{"UTF-16 cut off in the middle", "text/html; charset=utf-16le", "<\x00a\x00 \x00h\x00r\x00e\x00f\x00=\x00\x42\x01>\x00<", "\u0142"},
		{"nothing is declared and it is UTF-8", "text/html", utf8, "/caf\u00e9"},
		{"nothing is declared and the UTF-8 comes late", "text/html", padding + utf8, "/caf\u00e9"},
		{"UTF-8 is declared too late to be seen", "text/html", padding + "<meta charset=utf-8>" + utf8, "/caf\u00e9"},
		{"nothing is declared and it is not UTF-8", "text/html", padding + latin1, "/caf\u00e9"},
		{"windows-1252 is declared and it looks like UTF-8", "text/html", "<meta charset=latin1>" + utf8, "/caf\u00c3\u00a9"},
		{"Shift JIS, whose second bytes may be ASCII", "text/html; charset=shift_jis", "<a href='/\x83\x5c'>", "/\u30bd"},
		{"UTF-8 with faults stays UTF-8", "text/html; charset=utf-8", "\xff" + utf8 + "\xff", "/caf\u00e9"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := slices.Collect(extract.HTML([]byte(tt.page), tt.contentType, "").Links())
			if len(got) != 1 || got[0].Ref != tt.want {
				t.Errorf("%q: got %+v, want one link to %+q", tt.page, got, tt.want)
			}
		})
	}
}
