package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"crawler/crawl"
)

func (a *app) urlsCommand() *cobra.Command {
	var data, state string
	var asJSON, falsePositives bool
	states := strings.Join(crawl.ListStates(), ", ")
	cmd := &cobra.Command{
		Use:   "urls --state STATE",
		Short: "List URLs by state",
		Long: `List the URLs in a state: ` + states + `.
A line has the URL and, after tabs, the reason and its detail where there is
one. It works while the crawl runs and after.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if falsePositives == (state != "") {
				return &usageError{errors.New("urls: name one --state of " + states + ", or --false-positives")}
			}
			if !falsePositives && !slices.Contains(crawl.ListStates(), state) {
				return &usageError{fmt.Errorf("urls: --state %q is none of %s", state, states)}
			}
			from, err := a.openSource(cmd.Context(), data)
			if err != nil {
				return err
			}
			defer from.Close()
			if falsePositives {
				return a.listFalsePositives(from, asJSON)
			}
			return a.listURLs(from, state, asJSON)
		},
	}
	cmd.Flags().StringVar(&data, "data", defaultData, "the crawl's `DIR`")
	cmd.Flags().StringVar(&state, "state", "", "list the URLs in `STATE`: "+states)
	cmd.Flags().BoolVar(&falsePositives, "false-positives", false, "list the last URLs that the filter alone would have lost")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON lines, for scripts")
	return cmd
}

func (a *app) listURLs(from source, state string, asJSON bool) (err error) {
	out := bufio.NewWriter(a.out)
	defer func() { err = cmp.Or(err, out.Flush()) }()
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for e, err := range from.URLs(state) {
		if err != nil {
			return err
		}
		switch {
		case asJSON:
			err = enc.Encode(e)
		case e.Reason != "":
			_, err = fmt.Fprintf(out, "%s\t%s\t%s\n", e.URL, e.Reason, oneLine(e.Detail))
		default:
			_, err = fmt.Fprintln(out, e.URL)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func (a *app) listFalsePositives(from source, asJSON bool) error {
	list, err := from.FalsePositives()
	if err != nil {
		return err
	}
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	for _, p := range list {
		if asJSON {
			err = enc.Encode(falsePositive{string(p.Key), p.Time.UTC()})
		} else {
			_, err = fmt.Fprintln(a.out, p.Key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// falsePositive is a URL that the filter alone would have lost, and when.
type falsePositive struct {
	URL  string    `json:"url"`
	Time time.Time `json:"time"`
}
