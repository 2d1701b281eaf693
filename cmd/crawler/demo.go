package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/spf13/cobra"

	"crawler/crawl"
	"crawler/fetcher"
	"crawler/frontier"
	"crawler/internal/testweb"
	"crawler/seen"
)

// The demo's web and manners. The delay is short so that the tour takes a minute at most, and long enough to be judged.
const (
	demoHosts = 20
	demoPages = 100
	demoDelay = 50 * time.Millisecond
	// demoCapacity is so small that the filter has to grow and meets false positives, which a small crawl would not show.
	demoCapacity = 256
)

func (a *app) demoCommand() *cobra.Command {
	var progress, data string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Crawl a synthetic web on this machine: the sixty-second tour, offline",
		Long: `Serve a synthetic web of 20 hosts with 100 pages each on loopback, crawl it over real HTTP, and have the
web judge the crawl: whether every page was fetched, none twice, none against robots.txt, and none too soon.`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), progress, data) },
	}
	cmd.Flags().StringVar(&progress, "progress", "auto", "auto, plain or none")
	cmd.Flags().StringVar(&data, "data", "", "keep the crawl in this `DIR`, to look at with stats, explain and urls (default: a temporary one)")
	return cmd
}

// errDemo means that the demo's judge found a fault.
var errDemo = errors.New("demo: the judge found faults")

func (a *app) demo(ctx context.Context, mode, data string) (err error) {
	show, err := a.newProgress(mode)
	if err != nil {
		return err
	}
	if show.period > time.Second {
		show.period = 5 * time.Second
	}
	if data == "" {
		if data, err = os.MkdirTemp("", "crawler-demo-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	}
	web, err := testweb.New(testweb.Mix(uint64(time.Now().UnixNano()), demoHosts, demoPages))
	if err != nil {
		return err
	}
	server, err := web.Start(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	c, err := crawl.Open(data, demoConfig(server))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if c.Stats().URLs.Admitted > 0 {
		return &usageError{fmt.Errorf("--data: %s holds a crawl; the demo starts a new one", data)}
	}
	fmt.Fprintf(a.out, "A web of %d hosts x %d pages on %s; crawling it over HTTP, %v between requests to a host.\n",
		demoHosts, demoPages, server.Addr, demoDelay)
	seeds, err := demoSeeds(server)
	if err != nil {
		return err
	}
	ctx, endSignals := a.onSignals(ctx, c)
	defer endSignals()
	endProgress := show.start(c)
	reason := c.Run(ctx, seeds)
	endProgress()
	a.printSummary(c.Stats(), reason)
	if !errors.Is(reason, crawl.ErrFinished) {
		return reason
	}
	return a.printVerdict(web.Report(testweb.Options{
		Scope: testweb.Scope{MaxDepth: -1}, MinDelay: demoDelay, Tolerance: time.Millisecond,
	}), c.Stats())
}

func demoConfig(server *testweb.Server) crawl.Config {
	polite := frontier.DefaultPoliteness()
	polite.Delay = demoDelay
	return crawl.Config{
		Scope:      crawl.Scope{Reach: crawl.ReachAny},
		Politeness: frontier.Rules{Default: polite},
		Seen:       seen.Config{MinCapacity: demoCapacity},
		Fetch: fetcher.Config{
			UserAgent: defaultUserAgent(),
			Resolver:  server.DNSAddr,
			Allow:     []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		},
	}
}

func demoSeeds(server *testweb.Server) ([]crawl.Seed, error) {
	var seeds []crawl.Seed
	for _, text := range server.Seeds() {
		seed, err := crawl.ParseSeed(text)
		if err != nil {
			return nil, err
		}
		seeds = append(seeds, seed)
	}
	return seeds, nil
}

// printVerdict says what the web's judge found.
func (a *app) printVerdict(r testweb.Report, s crawl.Stats) error {
	covered := 100 * float64(r.Expected-len(r.Missing)) / float64(max(r.Expected, 1))
	fmt.Fprintln(a.out, "\nThe web's own judge, which saw every request:")
	fmt.Fprintf(a.out, "  coverage                %.4g %%   (%d of %d reachable URLs)\n", covered, r.Expected-len(r.Missing), r.Expected)
	fmt.Fprintf(a.out, "  duplicates              %d\n", len(r.Duplicates))
	fmt.Fprintf(a.out, "  politeness violations   %d\n", len(r.Gaps))
	fmt.Fprintf(a.out, "  disallowed requests     %d\n", len(r.Disallowed))
	fmt.Fprintf(a.out, "  unexpected requests     %d\n", len(r.Unexpected))
	fmt.Fprintf(a.out, "  false positives avoided %d   (pages that a filter alone would have lost; the demo's filter is kept small)\n",
		s.Seen.FalsePositivesAvoided)
	if err := r.Err(); err != nil {
		return fmt.Errorf("%w: %w", errDemo, err)
	}
	return nil
}
