package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"crawler/crawl"
	"crawler/normalize"
)

func (a *app) scopeCommand() *cobra.Command {
	var s settings
	var seedsFile string
	cmd := &cobra.Command{
		Use:   "scope --seeds FILE URL...",
		Short: "Which URLs a crawl would take",
		Long: `Print for each URL whether a crawl from the seeds would take it, and why not.
Nothing is fetched.`,
		Args: someArgs("a URL"),
		RunE: func(_ *cobra.Command, texts []string) error {
			if seedsFile == "" {
				return &usageError{errors.New("scope: name a file of seeds with --seeds")}
			}
			seeds, seedsErr := a.readSeeds(seedsFile)
			cfg, err := s.load()
			if err := errors.Join(seedsErr, err); err != nil {
				return err
			}
			for _, text := range texts {
				seed, err := crawl.ParseSeed(text)
				if err != nil {
					reason := crawl.RefusedInvalid
					if errors.Is(err, normalize.ErrScheme) {
						reason = crawl.RefusedScheme
					}
					fmt.Fprintf(a.out, "%-9s %s\n          %v\n", reason, text, err)
					continue
				}
				if reason, detail := crawl.Judge(cfg.Crawl.Scope, seeds, seed.URL); reason != "" {
					fmt.Fprintf(a.out, "%-9s %s\n          %s\n", reason, seed.URL, detail)
				} else {
					fmt.Fprintf(a.out, "%-9s %s\n", "in scope", seed.URL)
				}
			}
			return nil
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&seedsFile, "seeds", "", "start from the URLs in `FILE`, one a line; - is standard input")
	s.registerOnly(cmd.Flags(), "config", "scope", "include", "exclude")
	return cmd
}
