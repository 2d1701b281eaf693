package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"crawler/crawl"
	"crawler/normalize"
)

func (a *app) normalizeCommand() *cobra.Command {
	var base string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "normalize URL...",
		Short: "What the crawler makes of a URL",
		Long: `Print the form in which a URL is fetched (WHATWG URL, without fragment and user
name) and the key by which it is known (that, with percent-escapes in upper case
and unreserved characters decoded).`,
		Args: someArgs("a URL"),
		RunE: func(_ *cobra.Command, texts []string) error {
			return a.normalize(texts, base, asJSON)
		},
	}
	cmd.Flags().StringVar(&base, "base", "", "`URL` of the page that the references stand on")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, for scripts")
	return cmd
}

// normalized is what the crawler makes of a URL.
type normalized struct {
	Input  string `json:"input"`
	URL    string `json:"url,omitempty"`
	Key    string `json:"key,omitempty"`
	Host   string `json:"host,omitempty"`
	Site   string `json:"site,omitempty"`
	Note   string `json:"note,omitempty"`
	Reason string `json:"error,omitempty"`
}

// errNotURLs means that some arguments are no URLs; each has been named.
var errNotURLs = errors.New("normalize: not all arguments are http or https URLs")

func (a *app) normalize(texts []string, base string, asJSON bool) error {
	parse := func(text string) (normalize.URL, error) {
		seed, err := crawl.ParseSeed(text)
		return seed.URL, err
	}
	if base != "" {
		from, err := crawl.ParseSeed(base)
		if err != nil {
			return &usageError{fmt.Errorf("--base: %w", err)}
		}
		parse = from.URL.Resolve
	}
	bad := false
	for i, text := range texts {
		n := normalized{Input: text}
		u, err := parse(text)
		if err != nil {
			bad = true
			n.Reason = err.Error()
		} else {
			n.URL, n.Key, n.Host, n.Site = u.String(), string(u.Key()), u.Host(), u.Site()
			if u.DroppedUserinfo() {
				n.Note = "user name and password are dropped"
			}
		}
		if asJSON {
			if err := writeJSON(a.out, n); err != nil {
				return err
			}
			continue
		}
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		for _, line := range [][2]string{
			{"input", n.Input}, {"url", n.URL}, {"key", n.Key}, {"host", n.Host}, {"site", n.Site}, {"note", n.Note}, {"error", n.Reason},
		} {
			if line[1] != "" {
				fmt.Fprintf(a.out, "%-6s %s\n", line[0], line[1])
			}
		}
	}
	if bad {
		return &usageError{errNotURLs}
	}
	return nil
}
