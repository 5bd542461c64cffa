// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Command opcrew-machine is the machine agent: it runs on a host as a systemd unit, and keeps the host as the
// MachineConfigs of its pool declare. Its subcommands firewall and host-firewall run in pods, and keep the firewall of a
// node. It is a separate binary because it needs a Kubernetes client, which opcrew-agent does without. The packages
// machine/daemon, firewall and hostfirewall in internal/agents do the work; this package parses the command line.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	firewall "github.com/opcrew/opcrew/internal/agents/firewall/service"
	hostfirewall "github.com/opcrew/opcrew/internal/agents/hostfirewall/service"
	"github.com/opcrew/opcrew/internal/agents/machine/daemon/service"
	"github.com/opcrew/opcrew/internal/agents/machine/daemon/setup"
	"github.com/opcrew/opcrew/internal/agents/shared/flags"
)

// version is the version of opcrew. The build sets it.
var version = "dev"

// Exit codes. Another attempt may help after a failure, but not after a usage error.
const (
	exitOK = iota
	exitFailed
	exitUsage
)

// command is a subcommand. prepare parses its arguments, and returns the function that does the work.
type command struct {
	name, summary string
	prepare       func(args []string, out io.Writer, log *slog.Logger) (job, error)
}

type job func(context.Context) error

func commands() []command {
	return []command{
		{"firewall", "keeps the firewall of the node on which its pod runs as the NodePools declare", keepFirewall},
		{"host-firewall", "opens in firewalld and ufw what the firewall of the node allows, from a privileged pod", openHostFirewall},
		{"install", "installs this program on the host of its privileged pod, and starts it", install},
		{"restore", "restores the host on which it runs to what it was before opcrew changed it", restore},
		{"run", "keeps the host on which it runs as the order of its Node declares", run},
		{"uninstall", "removes this program from the host of its privileged pod", uninstall},
		{"version", "prints the version", printVersion},
	}
}

func main() {
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	slog.SetDefault(log)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal, stop restores the default handling, so a second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(execute(ctx, os.Args[1:], os.Stdout, os.Stderr, log))
}

func execute(ctx context.Context, args []string, stdout, stderr io.Writer, log *slog.Logger) int {
	chosen, found := choose(args)
	if !found {
		usage(stderr)
		return exitUsage
	}
	work, err := chosen.prepare(args[1:], stdout, log)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "opcrew-machine %s: %v\n", chosen.name, err)
		return exitUsage
	}
	if err := work(ctx); err != nil {
		log.Error("Stopped", "command", chosen.name, "error", err.Error())
		return exitFailed
	}
	return exitOK
}

func choose(args []string) (command, bool) {
	for _, c := range commands() {
		if len(args) > 0 && args[0] == c.name {
			return c, true
		}
	}
	return command{}, false
}

func usage(out io.Writer) {
	fmt.Fprintln(out, "usage: opcrew-machine COMMAND [FLAGS]")
	for _, c := range commands() {
		fmt.Fprintf(out, "  %-13s %s\n", c.name, c.summary)
	}
}

func keepFirewall(args []string, out io.Writer, log *slog.Logger) (job, error) {
	o, err := firewall.Parse(args, out)
	return func(ctx context.Context) error {
		log.Info("Starting", "version", version)
		return firewall.Run(ctx, o, log)
	}, err
}

func openHostFirewall(args []string, out io.Writer, log *slog.Logger) (job, error) {
	o, err := hostfirewall.Parse(args, out)
	return func(ctx context.Context) error {
		log.Info("Starting", "version", version)
		return hostfirewall.Run(ctx, o, log)
	}, err
}

func install(args []string, out io.Writer, log *slog.Logger) (job, error) {
	o, err := setup.ParseInstall(args, out)
	return func(ctx context.Context) error { return setup.Install(ctx, o, log) }, err
}

func uninstall(args []string, out io.Writer, log *slog.Logger) (job, error) {
	o, err := setup.ParseUninstall(args, out)
	return func(ctx context.Context) error { return setup.Uninstall(ctx, o, log) }, err
}

func restore(args []string, out io.Writer, log *slog.Logger) (job, error) {
	err := flags.Parse("restore", args, out, func(*flag.FlagSet) {})
	return func(ctx context.Context) error { return service.Restore(ctx, log) }, err
}

func run(args []string, out io.Writer, log *slog.Logger) (job, error) {
	err := flags.Parse("run", args, out, func(*flag.FlagSet) {})
	return func(ctx context.Context) error {
		log.Info("Starting", "version", version)
		return service.Run(ctx, log)
	}, err
}

func printVersion(_ []string, out io.Writer, _ *slog.Logger) (job, error) {
	return func(context.Context) error {
		fmt.Fprintln(out, version)
		return nil
	}, nil
}
