package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"crawler/configs"
	"crawler/crawl"
	"crawler/frontier"
	"crawler/seen"
	"crawler/storage"
)

var update = flag.Bool("update", false, "write the golden files anew")

// commands returns all commands, the completions among them.
func commands() []*cobra.Command {
	all := []*cobra.Command{(&app{}).command()}
	for i := 0; i < len(all); i++ {
		all = append(all, all[i].Commands()...)
	}
	return all
}

func TestHelpFitsThePageAndDescribesEveryFlag(t *testing.T) {
	for _, cmd := range commands() {
		var out bytes.Buffer
		cmd.Root().SetOut(&out)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if line = strings.TrimRight(line, "\n"); len([]rune(line)) > helpWidth {
				t.Errorf("%s: %d columns: %s", cmd.CommandPath(), len([]rune(line)), line)
			}
		}
		if cmd.Short == "" {
			t.Errorf("%s is not described", cmd.CommandPath())
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s --%s is not described", cmd.CommandPath(), f.Name)
			}
		})
	}
}

func TestEveryTypeOfFlagHasARemedy(t *testing.T) {
	for _, cmd := range commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			kind := f.Value.Type()
			if flagValues[kind] == "" && kind != "string" && kind != "stringArray" {
				t.Errorf("%s --%s takes a %s, of which nothing is said", cmd.CommandPath(), f.Name, kind)
			}
		})
	}
}

func TestRunHasEveryFlagOfTheContract(t *testing.T) {
	var run *cobra.Command
	for _, cmd := range commands() {
		if cmd.Name() == "run" {
			run = cmd
		}
	}
	for name, value := range map[string]string{
		"seeds": "", "config": "", "data": "./crawl", "scope": "host", "depth": "-1", "max-pages": "0", "max-time": "0s", "include": "[]",
		"exclude": "[]", "concurrency": "64", "delay": "1s", "per-host": "1", "user-agent": defaultUserAgent(), "header": "[]",
		"robots": "obey", "allow-net": "[]", "resolver": "", "resolve": "[]", "proxy": "", "http": "", "nats": "", "node": "",
		"progress": "auto", "log-level": "info", "log-format": "text",
	} {
		if f := run.Flags().Lookup(name); f == nil || f.DefValue != value {
			t.Errorf("--%s: got %+v, want the default %q", name, f, value)
		}
	}
}

// snapshot has numbers as great as a crawl may ever have.
func snapshot() crawl.Stats {
	const n = 123_456_789_012
	return crawl.Stats{
		Crawl: crawl.RunStats{State: crawl.StateFinished, Started: time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC), ElapsedS: 1234567.8},
		URLs: crawl.URLStats{
			Discovered: n, Admitted: n, Queued: n, Leased: n, Fetched: n, Failed: n, Duplicates: n, RefusedBefore: n, RefusedAfter: n,
			Refused: map[string]int64{
				crawl.RefusedScope: 12, crawl.RefusedExclude: 11, crawl.RefusedInclude: 10, crawl.RefusedScheme: 9, crawl.RefusedInvalid: 8,
				crawl.RefusedDepth: 7, crawl.RefusedLimit: 6, crawl.RefusedTrap: 5, crawl.RefusedNoFollow: 4, crawl.RefusedRobots: 3,
				crawl.RefusedServer: 2, crawl.RefusedBlocked: n,
			},
		},
		Fetch: crawl.FetchStats{
			Requests: n, Bytes: n, PagesPerS: 98765.4, RobotsRequests: n,
			Status: map[string]int64{"200": n, "301": 7, "404": 1}, Errors: map[string]int64{"dns": 1, "timeout": 2, "reset": 2},
		},
		Seen: crawl.SeenStats{
			Checks: n, NegativesTrusted: n, NegativesUnproven: n, Positives: n, TruePositives: n, FalsePositivesAvoided: n, ExactLookups: n,
			ExactLookupsAvoided: n, RecentHits: n, FPRTarget: 0.01, FPRPredicted: 0.0123, FPRObserved: 0.0000099,
			Filter: crawl.FilterStats{
				Kind: "split-block", Generation: n, Bits: n, Hashes: 8, Keys: n, Capacity: n, Occupancy: 0.5, BitsPerKey: 10.5,
				MemoryBytes: n, Rebuilds: n, Covered: true,
			},
		},
		Hosts: crawl.HostStats{Known: 12_345_678, Active: 12_345_678, Deferred: 12_345_678},
		Store: crawl.StoreStats{URLs: n, Bytes: n, Commits: n},
	}
}

func TestStatsAreExplainedWithin80Columns(t *testing.T) {
	var out bytes.Buffer
	printStats(&out, snapshot())
	golden(t, "stats.golden", out.Bytes())
	for line := range strings.Lines(out.String()) {
		if line = strings.TrimRight(line, "\n"); len([]rune(line)) > 80 {
			t.Errorf("%d columns: %s", len([]rune(line)), line)
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got); -update writes it anew:\n%s", path, diff)
	}
}

func TestSettingsSurviveTheDataDirectory(t *testing.T) {
	given := map[string][]string{
		"scope": {"domain"}, "depth": {"3"}, "include": {"a,b", "c"}, "exclude": {`"d"`}, "delay": {"250ms"}, "per-host": {"2"},
		"user-agent": {"x/1, y"}, "header": {"A: b, c", "D: e"}, "robots": {"ignore"}, "allow-net": {"10.0.0.0/8", "::1"},
		"resolver": {"127.0.0.1:53"}, "resolve": {"a.test=127.0.0.1"}, "proxy": {"http://proxy.test:1"},
	}
	if got := len(given); got != len(kept) {
		t.Fatalf("%d flags are tried of the %d that are kept", got, len(kept))
	}
	first := newSettings()
	for name, values := range given {
		for _, v := range values {
			if err := first.flags.Set(name, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	first.text = "limits: {max_urls_per_host: 7}\n"
	want := load(t, first)
	data := t.TempDir()
	keep(t, first, data)

	again := newSettings()
	if err := again.recall(data); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, load(t, again), equal...); diff != "" {
		t.Errorf("a resume has other settings (-want +got):\n%s", diff)
	}
	// And they are kept for the resume after that.
	keep(t, again, data)
	third := newSettings()
	if err := third.recall(data); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, load(t, third), equal...); diff != "" {
		t.Errorf("the second resume has other settings (-want +got):\n%s", diff)
	}

	for name, v := range map[string]string{"include": "new", "depth": "9", "header": "New: x", "allow-net": "127.0.0.0/8"} {
		other := newSettings()
		if err := other.flags.Set(name, v); err != nil {
			t.Fatal(err)
		}
		if err := other.recall(data); err != nil {
			t.Fatal(err)
		}
		if got := values(other.flags.Lookup(name)); !slices.Equal(got, []string{v}) {
			t.Errorf("--%s given again: got %q, want %q alone", name, got, v)
		}
		if got := values(other.flags.Lookup("scope")); !slices.Equal(got, []string{"domain"}) {
			t.Errorf("--scope beside --%s: got %q, want what was kept", name, got)
		}
	}
}

// equal lets configurations be compared.
var equal = []cmp.Option{
	cmp.Comparer(func(a, b *regexp.Regexp) bool { return a.String() == b.String() }),
	cmpopts.EquateComparable(netip.Prefix{}, netip.Addr{}, frontier.Hours{}),
}

func newSettings() *settings {
	s := new(settings)
	s.register(pflag.NewFlagSet("test", pflag.ContinueOnError))
	return s
}

func load(t *testing.T, s *settings) *configs.Config {
	t.Helper()
	cfg, err := s.load()
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func keep(t *testing.T, s *settings, data string) {
	t.Helper()
	text, err := s.keep()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := storage.CreateDir(data, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if err := dir.SaveSettings(text); err != nil {
		t.Fatal(err)
	}
}

func values(f *pflag.Flag) []string {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{f.Value.String()}
}

// crawlOf returns the successive snapshots of a crawl that fetches 50 pages and 1 MiB between any two.
func crawlOf() func() crawl.Stats {
	n := int64(-1)
	return func() crawl.Stats {
		n++
		return crawl.Stats{
			URLs:  crawl.URLStats{Fetched: 50 * n, Queued: 1234, Leased: 2},
			Fetch: crawl.FetchStats{Bytes: n << 20}, Hosts: crawl.HostStats{Active: 1},
		}
	}
}

func TestProgressIsALineNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := progressOf(t, &out, "auto")
		stop := p.start(crawlOf())
		time.Sleep(25 * time.Second)
		stop()
		want := "50 fetched  5/s  102.4 KiB/s  1,234 queued  2 in flight  1 host\n" +
			"100 fetched  5/s  102.4 KiB/s  1,234 queued  2 in flight  1 host\n"
		if got := out.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestProgressIsOneLineInPlaceOnATerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := progressOf(t, &out, "auto")
		p.terminal, p.rewrite, p.period = true, true, terminalPeriod
		p.width = func() int { return 30 }
		stop := p.start(crawlOf())
		time.Sleep(600 * time.Millisecond)
		if _, err := p.Write([]byte("a log line\n")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(500 * time.Millisecond)
		stop()
		want := "\r\x1b[K" + "50 fetched  100/s  2.0 MiB/s " +
			"\r\x1b[K" + "a log line\n" + "50 fetched  100/s  2.0 MiB/s " +
			"\r\x1b[K" + "100 fetched  100/s  2.0 MiB/s" +
			"\r\x1b[K"
		if got := out.String(); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
}

func TestNoProgressIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		stop := progressOf(t, &out, "none").start(crawlOf())
		time.Sleep(time.Hour)
		stop()
		if out.Len() > 0 {
			t.Errorf("got %q, want nothing", out.String())
		}
	})
}

func progressOf(t *testing.T, out *bytes.Buffer, mode string) *progress {
	t.Helper()
	p, err := (&app{err: out}).newProgress(mode)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNumbersAreWrittenForPeople(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{count(0), "0"},
		{count(999), "999"},
		{count(1000), "1,000"},
		{count(-1234567), "-1,234,567"},
		{count(uint64(123456)), "123,456"},
		{size(int64(0)), "0 B"},
		{size(int64(1023)), "1023 B"},
		{size(int64(1536)), "1.5 KiB"},
		{size(int64(1) << 52), "4096.0 TiB"},
		{percent(0), "0.00 %"},
		{percent(0.01234), "1.23 %"},
		{percent(0.000009), "9.0e-04 %"},
		{plural(1, "host"), "1 host"},
		{plural(1000, "host"), "1,000 hosts"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

// stub is a source of false positives alone.
type stub struct {
	source
	list []seen.FalsePositive
}

func (s stub) FalsePositives() ([]seen.FalsePositive, error) { return s.list, nil }

func TestFalsePositivesAreListed(t *testing.T) {
	from := stub{list: []seen.FalsePositive{
		{Key: "http://example.org/?a&b", Time: time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC)},
		{Key: "http://example.org/c", Time: time.Date(2025, 3, 4, 5, 6, 8, 0, time.UTC)},
	}}
	for _, test := range []struct {
		name   string
		asJSON bool
		want   string
	}{
		{"one a line", false, "http://example.org/?a&b\nhttp://example.org/c\n"},
		{"as JSON lines", true, `{"url":"http://example.org/?a&b","time":"2025-03-04T05:06:07Z"}` + "\n" +
			`{"url":"http://example.org/c","time":"2025-03-04T05:06:08Z"}` + "\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := (&app{out: &out}).listFalsePositives(from, test.asJSON); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestExitCodes(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		code int
		said string
	}{
		{"a crawl that finished", crawl.ErrFinished, 0, ""},
		{"a crawl that was interrupted", crawl.ErrInterrupted, 0, ""},
		{"a crawl whose hosts cannot be reached", crawl.ErrUnreachable, 0, ""},
		{"a limit of pages", crawl.ErrMaxPages, 4, ""},
		{"a limit of time", crawl.ErrMaxTime, 4, ""},
		{"a full disk", crawl.ErrMinFreeDisk, 4, ""},
		{"any other failure", errors.New("no such luck"), 1, "crawler: no such luck"},
		{"two failures", errors.Join(errors.New("one"), errors.New("two")), 1, "crawler: one\ncrawler: two"},
		{"a fault of usage", &usageError{errors.New("--x: no")}, 2, "crawler: --x: no"},
		{"a fault of usage below a directory in use", &usageError{storage.ErrInUse}, 2, "crawler: in use"},
		{"a directory in use", fmt.Errorf("d: %w", storage.ErrInUse), 3, "crawler: d: in use"},
		{"a damaged directory", fmt.Errorf("d: %w", storage.ErrDamaged), 3, "crawler: d: damaged"},
		{"a directory of another version", fmt.Errorf("d: %w", storage.ErrFormat), 3, "crawler: d: unknown format"},
		{"a finished crawl that could not be closed", closing(closer{errors.New("disk gone")}, crawl.ErrFinished), 1, "crawler: disk gone"},
		{"a failed crawl that could not be closed", closing(closer{errors.New("disk gone")}, errors.New("write")), 1, "crawler: write\ncrawler: disk gone"},
		{"a finished crawl that was closed", closing(closer{}, crawl.ErrFinished), 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := exitCode(test.err); got != test.code {
				t.Errorf("exit code: got %d, want %d", got, test.code)
			}
			if got := explainExit(test.err); got != test.said {
				t.Errorf("said: got %q, want %q", got, test.said)
			}
		})
	}
}

type closer struct{ err error }

func (c closer) Close() error { return c.err }
