package configs_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crawler/configs"
)

func TestAllFaultsOfAFileAreReportedInItsOrder(t *testing.T) {
	text, err := os.ReadFile("testdata/faulty.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, err = configs.Parse("faulty.yaml", text)
	if err == nil {
		t.Fatal("Parse found no fault")
	}
	const golden = "testdata/faulty.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(err.Error()+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, readErr := os.ReadFile(golden)
	if readErr != nil {
		t.Fatal(readErr)
	}
	if diff := cmp.Diff(string(want), err.Error()+"\n"); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, e := range joined(t, err) {
		f, ok := errors.AsType[*configs.Fault](e)
		if !ok || f.File != "faulty.yaml" || f.Line < 2 || f.Column < 1 || f.Key == "" || f.Problem == "" {
			t.Errorf("%#v is not a complete *Fault", e)
		}
	}
}

// joined returns the errors that Parse joined.
func joined(t *testing.T, err error) []error {
	t.Helper()
	list, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err)
	if !ok {
		t.Fatalf("the error is a %T, want a joined one", err)
	}
	return list.Unwrap()
}

func TestFaults(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{
			"a misspelt key",
			"politeness:\n  default:\n    dely: 1s\n",
			`3:5: unknown key "dely" in politeness.default; did you mean "delay"?`,
		},
		{
			"a key with two letters swapped",
			"politeness: {default: {dleay: 1s}}\n",
			`1:24: unknown key "dleay" in politeness.default; did you mean "delay"?`,
		},
		{
			"a key in capitals and with a hyphen",
			"scope: {MAX-DEPTH: 3}\n",
			`1:9: unknown key "MAX-DEPTH" in scope; did you mean "max_depth"?`,
		},
		{
			"a resolver on no port",
			"network: {resolver: \"9.9.9.9:0\"}\n",
			`1:21: network.resolver: "9.9.9.9:0" is not a server address; write an IP address and a port, such as "9.9.9.9:53"`,
		},
		{
			"a control character after a byte order mark",
			"\ufeffa\x00",
			"1:2: the control character U+0000 is not allowed; remove it",
		},
		{
			"a key of another section",
			"delay: 1s\n",
			`1:1: unknown key "delay"; did you mean "retry.delay" or "politeness.default.delay"?`,
		},
		{
			"a key in another style",
			"scope: {maxDepth: 3}\n",
			`1:9: unknown key "maxDepth" in scope; did you mean "max_depth"?`,
		},
		{
			"a key like no other",
			"scope:\n  colour: red\n",
			`2:3: unknown key "colour" in scope; the keys here are default, max_depth, include, exclude`,
		},
		{
			"an unknown key at the top",
			"1: 2\n",
			`1:1: unknown key "1"; the keys here are user_agent, headers, scope, limits, concurrency, retry, network, politeness, seen, log, archive, recrawl, http, cluster`,
		},
		{
			"a key set twice",
			"concurrency: 1\nconcurrency: 2\n",
			"2:1: concurrency is already set on line 1; keep one",
		},
		{
			"a key without a value",
			"concurrency:\n",
			"1:13: concurrency: there is no value; write a whole number or remove the key",
		},
		{
			"a key that is a list",
			"? [a]\n: 5\n",
			"1:3: a key must be a name, got a list",
		},
		{
			"a value where a section should be",
			"scope: 5\n",
			"1:8: scope: want a mapping of keys, got the number 5",
		},
		{
			"a list where a section should be",
			"scope: [1]\n",
			"1:8: scope: want a mapping of keys, got a list",
		},
		{
			"a text where a number should be",
			"concurrency: many\n",
			`1:14: concurrency: want a whole number, got the text "many"`,
		},
		{
			"a number in quotes",
			"concurrency: \"64\"\n",
			`1:14: concurrency: want a whole number, got the text "64"; write it without quotes`,
		},
		{
			"a number that is too small",
			"concurrency: 0\n",
			"1:14: concurrency: 0 is out of range; write 1 to 100000",
		},
		{
			"a number that is not decimal",
			"concurrency: 0x10\n",
			"1:14: concurrency: 0x10 is not a plain decimal number; write 16",
		},
		{
			"a number that is not whole",
			"concurrency: 1.5\n",
			"1:14: concurrency: 1.5 is not a whole number that can be counted with; write a whole number",
		},
		{
			"a number that is too large",
			"concurrency: 99999999999999999999\n",
			"1:14: concurrency: 99999999999999999999 is not a whole number that can be counted with; write a whole number",
		},
		{
			"a list where a number should be",
			"concurrency: [1]\n",
			"1:14: concurrency: want a whole number, got a list",
		},
		{
			"a negative depth other than -1",
			"scope: {max_depth: -2}\n",
			"1:20: scope.max_depth: -2 is out of range; write -1 for no limit, or 0 or more",
		},
		{
			"a rate in percent",
			"seen: {target_fpr: 1%}\n",
			`1:20: seen.target_fpr: want a number, got the text "1%"`,
		},
		{
			"a rate out of range",
			"seen: {target_fpr: 0.6}\n",
			"1:20: seen.target_fpr: 0.6 is out of range; write more than 0 and at most 0.5",
		},
		{
			"a rate that is not a number",
			"seen: {target_fpr: .nan}\n",
			"1:20: seen.target_fpr: .nan is not a number that can be counted with; write a decimal number such as 1.5",
		},
		{
			"two factors out of range",
			"seen: {headroom: 0.5, rebuild_at: 1}\n",
			"1:18: seen.headroom: 0.5 is out of range; write 1 to 100\n" +
				"1:35: seen.rebuild_at: 1 is out of range; write more than 1 and at most 100",
		},
		{
			"a duration without a unit",
			"network: {timeout: 5}\n",
			"1:20: network.timeout: 5 has no unit; write 5s",
		},
		{
			"a duration in quotes without a unit",
			"network: {timeout: \"30\"}\n",
			"1:20: network.timeout: 30 has no unit; write 30s",
		},
		{
			"a duration in days",
			"limits: {max_time: 2d}\n",
			`1:20: limits.max_time: "2d" is in days, which are not a unit here; write 48h`,
		},
		{
			"a duration in words",
			"limits: {max_time: 5 minutes}\n",
			`1:20: limits.max_time: "5 minutes" is not a duration; write one such as 250ms, 5s or 1m`,
		},
		{
			"a negative duration",
			"politeness: {default: {delay: -1s}}\n",
			"1:31: politeness.default.delay: -1s is negative; write 0s or more",
		},
		{
			"no time at all for a fetch",
			"network: {timeout: 0s}\n",
			"1:20: network.timeout: 0s is out of range; write more than 0s",
		},
		{
			"a size without a unit",
			"limits: {max_body: 1048576}\n",
			"1:20: limits.max_body: 1048576 has no unit; write 1048576B or 1048576MiB",
		},
		{
			"a size of an unknown unit",
			"limits: {max_body: 10XB}\n",
			`1:20: limits.max_body: "10XB" has an unknown unit; the units are B, kB, MB, GB, TB (decimal) and KiB, MiB, GiB, TiB (binary)`,
		},
		{
			"a size in words",
			"limits: {max_body: lots}\n",
			`1:20: limits.max_body: "lots" is not a size; write one such as 512k, 10MiB or 1GB`,
		},
		{
			"a negative size",
			"limits: {max_body: -1MiB}\n",
			`1:20: limits.max_body: "-1MiB" is not a size; write one such as 512k, 10MiB or 1GB`,
		},
		{
			"a body of no size",
			"limits: {max_body: 0B}\n",
			"1:20: limits.max_body: 0B is out of range; write 1B or more",
		},
		{
			"a size beyond all disks",
			"limits: {max_body: 9999999TiB}\n",
			"1:20: limits.max_body: 9999999TiB is too large",
		},
		{
			"a text where a list should be",
			"network: {allow: 127.0.0.1}\n",
			`1:18: network.allow: want a list, got the text "127.0.0.1"; write [127.0.0.1]`,
		},
		{
			"networks, one of them right",
			"network: {allow: [127.0.0.1, 10.0.0.1/8, nonsense, 5]}\n",
			`1:30: network.allow[1]: "10.0.0.1/8" has bits set beyond its prefix; write 10.0.0.0/8 for the network or 10.0.0.1 for the address` + "\n" +
				`1:42: network.allow[2]: "nonsense" is not a network; write one such as 10.0.0.0/8, fd00::/8 or 127.0.0.1` + "\n" +
				`1:52: network.allow[3]: want a network such as 10.0.0.0/8, got the number 5; write "5" in quotes`,
		},
		{
			"a resolver without a port",
			"network: {resolver: 9.9.9.9}\n",
			`1:21: network.resolver: "9.9.9.9" has no port; write "9.9.9.9:53"`,
		},
		{
			"a resolver by name",
			"network: {resolver: \"dns.example:53\"}\n",
			`1:21: network.resolver: "dns.example:53" is not a server address; write an IP address and a port, such as "9.9.9.9:53"`,
		},
		{
			"a proxy of another scheme",
			"network: {proxy: \"ftp://127.0.0.1\"}\n",
			`1:18: network.proxy: "ftp://127.0.0.1" is not the URL of a proxy; write http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT`,
		},
		{
			"a fixed address that is none, and one for no host",
			"network: {resolve: {example.org: nowhere, \"a b\": 192.0.2.1}}\n",
			`1:34: network.resolve.example.org: "nowhere" is not an IP address; write one such as 192.0.2.1 or 2001:db8::1` + "\n" +
				`1:43: network.resolve.a b: "a b" is not a host name; write one such as example.org`,
		},
		{
			"a truth value that is none",
			"network: {http2: maybe}\n",
			`1:18: network.http2: "maybe" is not one of true, false, on, off, yes, no`,
		},
		{
			"a pattern that does not compile",
			"scope: {exclude: [\"(\"]}\n",
			"1:19: scope.exclude[0]: \"(\" is not a regular expression: missing closing ): `(`; the syntax is that of RE2",
		},
		{
			"a pattern that is a number",
			"scope: {include: [404]}\n",
			`1:19: scope.include[0]: want a regular expression, got the number 404; write "404" in quotes`,
		},
		{
			"a misspelt word",
			"scope: {default: hosts}\n",
			`1:18: scope.default: "hosts" is not one of page, prefix, host, domain, any; did you mean "host"?`,
		},
		{
			"a word like no other",
			"scope: {default: everything}\n",
			`1:18: scope.default: "everything" is not one of page, prefix, host, domain, any`,
		},
		{
			"American spelling",
			"politeness: {default: {crawl_delay: honor}}\n",
			`1:37: politeness.default.crawl_delay: "honor" is not one of honour, ignore; did you mean "honour"?`,
		},
		{
			"a user agent of two lines",
			"user_agent: \"a\\nb\"\n",
			`1:13: user_agent: "a\nb" cannot be sent in a header field; keep it to one line of visible characters`,
		},
		{
			"header fields that cannot be set",
			"headers: {Host: x, \"a b\": c, X: y, x: z}\n",
			"1:11: headers.Host: Host is set by the HTTP client itself; remove it\n" +
				`1:20: headers.a b: "a b" is not the name of a header field` + "\n" +
				"1:36: headers.x is already set on line 1, as X; keep one",
		},
		{
			"hours without minutes",
			"politeness: {default: {hours: 22-06}}\n",
			`1:31: politeness.default.hours: "22-06": "22" is not a time of day such as 22:00`,
		},
		{
			"hours of an unknown zone",
			"politeness: {default: {hours: \"22:00-06:00 Mars/Base\"}}\n",
			`1:31: politeness.default.hours: "22:00-06:00 Mars/Base": unknown time zone "Mars/Base"`,
		},
		{
			"matches of many faulty kinds",
			"politeness:\n  domains:\n    - match: example.org\n    - match: Example.ORG\n    - delay: 1s\n    - match: https://example.org/x\n    - match: \"*\"\n    - match: a*.example\n    - match: example.org:8080\n    - 5\n    - match: \"*.127.0.0.1\"\n    - match:\n    - {match: x.example, dely: 5}\n",
			`4:14: politeness.domains[1].match: "example.org" is already matched on line 3; keep one` + "\n" +
				"5:7: politeness.domains[2]: there is no match; say which hosts are meant, as in match: example.org\n" +
				`6:14: politeness.domains[3].match: "https://example.org/x" is not a host name; write "example.org"` + "\n" +
				`7:14: politeness.domains[4].match: "*" matches every host; write what holds for every host in politeness.default` + "\n" +
				`8:14: politeness.domains[5].match: "a*.example" is not a host name; write one such as example.org` + "\n" +
				`9:14: politeness.domains[6].match: "example.org:8080" is not a host name; write "example.org"; it holds for every port` + "\n" +
				"10:7: politeness.domains[7]: want a mapping of keys, got the number 5\n" +
				`11:14: politeness.domains[8].match: "*.127.0.0.1": an address has no subdomains; write "127.0.0.1"` + "\n" +
				`12:13: politeness.domains[9].match: there is no value; write a host name or "*." and one or remove the key` + "\n" +
				`13:26: unknown key "dely" in politeness.domains[10]; did you mean "delay"?`,
		},
		{
			"WARC output",
			"archive: {warc: on}\n",
			"1:17: archive.warc: WARC output is not part of this version; leave archive.warc off",
		},
		{
			"an archive outside the data directory",
			"archive: {dir: ../x}\n",
			`1:16: archive.dir: "../x" is not inside the data directory; write a relative path inside the data directory`,
		},
		{
			"a dashboard",
			"http: {listen: \":8080\"}\n",
			"1:16: http.listen: the dashboard is not part of this version; leave http.listen empty",
		},
		{
			"a cluster",
			"cluster: {nats: \"nats://x\", replicas: 9}\n",
			"1:17: cluster.nats: clusters are not part of this version; leave cluster.nats empty\n" +
				"1:39: cluster.replicas: 9 is out of range; write 1 to 5",
		},
		{
			"a second crawl of the same pages",
			"recrawl: {after: 24h}\n",
			"1:18: recrawl.after: fetching pages again is not part of this version; leave recrawl.after 0s",
		},
		{
			"another filter",
			"seen: {filter: cuckoo}\n",
			"1:16: seen.filter: only the blocked filter is part of this version; leave seen.filter blocked",
		},
		{
			"an anchor",
			"retry: &x {tries: 1}\n",
			"1:8: anchors and aliases are not supported; write the value out",
		},
		{
			"an alias",
			"retry: {tries: &x 1}\nconcurrency: *x\n",
			"1:16: anchors and aliases are not supported; write the value out\n" +
				"2:14: anchors and aliases are not supported; write the value out",
		},
		{
			"an alias of nothing",
			"concurrency: *x\n",
			"1:14: not YAML: unknown anchor 'x' referenced",
		},
		{
			"a merge key",
			"<<: {concurrency: 1}\n",
			"1:1: merge keys (<<) are not supported; write the keys out",
		},
		{
			"a tag",
			"concurrency: !!int 5\n",
			"1:14: the tag !!int is not supported; remove it",
		},
		{
			"a tab",
			"scope:\n\tdefault: host\n",
			"2:1: not YAML: a tab where a key or value should begin; indent with spaces",
		},
		{
			"a list that is not closed",
			"a: [1\nb: 2\n",
			"2:2: not YAML: did not find expected ',' or ']' (while parsing a flow sequence that begins on line 1)",
		},
		{
			"a text that is not closed",
			"a: \"x\ny",
			"2:2: not YAML: found unexpected end of stream (while scanning a quoted scalar that begins on line 1)",
		},
		{
			"a value that begins as none may",
			"user_agent: @me\n",
			"1:13: not YAML: found character that cannot start any token; write the value in quotes",
		},
		{
			"a colon in a value",
			"user_agent: a: b\n",
			`1:14: not YAML: mapping values are not allowed in this context; write a value that contains ": " in quotes`,
		},
		{
			"two documents",
			"concurrency: 1\n---\nconcurrency: x\n",
			"2:1: a second document begins here; keep one document in the file",
		},
		{
			"a second document that is not YAML",
			"concurrency: 1\n---\n[\n",
			"4:1: not YAML: did not find expected node content",
		},
		{
			"a list as the file",
			"- a\n",
			"1:1: want a mapping of keys, got a list; write key: value",
		},
		{
			"a text as the file",
			"hello\n",
			`1:1: want a mapping of keys, got the text "hello"; write key: value`,
		},
		{
			"UTF-16",
			"\xff\xfea",
			"1:1: the file is UTF-16; save it as UTF-8",
		},
		{
			"a byte that is not UTF-8",
			"concurrency: 1\nuser_agent: \"é\xff\"",
			"2:15: the byte 0xff is not UTF-8; save the file as UTF-8",
		},
		{
			"a control character",
			"user_agent: a\x00b",
			"1:14: the control character U+0000 is not allowed; remove it",
		},
		{
			"a fault after a byte order mark",
			"\ufeffconcurrency: x\n",
			`1:14: concurrency: want a whole number, got the text "x"`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := configs.Parse("c.yaml", []byte(tt.text))
			if err == nil {
				t.Fatalf("Parse gave %+v, want the fault %s", c, tt.want)
			}
			if diff := cmp.Diff(tt.want, strings.ReplaceAll(err.Error(), "c.yaml:", "")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
