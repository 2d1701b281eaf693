package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"crawler/configs"
	"crawler/crawl"
	"crawler/internal/testweb"
	"crawler/storage"
)

// The demo's manners.
const (
	demoDelay = 50 * time.Millisecond
	// demoCapacity is so small that the filter has to grow and meets false positives, which a small crawl would not show.
	demoCapacity = 256
)

func (a *app) demoCommand() *cobra.Command {
	var progress, data string
	var hosts, pages int
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Crawl a synthetic web on this machine, offline: a short tour",
		Long: `Serve a synthetic web on loopback, crawl it over real HTTP, and have the web
judge the crawl: whether every page was fetched, none twice, none against
robots.txt, and none too soon.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), hosts, pages, progress, data) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVar(&hosts, "hosts", 20, "let the web have `N` hosts")
	flags.IntVar(&pages, "pages", 100, "let each host have `N` pages")
	flags.StringVar(&data, "data", "", "keep the crawl in `DIR`, for stats, explain and urls (default a temporary one)")
	flags.StringVar(&progress, "progress", "auto", progressUsage)
	return cmd
}

// errDemo means that the demo's judge found a fault.
var errDemo = errors.New("demo: the judge found faults")

func (a *app) demo(ctx context.Context, hosts, pages int, mode, data string) (err error) {
	show, err := a.newProgress(mode)
	if err != nil {
		return err
	}
	web, err := testweb.New(testweb.Mix(uint64(time.Now().UnixNano()), hosts, pages))
	if err != nil {
		return &usageError{err}
	}
	if data == "" {
		if data, err = os.MkdirTemp("", "crawler-demo-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	} else if _, err := storage.Describe(data); err == nil {
		return &usageError{fmt.Errorf("--data: %s holds a crawl; the demo starts a new one, name another directory", data)}
	}
	server, err := web.Start(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	s, cfg, err := demoSettings(server)
	if err != nil {
		return err
	}
	seeds, err := demoSeeds(server)
	if err != nil {
		return err
	}
	c, err := crawl.Open(data, crawlConfig(cfg, show))
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "A web of %s of %s each on %s,\ncrawled over HTTP with %v between requests to a host.\n",
		plural(hosts, "host"), plural(pages, "page"), server.Addr, demoDelay)
	reason := a.crawlOpen(ctx, c, s, seeds, show, slog.New(slog.DiscardHandler))
	stats := c.Stats()
	if reason = closing(c, reason); !errors.Is(reason, crawl.ErrFinished) {
		return reason
	}
	return a.printVerdict(web.Report(testweb.Options{
		Scope: testweb.Scope{MaxDepth: -1}, MinDelay: demoDelay,
	}), stats)
}

// demoSettings returns the settings of a crawl of the demo's web.
func demoSettings(server *testweb.Server) (*settings, *configs.Config, error) {
	s := new(settings)
	s.register(pflag.NewFlagSet("demo", pflag.ContinueOnError))
	for name, value := range map[string]string{
		"scope": "any", "delay": demoDelay.String(), "resolver": server.DNSAddr, "allow-net": "127.0.0.0/8", "log-level": "warn",
	} {
		if err := s.flags.Set(name, value); err != nil {
			return nil, nil, err
		}
	}
	cfg, err := s.load()
	if err != nil {
		return nil, nil, err
	}
	cfg.Crawl.Seen.MinCapacity = demoCapacity
	return s, cfg, nil
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
	line := func(label, value, note string) { fmt.Fprintf(a.out, "  %-24s %6s  %s\n", label, value, note) }
	line("coverage", fmt.Sprintf("%.4g %%", covered), fmt.Sprintf("%s of %s", count(r.Expected-len(r.Missing)), plural(r.Expected, "reachable URL")))
	line("duplicates", count(len(r.Duplicates)), "URLs fetched twice")
	line("politeness violations", count(len(r.Gaps)), "requests sooner than the delay allows")
	line("disallowed requests", count(len(r.Disallowed)), "against robots.txt")
	line("unexpected requests", count(len(r.Unexpected)), "for what no page links to")
	fmt.Fprintln(a.out, "\nThe filter, kept small for the demo so that it errs:")
	line("false positives avoided", count(s.Seen.FalsePositivesAvoided), "pages a filter alone would have lost")
	if err := r.Err(); err != nil {
		return fmt.Errorf("%w: %w", errDemo, err)
	}
	return nil
}
