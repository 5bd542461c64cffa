// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package opimage

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/opcrew/opcrew/hack/localcluster/image"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// NewCommand returns the command `opcrew` with its subcommands, which the Makefile calls. load reads state.json, the
// record of the local cluster. Only subcommands that load images into the cluster's nodes call load.
func NewCommand(load func() (*state.State, error)) *cobra.Command {
	command := &cobra.Command{
		Use:   "opcrew",
		Short: "Name, build and push the operator's three images, and put their names into manifests",
		Args:  cobra.NoArgs,
	}
	var given Images
	var bin string
	flags := command.PersistentFlags()
	flags.StringVar(&given.Operator, "image", defaultOperator, "name of the operator's image")
	flags.StringVar(&given.Agent, "agent-image", "", "name of the agent's image (default: derived from the operator's)")
	flags.StringVar(&given.Backup, "backup-image", "", "name of the image for backups (default: derived from the operator's)")
	flags.StringVar(&bin, "bin", "bin", "folder with the programs, in which images are saved")
	names := func() (Images, error) { return Named(given.Operator, given.Agent, given.Backup) }
	command.AddCommand(newNames(names), newBuild(names, &bin), newPush(names, &bin, load), newManifests(names, &bin), newPrepare(names, &bin, load))
	return command
}

func newNames(names func() (Images, error)) *cobra.Command {
	return &cobra.Command{
		Use:       "names [operator|agent|backup]",
		Short:     "Print the names of the three images, or one of them",
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"operator", "agent", "backup"},
		RunE: func(command *cobra.Command, args []string) error {
			images, err := names()
			if err != nil {
				return err
			}
			return printNames(command.OutOrStdout(), images, args)
		},
	}
}

func printNames(w io.Writer, images Images, args []string) error {
	if len(args) == 0 {
		_, err := fmt.Fprintf(w, "%s\n%s\n%s\n", images.Operator, images.Agent, images.Backup)
		return err
	}
	_, err := fmt.Fprintln(w, map[string]string{"operator": images.Operator, "agent": images.Agent, "backup": images.Backup}[args[0]])
	return err
}

func newBuild(names func() (Images, error), bin *string) *cobra.Command {
	var check bool
	command := &cobra.Command{
		Use:   "build",
		Short: "Build the three images from the programs in bin, without a daemon",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			images, err := names()
			if err != nil {
				return err
			}
			if check {
				return images.Buildable()
			}
			if err := images.Build(*bin); err != nil {
				return err
			}
			for _, p := range images.list() {
				fmt.Fprintf(command.OutOrStdout(), "built %s in %s\n", p.name, p.tar(*bin))
			}
			return nil
		},
	}
	command.Flags().BoolVar(&check, "check", false, "only check the names of the images, and build nothing")
	return command
}

func newPush(names func() (Images, error), bin *string, load func() (*state.State, error)) *cobra.Command {
	var pusher Pusher
	command := &cobra.Command{
		Use:   "push",
		Short: "Push the three images to the registries in their names, or load them into the local cluster",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			images, err := names()
			if err != nil {
				return err
			}
			pusher.Out = command.OutOrStdout()
			pusher.Load = loader(load, pusher.Out)
			return pusher.Push(command.Context(), images, *bin)
		},
	}
	command.Flags().StringVar(&pusher.Manifests, "manifests", "", "file with manifests that contain the default image names")
	command.Flags().StringVar(&pusher.Install, "install", "", "file to which the manifests are written, with the digests of the pushed images")
	command.MarkFlagsRequiredTogether("manifests", "install")
	command.Flags().StringVar(&pusher.To, "to", ToAuto, "registry, local (the nodes of the local cluster), or auto: local for names such as "+defaultOperator+", registry for others")
	return command
}

// loader returns a function that loads saved images into the running nodes of the local cluster.
func loader(load func() (*state.State, error), out io.Writer) func(context.Context, []string) error {
	return func(ctx context.Context, files []string) error {
		cluster, err := load()
		if err != nil {
			return err
		}
		return image.LoadRunning(ctx, out, cluster.Nodes, files)
	}
}

func newManifests(names func() (Images, error), bin *string) *cobra.Command {
	return &cobra.Command{
		Use:   "manifests",
		Short: "Copy manifests from standard input, and insert the names of the three images with the digests that were pushed",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			images, err := names()
			if err != nil {
				return err
			}
			if images, err = images.Pinned(command.Context(), *bin, command.ErrOrStderr()); err != nil {
				return err
			}
			manifests, err := io.ReadAll(command.InOrStdin())
			if err != nil {
				return fmt.Errorf("read the manifests: %w", err)
			}
			out, err := images.InManifests(string(manifests))
			if err != nil {
				return err
			}
			_, err = io.WriteString(command.OutOrStdout(), out)
			return err
		},
	}
}

func newPrepare(names func() (Images, error), bin *string, load func() (*state.State, error)) *cobra.Command {
	return &cobra.Command{
		Use:   "prepare",
		Short: "Print the image flags for an operator that runs outside the cluster, and load local images into the nodes",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			images, err := names()
			if err != nil {
				return err
			}
			log := command.ErrOrStderr()
			images, err = images.Prepared(command.Context(), *bin, loader(load, log), log)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(command.OutOrStdout(), "--agent-image=%s --backup-image=%s\n", images.Agent, images.Backup)
			return err
		},
	}
}
