package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// app is one invocation of the command.
type app struct {
	in       io.Reader
	out, err io.Writer
}

// run executes a command line and returns its exit code.
func (a *app) run(ctx context.Context, args []string) int {
	root := a.command()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if message := explainExit(err); message != "" {
		fmt.Fprintln(a.err, message)
	}
	return exitCode(err)
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "crawler",
		Short: "A web crawler that loses no page",
		Long: `crawler crawls web sites politely and completely. Every URL is checked against an in-memory
filter and, where that is no proof, against an exact store, so that no page is lost to a
false positive and none is fetched twice.

  crawler demo                      crawl a synthetic web on this machine, offline
  crawler run --seeds seeds.txt     start a crawl, or go on with it
  crawler stats                     what it did; works while it runs
  crawler explain URL               why a URL was or was not crawled

Exit codes: 0 done or stopped cleanly, 1 failed, 2 usage or configuration, 3 data directory
in use or damaged, 4 a limit (pages, time, disk) ended the crawl, 5 verify found a fault.`,
		Version:       versionText(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	root.AddCommand(
		a.runCommand(), a.statsCommand(), a.explainCommand(), a.urlsCommand(),
		a.normalizeCommand(), a.robotsCommand(), a.scopeCommand(), a.configCommand(),
		a.testwebCommand(), a.demoCommand(), a.versionCommand(),
	)
	return root
}

// args returns an argument check that fails as a usage error.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, list []string) error {
		if err := check(cmd, list); err != nil {
			return &usageError{fmt.Errorf("%s: %w; see %s --help", cmd.CommandPath(), err, cmd.CommandPath())}
		}
		return nil
	}
}
