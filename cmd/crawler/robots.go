package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"crawler/crawl"
	"crawler/fetcher"
	"crawler/fetcher/robots"
)

func (a *app) robotsCommand() *cobra.Command {
	var s settings
	var file string
	cmd := &cobra.Command{
		Use:   "robots URL",
		Short: "What robots.txt says of a URL",
		Long: `Fetch the robots.txt that governs a URL, or read it from a file, and print the
line that decides, by RFC 9309. Where it cannot be had, nothing may be fetched
yet.`,
		Args: oneArg("a URL"),
		RunE: func(cmd *cobra.Command, urls []string) error {
			seed, err := crawl.ParseSeed(urls[0])
			if err != nil {
				return &usageError{err}
			}
			cfg, err := s.load()
			if err != nil {
				return err
			}
			agent := robots.ProductToken(cfg.Crawl.Fetch.UserAgent)
			if file != "" {
				body, err := os.ReadFile(file)
				if err != nil {
					return &usageError{fmt.Errorf("--file: %w", readable(err))}
				}
				a.printRobots(seed, agent, file, body)
				return nil
			}
			f, err := fetcher.New(cfg.Crawl.Fetch)
			if err != nil {
				return &usageError{err}
			}
			defer f.Close()
			got := f.Robots(cmd.Context(), seed.URL, 0)
			name := seed.URL.Origin() + "/robots.txt"
			switch got.Access {
			case robots.AccessRules:
				a.printRobots(seed, agent, name, got.Body)
			case robots.AccessAll:
				fmt.Fprintf(a.out, "allowed     %s\n%s answered %d, which allows all\n", seed.URL, name, got.Status)
			default:
				reason := fmt.Sprintf("answered %d", got.Status)
				if got.Err != nil {
					reason = got.Err.Error()
				}
				fmt.Fprintf(a.out, "deferred    %s\n%s: %s; nothing is fetched until it can be had\n", seed.URL, name, reason)
			}
			return nil
		},
	}
	cmd.Flags().SortFlags = false
	s.registerOnly(cmd.Flags(), "config", "user-agent", "header", "allow-net", "resolver", "resolve", "proxy")
	cmd.Flags().StringVar(&file, "file", "", "read robots.txt from `FILE` instead of asking the host")
	return cmd
}

func (a *app) printRobots(seed crawl.Seed, agent, name string, body []byte) {
	file := robots.Parse(body)
	rules := file.Group(agent)
	verdict := rules.Check(seed.URL.RequestURI())
	word := "allowed"
	if !verdict.Allowed {
		word = "disallowed"
	}
	fmt.Fprintf(a.out, "%-11s %s\n", word, seed.URL)
	if verdict.Line > 0 {
		fmt.Fprintf(a.out, "%s:%d: %s\n", name, verdict.Line, verdict.Rule)
	} else {
		fmt.Fprintf(a.out, "%s: no rule for %s matches\n", name, agent)
	}
	if delay, ok := rules.CrawlDelay(); ok {
		fmt.Fprintf(a.out, "Crawl-delay: %v\n", delay)
	}
	for _, s := range file.Sitemaps() {
		fmt.Fprintln(a.out, "Sitemap:", s)
	}
}
