// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// MakeCommand is the command `image make`, which the registry also calls.
const MakeCommand = "make"

func newMake() *cobra.Command {
	return &cobra.Command{
		Use:     MakeCommand + " NAME",
		Short:   "Build an image of the catalogue, by name or tag, and print the path of its tar",
		Example: "  localcluster image make quay.io/coreos/etcd:v" + etcdModule("3.6").version(),
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			source, err := FindSource(args[0])
			if err != nil {
				return err
			}
			cache, err := UserCache()
			if err != nil {
				return err
			}
			file, err := cache.Source(command.Context(), source)
			if err != nil {
				return err
			}
			return printSaved(command.OutOrStdout(), file)
		},
	}
}

func newCatalog() *cobra.Command {
	return &cobra.Command{
		Use:   "catalog",
		Short: "List the images that the cluster's registry builds when a pod needs them",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			table := tabwriter.NewWriter(command.OutOrStdout(), 0, 0, 3, ' ', 0)
			fmt.Fprintln(table, "NAME\tTAGS\tBUILT FROM")
			for _, source := range Sources() {
				fmt.Fprintf(table, "%s\t%s\t%s\n", source.Name, strings.Join(source.shown(), " "), source.Tool)
			}
			return table.Flush()
		},
	}
}

// shown returns the tags of an image before it is built. Placeholders stand for parts of the version that are not known
// yet.
func (s Source) shown() []string {
	if s.Series == "" {
		return s.Tags
	}
	minor := s.Series
	if !strings.Contains(minor, ".") {
		minor += ".*"
	}
	known := strings.NewReplacer("{minor}", minor, "{version}", s.Series+"*")
	var shown []string
	for _, tag := range s.Tags {
		shown = append(shown, known.Replace(tag))
	}
	return shown
}
