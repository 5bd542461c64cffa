// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisserver

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/opcrew/opcrew/internal/agents/shared/durable"
	"github.com/opcrew/opcrew/internal/agents/shared/redissecrets"
)

// Run replaces this process with the server. It returns only if this fails, or if ctx ends before the server starts.
func Run(ctx context.Context, o Options, log *slog.Logger) error {
	program, err := findProgram()
	if err != nil {
		return err
	}
	v, err := askVersion(ctx, program)
	if err != nil {
		return err
	}
	found, err := look(o.Folder())
	if err != nil {
		return err
	}
	in, err := gather(o, v, found)
	if err != nil {
		return err
	}
	if in.extra, err = try(ctx, program, in.extra, log); err != nil {
		return err
	}
	if err := prepareFolder(o.Folder(), found, log); err != nil {
		return err
	}
	if err := durable.Replace(o.Config, strings.NewReader(in.config()), 0o600); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	select {
	case <-ctx.Done(): // the pod is stopped before the server has started
		return nil
	default:
	}
	syscall.Umask(0o077) // the server also writes its configuration, which contains a password
	log.Info("Starting the server", "place", o.Place, "port", o.Port, "version", v.String())
	err = syscall.Exec(program, []string{program, o.Config}, os.Environ())
	return fmt.Errorf("execute %s: %w", program, err)
}

// gather reads the inputs of the configuration.
func gather(o Options, v version, found facts) (inputs, error) {
	in := inputs{Options: o, version: v}
	secrets, err := redissecrets.Read(o.Secrets)
	if err != nil {
		return in, err
	}
	before, err := readBefore(o.Config)
	if err != nil {
		return in, err
	}
	in.blocked = mustBlock(before, o.AnnounceIP, found)
	if in.users, err = newUsers(secrets); err != nil || o.Extra == "" {
		return in, err
	}
	text, err := os.ReadFile(o.Extra)
	if err != nil {
		return in, fmt.Errorf("read the directives of the user: %w", err)
	}
	if in.extra, err = in.parseExtra(string(text)); err != nil {
		return in, fmt.Errorf("%s: %w", o.Extra, err)
	}
	return in, nil
}

// prepareFolder creates the folder of the server. If the server must not start with an existing folder, that folder is
// renamed first.
func prepareFolder(folder string, found facts, log *slog.Logger) error {
	if why := decide(found); why != "" {
		aside, err := putAside(folder)
		if err != nil {
			return err
		}
		log.Warn("The server starts as a new node, because its old folder is not safe to use", "reason", why, "aside", aside)
	} else if found.own != nil && found.own.Primary != "" {
		if err := forgetAddress(folder, found.own.Primary); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("create the folder: %w", err)
	}
	return durable.SyncDir(filepath.Dir(folder))
}
