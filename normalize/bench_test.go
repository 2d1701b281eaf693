package normalize_test

import (
	"net/url"
	"testing"

	"crawler/normalize"
)

const (
	benchBase = "https://www.example.com/articles/2024/index.html"
	benchLink = "https://www.example.com/articles/2024/05/17/a-typical-title?page=2"
	benchRef  = "../../products/category/some-item-with-a-long-name_1234.html?ref=nav"
)

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := normalize.Parse(benchLink); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseNetURL(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		u, err := url.Parse(benchLink)
		if err != nil {
			b.Fatal(err)
		}
		_ = u.String()
	}
}

func BenchmarkResolve(b *testing.B) {
	base, err := normalize.Parse(benchBase)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := base.Resolve(benchRef); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkResolveNetURL(b *testing.B) {
	base, err := url.Parse(benchBase)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		u, err := base.Parse(benchRef)
		if err != nil {
			b.Fatal(err)
		}
		_ = u.String()
	}
}

func BenchmarkResolveRefused(b *testing.B) {
	base, err := normalize.Parse(benchBase)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := base.Resolve("mailto:someone@example.com"); err == nil {
			b.Fatal("no error")
		}
	}
}

func BenchmarkKey(b *testing.B) {
	for _, c := range []struct{ name, raw string }{
		{"plain", benchLink},
		{"even", "https://example.com/wiki/%E4%B8%AD%E6%96%87?q=%20a"},
		{"uneven", "https://example.com/%7euser/%e4%b8%ad?q=%41"},
	} {
		b.Run(c.name, func(b *testing.B) {
			u, err := normalize.Parse(c.raw)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				_ = u.Key()
			}
		})
	}
}

func BenchmarkSite(b *testing.B) {
	u, err := normalize.Parse(benchLink)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = u.Site()
	}
}
