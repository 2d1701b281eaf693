package configs_test

import (
	"fmt"

	"crawler/configs"
)

func ExampleParse() {
	c, err := configs.Parse("crawl.yaml", []byte(`
politeness:
  default: {delay: 2s}
  domains:
    - match: example.org
      connections: 4
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	rule := c.Crawl.Politeness.For("www.example.org")
	fmt.Println(rule.Delay, rule.Connections)
	// Output: 2s 4
}

func ExampleParse_faults() {
	_, err := configs.Parse("crawl.yaml", []byte(`
concurrency: many
politeness:
  default:
    dely: 5
`))
	fmt.Println(err)
	// Output:
	// crawl.yaml:2:14: concurrency: want a whole number, got the text "many"
	// crawl.yaml:5:5: unknown key "dely" in politeness.default; did you mean "delay"?
}

func ExampleParseNetwork() {
	for _, text := range []string{"10.0.0.0/8", "127.0.0.1", "10.0.0.1/8"} {
		fmt.Println(configs.ParseNetwork(text))
	}
	// Output:
	// 10.0.0.0/8 <nil>
	// 127.0.0.1/32 <nil>
	// 10.0.0.1/8 "10.0.0.1/8" has bits set beyond its prefix; write 10.0.0.0/8 for the network or 10.0.0.1 for the address
}
