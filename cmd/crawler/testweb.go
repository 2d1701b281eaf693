package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"crawler/internal/testweb"
)

func (a *app) testwebCommand() *cobra.Command {
	var cfg testweb.Config
	var mix bool
	var addr string
	cmd := &cobra.Command{
		Use:   "testweb",
		Short: "Serve the synthetic web on loopback",
		Long: `Serve a synthetic web with a known answer on loopback, with a DNS server for its
host names, until it is interrupted. It records every request and judges the
crawl: ask for http://` + testweb.JudgeHost + `/report at its address.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if mix {
				shape := cfg
				cfg = testweb.Mix(cfg.Seed, cfg.Hosts, cfg.Pages)
				cfg.Latency, cfg.Jitter, cfg.MedianSize = shape.Latency, shape.Jitter, shape.MedianSize
				cfg.Flaky, cfg.Resets, cfg.Addresses = shape.Flaky, shape.Resets, shape.Addresses
			}
			return a.serveTestweb(cmd.Context(), cfg, addr)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&addr, "addr", "127.0.0.1:8080", "listen on `IP:PORT`; port 0 is any")
	flags.Uint64Var(&cfg.Seed, "seed", 1, "number `N` that tells one web from another")
	flags.IntVar(&cfg.Hosts, "hosts", 10, "serve `N` hosts")
	flags.IntVar(&cfg.Pages, "pages", 100, "serve `N` pages a host")
	flags.IntVar(&cfg.MedianSize, "size", 35_000, "median `BYTES` of a page")
	flags.BoolVar(&cfg.Addresses, "addresses", false, "name the hosts 127.0.1.1 and so on instead of h000.test (Linux)")
	flags.BoolVar(&mix, "mix", true, "with disallowed pages, redirects, missing pages and files, as in the demo")
	flags.DurationVar(&cfg.Latency, "latency", 0, "wait `D` before each answer")
	flags.DurationVar(&cfg.Jitter, "jitter", 0, "and a random time with the median `D`")
	flags.Float64Var(&cfg.Flaky, "flaky", 0, "have the share `F` of pages answer 500 at first, 0 to 1")
	flags.Float64Var(&cfg.Resets, "resets", 0, "reset the connection once for the share `F` of pages, 0 to 1")
	return cmd
}

func (a *app) serveTestweb(ctx context.Context, cfg testweb.Config, addr string) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	web, err := testweb.New(cfg)
	if err != nil {
		return &usageError{err}
	}
	server, err := web.Start(ctx, addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w; choose another --addr", err)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "serving %d hosts of %d pages on %s, DNS on %s\n", cfg.Hosts, cfg.Pages, server.Addr, server.DNSAddr)
	fmt.Fprintln(a.out, "seeds:")
	for _, seed := range server.Seeds() {
		fmt.Fprintln(a.out, "  "+seed)
	}
	flags := "--scope any --allow-net 127.0.0.0/8"
	if server.DNSAddr != "" {
		flags += " --resolver " + server.DNSAddr
	}
	fmt.Fprintf(a.out, "crawl it:\n  echo %s | crawler run --seeds - %s --delay 0s\n", server.Seeds()[0], flags)
	fmt.Fprintf(a.out, "judge it:\n  curl -H 'Host: %s' http://%s/report\n", testweb.JudgeHost, server.Addr)
	started := time.Now()
	<-ctx.Done()
	err = server.Close()
	fmt.Fprintf(a.out, "served %d requests in %v\n", web.Totals().Requests, time.Since(started).Round(time.Second))
	return err
}
