package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"crawler/crawl"
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
			if line = strings.TrimRight(line, "\n"); len([]rune(line)) > 80 {
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

func TestOneThingIsNotManyInStats(t *testing.T) {
	s := snapshot()
	s.Store.URLs, s.Archive = 1, crawl.ArchiveStats{Records: 1, Bytes: 1, Revisits: 1}
	s.Seen.Filter.Covered, s.Seen.Filter.CoverageLag = false, 1
	var out bytes.Buffer
	printStats(&out, s)
	for _, want := range []string{" 1 URL\n", " 1 record, 1 revisit\n", " 1 URL to catch up with\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestStatsOfACrawlThatIsNotOpenCountNoCommits(t *testing.T) {
	s := snapshot()
	s.Store.Commits = 0
	var out bytes.Buffer
	printStats(&out, s)
	if strings.Contains(out.String(), "commits") {
		t.Errorf("got\n%s", out.String())
	}
}

func TestAFilterPastItsCapacityIsSaidToBe(t *testing.T) {
	s := snapshot()
	s.Seen.Filter.Keys, s.Seen.Filter.Capacity = 1100, 1000
	var out bytes.Buffer
	printStats(&out, s)
	if !regexp.MustCompile(`  keys +1,100  past its capacity of 1,000\n +to be rebuilt at a quarter more\n`).MatchString(out.String()) {
		t.Errorf("got\n%s", out.String())
	}
}

func TestTheSummarySaysHowToGoOn(t *testing.T) {
	const goOn, nothing = "the same command goes on with what is queued", "nothing could be fetched; "
	for _, test := range []struct {
		name   string
		urls   crawl.URLStats
		data   string
		reason error
		want   string // after the numbers
	}{
		{"a crawl that is done", crawl.URLStats{Admitted: 1, Fetched: 1}, "./crawl", crawl.ErrFinished, ""},
		{"a crawl with URLs left", crawl.URLStats{Admitted: 2, Fetched: 1, Queued: 1}, "crawl", crawl.ErrInterrupted, "  " + goOn + "\n"},
		{"a crawl stopped before it admitted any", crawl.URLStats{}, "crawl", crawl.ErrInterrupted, "  " + goOn + "\n"},
		{"a crawl stopped with nothing left", crawl.URLStats{Admitted: 1, Fetched: 1}, "crawl", crawl.ErrInterrupted, ""},
		{
			"all failed",
			crawl.URLStats{Admitted: 2, Failed: 1, RefusedAfter: 1},
			"./crawl", crawl.ErrFinished,
			"  " + nothing + "crawler urls --state failed lists why\n",
		},
		{
			"all refused, elsewhere",
			crawl.URLStats{Admitted: 1, RefusedAfter: 1},
			"else", crawl.ErrFinished,
			"  " + nothing + "crawler urls --state refused --data else lists why\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			(&app{out: &out}).printSummary(crawl.Stats{URLs: test.urls}, test.data, test.reason)
			_, got, ok := strings.Cut(out.String(), "no page lost to them\n")
			if !ok || got != test.want {
				t.Errorf("got %q, want %q after the numbers, in\n%s", got, test.want, out.String())
			}
		})
	}
}

func TestTheSummaryFits80Columns(t *testing.T) {
	var out bytes.Buffer
	s := snapshot()
	for _, n := range []*int64{&s.URLs.Discovered, &s.URLs.Admitted, &s.URLs.Fetched, &s.URLs.Failed, &s.URLs.RefusedBefore, &s.URLs.Queued, &s.URLs.Leased} {
		*n = 12_345_678
	}
	s.URLs.RefusedAfter = 0
	(&app{out: &out}).printSummary(s, "crawl", crawl.ErrMaxPages)
	fmt.Fprintln(&out, stopping(100_000))
	for line := range strings.Lines(out.String()) {
		if line = strings.TrimRight(line, "\n"); len([]rune(line)) > 80 {
			t.Errorf("%d columns: %s", len([]rune(line)), line)
		}
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
