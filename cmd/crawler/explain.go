package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"crawler/crawl"
)

func (a *app) explainCommand() *cobra.Command {
	var data string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain URL",
		Short: "Every decision about one URL, with its reason",
		Long: `Print what each part of the crawler says of a URL and what has become of it,
and the way that led to it from a seed. It works while the crawl runs and after.`,
		Args: oneArg("a URL"),
		RunE: func(cmd *cobra.Command, urls []string) error {
			from, err := a.openSource(cmd.Context(), data)
			if err != nil {
				return err
			}
			defer from.Close()
			e, err := from.Explain(urls[0])
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(a.out, e)
			}
			printExplanation(a.out, e)
			return nil
		},
	}
	cmd.Flags().StringVar(&data, "data", defaultData, "the crawl's `DIR`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, for scripts")
	return cmd
}

func printExplanation(w io.Writer, e *crawl.Explanation) {
	title := e.URL
	if title == "" {
		title = e.Input
	}
	fmt.Fprintln(w, title)
	for _, d := range e.Decisions {
		fmt.Fprintf(w, "  %-10s %-12s %s\n", d.By, d.Verdict, d.Reason)
	}
	if len(e.Path) > 1 {
		fmt.Fprintln(w, "\nThe way from a seed, as it was first met:")
		for _, step := range slices.Backward(e.Path) {
			fmt.Fprintf(w, "  %3d  %s\n", step.Depth, step.URL)
		}
	}
}
