package crawl_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"crawler/crawl"
	"crawler/fetcher"
	"crawler/internal/testweb"
	"crawler/storage"
)

// The environment of a test binary that is to be a crawler.
const (
	childDir      = "CRAWL_TEST_DIR"
	childResolver = "CRAWL_TEST_RESOLVER"
	childSeeds    = "CRAWL_TEST_SEEDS"
	childFileSize = "CRAWL_TEST_FILE_SIZE"
)

func TestMain(m *testing.M) {
	if os.Getenv(childDir) != "" {
		if err := crawlAsChild(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const (
	childConcurrency = 8
	childDelay       = 200 * time.Millisecond // longer than it takes to start again
)

// crawlAsChild crawls as the environment says.
func crawlAsChild() error {
	cfg := crawl.Config{
		Scope: crawl.Scope{Reach: crawl.ReachAny}, Politeness: delayed(childDelay),
		Concurrency: childConcurrency, Partitions: 2,
		Fetch: fetcher.Config{Resolver: os.Getenv(childResolver), Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
	}
	c, err := crawl.Open(os.Getenv(childDir), cfg)
	if err != nil {
		return err
	}
	if err := limitFileSize(os.Getenv(childFileSize)); err != nil { // after space was reserved, which would fail else
		return err
	}
	var seeds []crawl.Seed
	for text := range strings.FieldsSeq(os.Getenv(childSeeds)) {
		seed, err := crawl.ParseSeed(text)
		if err != nil {
			return err
		}
		seeds = append(seeds, seed)
	}
	if err := c.Run(context.Background(), seeds); err != crawl.ErrFinished {
		return err
	}
	return c.Close()
}

// child is a crawler in another process.
type child struct {
	cmd   *exec.Cmd
	out   strings.Builder
	ended chan error
}

func startChild(t *testing.T, dir string, server *testweb.Server, env ...string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0]), ended: make(chan error, 1)}
	c.cmd.Env = append(os.Environ(), childDir+"="+dir, childResolver+"="+server.DNSAddr, childSeeds+"="+strings.Join(server.Seeds(), " "))
	c.cmd.Env = append(c.cmd.Env, env...)
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.out
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { c.ended <- c.cmd.Wait() }()
	return c
}

func startWeb(t *testing.T, cfg testweb.Config) (*testweb.Web, *testweb.Server) {
	t.Helper()
	web := newWeb(t, cfg)
	server, err := web.Start(context.Background(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return web, server
}

func TestKilledAtTenMomentsACrawlLosesNothing(t *testing.T) {
	t.Parallel()
	const kills = 10
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	web, server := startWeb(t, testweb.Config{Hosts: 12, Pages: 14, Redirects: 0.2, Gone: 0.1, Private: 0.05, RobotsMissing: []int{3}})
	dir := filepath.Join(t.TempDir(), "data")

	finished := false
	for kill := 0; kill < kills && !finished; kill++ {
		enough := web.Totals().Requests + 2 + random.IntN(20)
		c := startChild(t, dir, server)
		for !finished && web.Totals().Requests < enough {
			select {
			case err := <-c.ended:
				if err != nil {
					t.Fatalf("a crawler failed: %v\n%s", err, &c.out)
				}
				finished = true
			case <-time.After(time.Millisecond):
			}
		}
		if !finished {
			if err := c.cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
			<-c.ended
		}
		web.NextPhase()
		sound(t, dir)
	}
	if finished {
		t.Error("the crawl ended before it was killed as often as it was to be")
	}
	last := startChild(t, dir, server)
	if err := <-last.ended; err != nil {
		t.Fatalf("the last crawler failed: %v\n%s", err, &last.out)
	}
	stats := sound(t, dir)
	report := web.Report(testweb.Options{
		Scope: testweb.Scope{MaxDepth: -1}, MinDelay: childDelay,
		Tolerance: childDelay / 4, // a busy machine tells the server late that an answer has been sent
	})
	repeats := 0
	for _, r := range report.Duplicates {
		repeats += r.Times - 1
		if r.Times > r.Phases {
			t.Errorf("%s was fetched %d times in %d runs", r.URL, r.Times, r.Phases)
		}
	}
	t.Logf("%d fetched, %d of them again", report.Fetched, repeats)
	if repeats > kills*childConcurrency {
		t.Errorf("%d fetches were repeated; at most %d can have been in flight", repeats, kills*childConcurrency)
	}
	report.Duplicates = nil
	if err := report.Err(); err != nil {
		t.Error(err)
	}
	if got := stats.URLs.Fetched + stats.URLs.Failed; got != int64(report.Expected) || stats.URLs.Queued != 0 {
		t.Errorf("%d URLs fetched or gone and %d queued, want %d and none", got, stats.URLs.Queued, report.Expected)
	}
}

// sound checks the data directory that a crawler has left and returns its counts.
func sound(t *testing.T, dir string) crawl.Stats {
	t.Helper()
	d, err := storage.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, store := range d.Stores() {
		if err := store.Check(); err != nil {
			t.Error(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	v, err := crawl.OpenView(dir, crawl.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	stats, err := v.Stats()
	if err != nil {
		t.Fatal(err)
	}
	if err := stats.Check(); err != nil {
		t.Error(err)
	}
	if stats.URLs.Queued > 0 && stats.Crawl.State != crawl.StateStopped {
		t.Errorf("%d URLs are queued, and the state is %s", stats.URLs.Queued, stats.Crawl.State)
	}
	return stats
}
