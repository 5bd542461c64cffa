// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// NewCommand returns the command `image` with its subcommands. load reads state.json, the record of the local cluster.
// Only subcommands that need a cluster call load.
func NewCommand(load func() (*state.State, error)) *cobra.Command {
	command := &cobra.Command{
		Use:   "image",
		Short: "Build images without a daemon or a registry, and load them into the nodes",
		Args:  cobra.NoArgs,
	}
	command.AddCommand(newBuild(), newBuildDebian(), newLoad(load), newList(load), newMake(), newCatalog())
	return command
}

func newBuild() *cobra.Command {
	var image BinaryImage
	var output string
	command := &cobra.Command{
		Use:   "build",
		Short: "Build an image of static binaries and save it as a tar",
		Example: "  localcluster image build --tag example.com/opcrew:dev --binary bin/opcrew=/opcrew \\\n" +
			"    --entrypoint /opcrew --user 65532:65532 --output opcrew.tar",
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := image.Write(output); err != nil {
				return err
			}
			return printSaved(command.OutOrStdout(), output)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&image.Tags, "tag", nil, "name and version of the image (may be repeated)")
	flags.StringArrayVar(&image.Binaries, "binary", nil, "PATH or PATH=DEST of a static binary (may be repeated)")
	flags.StringArrayVar(&image.Config.Entrypoint, "entrypoint", nil, "program and arguments, one per flag (default: the first binary)")
	flags.StringArrayVar(&image.Config.Env, "env", nil, "NAME=VALUE (may be repeated)")
	flags.StringVar(&image.Config.User, "user", "65532:65532", "numeric user and group that run the program")
	flags.BoolVar(&image.Certificates, "ca-certificates", false, "add this machine's trusted certificates")
	flags.StringVarP(&output, "output", "o", "", "path of the tar file to write")
	for _, name := range []string{"tag", "binary", "output"} {
		_ = command.MarkFlagRequired(name)
	}
	return command
}

func newBuildDebian() *cobra.Command {
	return &cobra.Command{
		Use:       "build-debian NAME",
		Short:     "Build an image from Debian packages: " + strings.Join(recipeNames(), ", "),
		Long:      "Build an image from Debian packages and print the path of its tar.\n\n" + describeRecipes(),
		Args:      cobra.ExactArgs(1),
		ValidArgs: recipeNames(),
		RunE: func(command *cobra.Command, args []string) error {
			file, err := buildDebian(command.Context(), args[0])
			if err != nil {
				return err
			}
			return printSaved(command.OutOrStdout(), file)
		},
	}
}

func buildDebian(ctx context.Context, name string) (string, error) {
	recipe, err := FindRecipe(name)
	if err != nil {
		return "", err
	}
	cache, err := UserCache()
	if err != nil {
		return "", err
	}
	return cache.Recipe(ctx, recipe)
}

func describeRecipes() string {
	var text strings.Builder
	for _, recipe := range Recipes() {
		fmt.Fprintf(&text, "  %-12s %s\n", recipe.Name, recipe.Summary)
	}
	return text.String()
}

// printSaved prints the tags of a saved image and then the file name, so that a script can use the last word as the
// file.
func printSaved(w io.Writer, file string) error {
	manifest, err := manifestOf(file)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s in %s\n", strings.Join(manifest.RepoTags, ", "), file)
	return err
}

func newLoad(load func() (*state.State, error)) *cobra.Command {
	return &cobra.Command{
		Use:   "load FILE...",
		Short: "Load image tars into every running node",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, files []string) error {
			cluster, err := load()
			if err != nil {
				return err
			}
			return LoadRunning(command.Context(), command.OutOrStdout(), cluster.Nodes, files)
		},
	}
}

// LoadRunning loads image tars into every running node, and prints the names of these nodes.
func LoadRunning(ctx context.Context, w io.Writer, nodes []state.Node, files []string) error {
	up, down := running(nodes)
	if err := Load(ctx, up, files...); err != nil {
		return err
	}
	var loaded []string
	for _, node := range up {
		loaded = append(loaded, node.Name)
	}
	fmt.Fprintf(w, "loaded into %s\n", strings.Join(loaded, ", "))
	if len(down) > 0 {
		fmt.Fprintf(w, "not loaded into %s, which is down; load the image again once it runs\n", strings.Join(down, ", "))
	}
	return nil
}

func newList(load func() (*state.State, error)) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the images on the running nodes",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			cluster, err := load()
			if err != nil {
				return err
			}
			up, _ := running(cluster.Nodes)
			held, err := List(command.Context(), up)
			if err != nil {
				return err
			}
			return printHeld(command.OutOrStdout(), held)
		},
	}
}

func printHeld(w io.Writer, held map[string][]string) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "IMAGE\tNODES")
	for _, tag := range slices.Sorted(maps.Keys(held)) {
		fmt.Fprintf(table, "%s\t%s\n", tag, strings.Join(held[tag], ","))
	}
	return table.Flush()
}

// running returns the nodes that run, and so can load an image, and the names of the nodes that do not run.
func running(nodes []state.Node) (up []state.Node, down []string) {
	for _, node := range nodes {
		if node.Init.Alive() {
			up = append(up, node)
		} else {
			down = append(down, node.Name)
		}
	}
	return up, down
}
