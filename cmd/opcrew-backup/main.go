// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Command opcrew-backup carries out one order, a JSON task from the operator, in a pod: it saves, prunes, verifies or
// restores an etcd snapshot. It is a separate binary because only this program needs the cloud SDKs and etcd's server
// code. internal/agents/backup does the work; this package parses the flags and writes the result.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/opcrew/opcrew/internal/agents/backup/agent"
	"github.com/opcrew/opcrew/internal/agents/backup/datadir"
	"github.com/opcrew/opcrew/internal/agents/shared/flags"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// version is the version of opcrew. The build sets it.
var version = "dev"

// Exit codes. A restart of the container may help after a failure, but not if the order (the task from the operator) is
// invalid.
const (
	exitOK = iota
	exitFailed
	exitUsage
)

const (
	orderVariable = "OPCREW_BACKUP_ORDER"
	defaultResult = "/dev/termination-log"
	// endTime is how long the cleanup of unfinished work may take after the signal to stop.
	endTime = 1500 * time.Millisecond
	// streamMemory is the Go memory limit in bytes while a snapshot is saved, unless GOMEMLIMIT sets another limit.
	// With this limit, the process fits into a container with a memory limit of 64 MiB.
	streamMemory = 40 << 20
)

func subcommands() []string { return []string{"save", "prune", "verify", "restore"} }

func main() {
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	slog.SetDefault(log)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal, stop restores the default handling, so a second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, log))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer, log *slog.Logger) int {
	switch name := first(args); {
	case name == "version":
		fmt.Fprintln(stdout, version)
		return exitOK
	case name == datadir.Subcommand:
		if err := datadir.Serve(ctx, os.Stdin, stdout); err != nil {
			fmt.Fprintln(stderr, err)
			return exitFailed
		}
		return exitOK
	case slices.Contains(subcommands(), name):
		return carryOut(ctx, name, args[1:], stdout, stderr, log)
	}
	usage(stderr)
	return exitUsage
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func usage(out io.Writer) {
	fmt.Fprintf(out, "usage: opcrew-backup save|prune|verify|restore [--order JSON] [--result FILE]\n       opcrew-backup version\n")
}

func carryOut(ctx context.Context, name string, args []string, stdout, stderr io.Writer, log *slog.Logger) int {
	var text, path string
	err := flags.Parse(name, args, stdout, func(set *flag.FlagSet) {
		set.StringVar(&text, "order", "", "the order, as `JSON`; default: the variable "+orderVariable)
		set.StringVar(&path, "result", defaultResult, "the `file` for the result, as JSON of at most 4096 bytes")
	})
	switch {
	case err == flag.ErrHelp: //nolint:errorlint // package flag returns ErrHelp unwrapped
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "opcrew-backup %s: %v\n", name, err)
		return exitUsage
	}
	result := execute(ctx, name, cmp.Or(text, os.Getenv(orderVariable)), log)
	return report(result, path, stdout, log)
}

// execute carries out the order, a task from the operator. If the work does not stop in time after a signal, execute
// returns, and the end of the process ends the work.
func execute(ctx context.Context, name, text string, log *slog.Logger) backup.Result {
	order, err := backup.ParseOrder(text)
	if err == nil && order.Subcommand() != name {
		err = fmt.Errorf("the order is for another subcommand than %s", name)
	}
	if err != nil {
		return backup.Result{Outcome: backup.Invalid, Reason: backup.ReasonBadOrder, Message: err.Error()}
	}
	if order.Save != nil || order.Prune != nil {
		bound()
	}
	log.Info("Starting", "version", version, "command", name, "path", order.Target.Path)
	done := make(chan backup.Result, 1)
	go func() { done <- agent.New(log).Run(ctx, order) }()
	select {
	case result := <-done:
		return result
	case <-ctx.Done():
	}
	select {
	case result := <-done:
		return result
	case <-time.After(endTime):
		return backup.Result{Outcome: backup.Stopped, Reason: backup.ReasonStopped, Message: "the pod was stopped before the order was carried out"}
	}
}

// bound sets the memory limit of the Go runtime, unless GOMEMLIMIT sets one.
func bound() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(streamMemory)
	}
}

// report writes the result to the file and to standard output.
func report(r backup.Result, path string, stdout io.Writer, log *slog.Logger) int {
	text := r.Encode()
	_, _ = stdout.Write(text) // an error does not matter, because the operator reads only the file
	if r.Outcome != backup.Succeeded {
		log.Error("The order was not carried out", "outcome", r.Outcome, "reason", r.Reason, "error", r.Message)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil { // written in place, because the file itself is a mount
		log.Error("The result file cannot be written", "file", path, "error", err.Error())
		return exitFailed
	}
	switch r.Outcome {
	case backup.Succeeded:
		return exitOK
	case backup.Invalid:
		return exitUsage
	}
	return exitFailed
}
