// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Command opcrew-agent runs in the pods that opcrew creates for users. It has one subcommand for each program. It is a
// separate binary without a Kubernetes client and cloud SDKs, so that it stays small and rarely changes.
// internal/agents has a package for each subcommand.
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

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/agents/authproxy"
	"github.com/opcrew/opcrew/internal/agents/etcdgate"
	"github.com/opcrew/opcrew/internal/agents/hostrun"
	"github.com/opcrew/opcrew/internal/agents/install"
	"github.com/opcrew/opcrew/internal/agents/redisagent"
	"github.com/opcrew/opcrew/internal/agents/redishandover"
	"github.com/opcrew/opcrew/internal/agents/redisping"
	"github.com/opcrew/opcrew/internal/agents/redisserver"
	"github.com/opcrew/opcrew/internal/agents/shared/exit"
	"github.com/opcrew/opcrew/internal/agents/sshfiles"
	"github.com/opcrew/opcrew/internal/agents/sshrun"
)

// version is the version of opcrew. The build sets it.
var version = "dev"

// Exit codes of all subcommands; package exit defines further codes. A restart of the container may help after a
// failure, but not after a usage error.
const (
	exitOK = iota
	exitFailed
	exitUsage
)

// command is a subcommand. prepare parses the arguments of the subcommand, so every error that it returns is a usage
// error. It returns the function that does the work, which runs until its context ends.
type command struct {
	name, summary string
	prepare       func(args []string, out io.Writer, log *slog.Logger) (job, error)
}

type job func(context.Context) error

func commands() []command {
	return []command{
		{"auth-proxy", "requires user and password before it forwards requests to the application", authProxy},
		{"install", "copies this program into a volume, for a container with another image", installSelf},
		{"redis-agent", "reports the state of the Redis servers of a pod through probes, metrics and a status page", redisAgent},
		{"redis-handover", "moves the slots of a Redis server to its replica before the server stops", redisHandover},
		{"redis-ping", "reports whether a Redis server is alive", redisPing},
		{"redis-server", "starts Redis or Valkey if its data is safe to use", redisServer},
		{"run-etcd", "starts etcd if the data on its volume is safe to use", runEtcd},
		{"run-on-host", "runs a command on the host of its pod, at most once", runOnHost},
		{"run-over-ssh", "runs a command on a host outside the cluster, at most once", runOverSSH},
		{"ssh-files", "copies the files of ssh and sshd from a mounted Secret, and keeps them up to date", sshFiles},
		{"version", "prints the version", printVersion},
	}
}

func main() {
	// With this call, libraries that log through package log write JSON, too.
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	slog.SetDefault(log)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal, stop restores the default handling, so a second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, log))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer, log *slog.Logger) int {
	chosen, ok := choose(args)
	if !ok {
		usage(stderr)
		return exitUsage
	}
	work, err := chosen.prepare(args[1:], stdout, log)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "opcrew-agent %s: %v\n", chosen.name, err)
		return exitUsage
	}
	if err := work(ctx); err != nil {
		log.Error("Stopped", "command", chosen.name, "error", err.Error())
		return exit.Code(err, exitFailed)
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
	fmt.Fprintln(out, "usage: opcrew-agent COMMAND [FLAGS]")
	for _, c := range commands() {
		fmt.Fprintf(out, "  %-14s %s\n", c.name, c.summary)
	}
	fmt.Fprintln(out, "opcrew-agent COMMAND --help lists the flags.")
}

func authProxy(args []string, out io.Writer, log *slog.Logger) (job, error) {
	options, err := authproxy.ParseFlags(args, out)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		proxy, err := authproxy.New(options, clock.RealClock{}, log)
		if err != nil {
			return err
		}
		log.Info("Starting", "version", version, "routes", len(options.Routes))
		return proxy.Run(ctx)
	}, nil
}

func installSelf(args []string, out io.Writer, _ *slog.Logger) (job, error) {
	options, err := install.ParseFlags(args, out)
	if err != nil {
		return nil, err
	}
	return func(context.Context) error { return install.Run(options) }, nil
}

func redisAgent(args []string, out io.Writer, log *slog.Logger) (job, error) {
	options, err := redisagent.ParseFlags(args, out)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		log.Info("Starting", "version", version, "cluster", options.Cluster)
		return redisagent.Run(ctx, options, clock.RealClock{}, log)
	}, nil
}

func redisHandover(args []string, out io.Writer, log *slog.Logger) (job, error) {
	options, err := redishandover.ParseFlags(args, out)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return redishandover.Run(ctx, options, log) }, nil
}

func redisPing(args []string, out io.Writer, _ *slog.Logger) (job, error) {
	options, err := redisping.ParseFlags(args, out)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return redisping.Run(ctx, options) }, nil
}

func redisServer(args []string, out io.Writer, log *slog.Logger) (job, error) {
	options, err := redisserver.ParseFlags(args, out)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return redisserver.Run(ctx, options, log) }, nil
}

func runEtcd(args []string, out io.Writer, log *slog.Logger) (job, error) {
	options, err := etcdgate.ParseFlags(args, out)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return etcdgate.Run(ctx, options, log) }, nil
}

// runOnHost does not log anything, because the container's log must only contain the output of the command.
func runOnHost(args []string, out io.Writer, _ *slog.Logger) (job, error) {
	options, err := hostrun.ParseFlags(args, out)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return hostrun.Run(ctx, options) }, nil
}

// runOverSSH logs nothing, for the same reason.
func runOverSSH(args []string, out io.Writer, _ *slog.Logger) (job, error) {
	options, err := sshrun.ParseFlags(args, out)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return sshrun.Run(ctx, options) }, nil
}

func sshFiles(args []string, out io.Writer, log *slog.Logger) (job, error) {
	options, err := sshfiles.ParseFlags(args, out)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		if options.Check {
			return sshfiles.Check(options)
		}
		log.Info("Starting", "version", version, "from", options.From)
		return sshfiles.New(options, clock.RealClock{}, log).Run(ctx)
	}, nil
}

func printVersion(_ []string, out io.Writer, _ *slog.Logger) (job, error) {
	return func(context.Context) error {
		fmt.Fprintln(out, version)
		return nil
	}, nil
}
