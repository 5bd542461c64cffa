// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/opcrew/opcrew/hack/localcluster/image"
	"github.com/opcrew/opcrew/hack/localcluster/network"
)

// CommandName is the name of the hidden subcommand that serves the registry.
const CommandName = "registry"

// NewCommand returns the subcommand that serves the image catalogue as a registry, in the network of the control plane.
func NewCommand() *cobra.Command {
	var listen, outside string
	command := &cobra.Command{
		Use: CommandName, Hidden: true, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return serve(listen, outside) },
	}
	command.Flags().StringVar(&listen, "listen", "", "address on which the registry listens")
	command.Flags().StringVar(&outside, "outside", "", "file of the network namespace in which images are built")
	return command
}

func serve(listen, outside string) error {
	cache, err := image.UserCache()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	build := func(ctx context.Context, source image.Source) error {
		return buildOutside(ctx, self, outside, source.Name)
	}
	web := &http.Server{
		Addr:              listen,
		Handler:           &server{newStore(image.Sources(), cache.Built, build)},
		ReadHeaderTimeout: 10 * time.Second,
	}
	return web.ListenAndServe()
}

// buildOutside runs localcluster to build an image in this host's network, because the control plane has no external
// network. The build runs with low priority.
func buildOutside(ctx context.Context, self, outside, name string) error {
	cmd := exec.CommandContext(ctx, "nice", "-n", "10", self, "image", image.MakeCommand, name)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := network.Inside(outside, cmd.Run); err != nil {
		return fmt.Errorf("%w: %s", err, lastLines(out.String(), 5))
	}
	return nil
}

// lastLines returns the last lines of a build's output, which say why the build failed. Earlier lines would hide the
// reason, since apt prints a line for each of about a hundred packages.
func lastLines(text string, count int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-count):], "\n")
}
