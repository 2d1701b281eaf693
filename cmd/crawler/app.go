package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
	root := group(&cobra.Command{
		Use:   "crawler",
		Short: "A web crawler that loses no page",
		Long: `crawler crawls web sites politely and completely. Every URL is checked against
an in-memory filter and, where that is no proof, against an exact store, so that
no page is lost to a false positive and none is fetched twice.

  crawler demo                     crawl a synthetic web on this machine
  crawler run --seeds seeds.txt    start a crawl, or go on with it
  crawler stats                    what it did; works while it runs
  crawler explain URL              why a URL was or was not crawled

Exit codes: 0 done or stopped cleanly, 1 failed, 2 usage or configuration,
3 data directory in use or damaged, 4 a limit (pages, time, disk) ended the
crawl.`,
		Version:       versionText(),
		SilenceErrors: true,
		SilenceUsage:  true,
	},
		a.runCommand(), a.statsCommand(), a.explainCommand(), a.urlsCommand(),
		a.normalizeCommand(), a.robotsCommand(), a.scopeCommand(), a.configCommand(),
		a.testwebCommand(), a.demoCommand(), a.versionCommand(),
		absentCommand("verify"), absentCommand("export"), absentCommand("forget"), absentCommand("bench"),
	)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(flagFault)
	root.SetVersionTemplate("crawler {{.Version}}\n")
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "Flags.FlagUsages", fmt.Sprintf("Flags.FlagUsagesWrapped %d", helpWidth)))
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			group(cmd)
			for _, shell := range cmd.Commands() {
				shell.Args = noArgs
				// One line is too wide.
				shell.Long = strings.ReplaceAll(shell.Long, " via your OS's ", "\nvia your OS's ")
			}
		}
	}
	return root
}

// helpWidth is the number of columns that help texts may take.
const helpWidth = 80

// absentCommand says of a command that only other versions have that it is missing, whatever follows it.
func absentCommand(name string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: "Not part of this version", Hidden: true, DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return &usageError{fmt.Errorf("%s is not part of this version", name)}
		},
	}
}

// oneArg is the argument check of a command that takes one thing.
func oneArg(thing string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, list []string) error {
		if len(list) > 1 {
			return unexpected(cmd, list[1])
		}
		return someArgs(thing)(cmd, list)
	}
}

// someArgs is the argument check of a command that takes one thing or more.
func someArgs(thing string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, list []string) error {
		if len(list) == 0 {
			return &usageError{fmt.Errorf("%s: name %s; see %s --help", shortPath(cmd), thing, cmd.CommandPath())}
		}
		return nil
	}
}

func unexpected(cmd *cobra.Command, arg string) error {
	return &usageError{fmt.Errorf("%s: unexpected argument %q; see %s --help", shortPath(cmd), arg, cmd.CommandPath())}
}

// shortPath names a command below the root.
func shortPath(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// noArgs is the argument check of a command that takes none.
func noArgs(cmd *cobra.Command, list []string) error {
	if len(list) == 0 {
		return nil
	}
	path := cmd.CommandPath()
	if !cmd.HasSubCommands() {
		return unexpected(cmd, list[0])
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(list[0]); len(near) > 0 {
		return &usageError{fmt.Errorf("unknown command %q; did you mean %s?", path+" "+list[0], path+" "+near[0])}
	}
	return &usageError{fmt.Errorf("unknown command %q; see %s --help", path+" "+list[0], path)}
}

// group makes cmd a command that does nothing without a subcommand.
func group(cmd *cobra.Command, subcommands ...*cobra.Command) *cobra.Command {
	cmd.Args = noArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(subcommands...)
	return cmd
}

// flagFault says what is wrong with a flag, and what to write instead.
func flagFault(cmd *cobra.Command, err error) error {
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		flag := e.GetFlag()
		return &usageError{fmt.Errorf("--%s: %q is not %s", flag.Name, e.GetValue(), flagValues[flag.Value.Type()])}
	}
	return &usageError{fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
}

// flagValues says what the flags of each type take.
var flagValues = map[string]string{
	"bool":     "true or false",
	"duration": "a time; write one such as 250ms, 10s or 2h",
	"float64":  "a number; write one such as 0.25",
	"int":      "a whole number, or too large",
	"uint64":   "a whole number from 0, or too large",
}
