package main

import (
	"slices"

	"github.com/spf13/pflag"
)

// hideUnless returns a visitor that hides every flag but the named ones from help.
func hideUnless(names []string) func(*pflag.Flag) {
	return func(f *pflag.Flag) { f.Hidden = !slices.Contains(names, f.Name) }
}
