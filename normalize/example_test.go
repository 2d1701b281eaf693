package normalize_test

import (
	"errors"
	"fmt"

	"crawler/normalize"
)

func ExampleParse() {
	u, err := normalize.Parse(`HTTPS://me:secret@Bücher.Example:443\a\.\b c?q#top`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(u)
	fmt.Println(u.Host(), u.RequestURI(), u.DroppedUserinfo())
	// Output:
	// https://xn--bcher-kva.example/a/b%20c?q
	// xn--bcher-kva.example /a/b%20c?q true
}

func ExampleParse_refused() {
	for _, raw := range []string{"mailto:me@h.example", "/a", "http://h.example:99999/"} {
		_, err := normalize.Parse(raw)
		fmt.Println(errors.Is(err, normalize.ErrScheme), err)
	}
	// Output:
	// true parse "mailto:me@h.example": scheme is not http or https
	// false parse "/a": relative reference without a base
	// false parse "http://h.example:99999/": invalid port
}

func ExampleURL_Resolve() {
	base, err := normalize.Parse("http://h.example/a/b?q")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, ref := range []string{"../c", "?x", "//k.example", "#top", "http:d"} {
		u, err := base.Resolve(ref)
		fmt.Println(u, err)
	}
	// Output:
	// http://h.example/c <nil>
	// http://h.example/a/b?x <nil>
	// http://k.example/ <nil>
	// http://h.example/a/b?q <nil>
	// http://h.example/a/d <nil>
}

func ExampleURL_Key() {
	u, err := normalize.Parse("http://h.example/%7euser/a%2fb")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(u)
	fmt.Println(u.Key())
	// Output:
	// http://h.example/%7euser/a%2fb
	// http://h.example/~user/a%2Fb
}

func ExampleURL_Site() {
	for _, raw := range []string{"http://www.shop.example.co.uk/", "http://user.github.io/", "http://192.0.2.1/"} {
		u, err := normalize.Parse(raw)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(u.Site())
	}
	// Output:
	// example.co.uk
	// user.github.io
	// 192.0.2.1
}
