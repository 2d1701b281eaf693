package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"crawler/configs"
)

func (a *app) configCommand() *cobra.Command {
	return group(&cobra.Command{Use: "config", Short: "Print the default configuration, check a file, print the schema"},
		&cobra.Command{
			Use: "default", Short: "Print the defaults as a commented YAML file", Args: noArgs,
			RunE: func(*cobra.Command, []string) error {
				_, err := a.out.Write(configs.DefaultYAML())
				return err
			},
		},
		&cobra.Command{
			Use: "check FILE...", Short: "Report every fault of a file, with its line", Args: someArgs("a file"),
			RunE: func(_ *cobra.Command, files []string) error { return a.checkConfigs(files) },
		},
		&cobra.Command{
			Use: "schema", Short: "Print the JSON schema, for editors", Args: noArgs,
			RunE: func(*cobra.Command, []string) error {
				_, err := a.out.Write(configs.Schema())
				return err
			},
		},
	)
}

func (a *app) checkConfigs(files []string) error {
	bad := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err == nil {
			_, err = configs.Parse(name, text)
		} else {
			err = readable(err)
		}
		if err != nil {
			bad++
			fmt.Fprintln(a.out, err)
			continue
		}
		fmt.Fprintf(a.out, "%s: good\n", name)
	}
	if bad > 0 {
		return &usageError{fmt.Errorf("config check: %d of %d files faulty", bad, len(files))}
	}
	return nil
}
