package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

// version is set by the linker (see Makefile).
var version = "0.1.0-dev"

func versionText() string {
	return fmt.Sprintf("%s %s %s/%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		Run: func(*cobra.Command, []string) { fmt.Fprintln(a.out, "crawler", versionText()) },
	}
}
