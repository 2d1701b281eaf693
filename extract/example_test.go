package extract_test

import (
	"fmt"

	"crawler/extract"
)

func ExampleHTML() {
	page := []byte(`<base href="/news/"><link rel="canonical" href="today">
<a href="1?a&amp;b">one</a> <a href="2" rel="ugc nofollow">two</a>
<meta name="examplebot" content="noindex">`)
	d := extract.HTML(page, "text/html; charset=utf-8", "examplebot")
	fmt.Println(d.Base, d.NoIndex, d.NoFollow)
	for l := range d.Links() {
		fmt.Println(l.Kind, l.Ref, l.NoFollow)
	}
	// Output:
	// /news/ true false
	// canonical today false
	// a 1?a&b false
	// a 2 true
}

func ExampleParseRefresh() {
	delay, url, ok := extract.ParseRefresh("5; url='next.html'")
	fmt.Println(delay, url, ok)
	// Output: 5s next.html true
}

func ExampleRobotsTag() {
	noIndex, noFollow := extract.RobotsTag([]string{"noindex", "otherbot: nofollow"}, "examplebot")
	fmt.Println(noIndex, noFollow)
	// Output: true false
}
