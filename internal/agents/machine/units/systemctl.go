// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package units

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// The states of a unit file, as systemctl is-enabled prints them, that the agent must know.
const (
	Enabled  = "enabled"
	Disabled = "disabled"
	NotFound = "not-found"
	Masked   = "masked"
)

// callTime is how long one call of systemctl may take. A restart may wait for the start of a service.
const callTime = 5 * time.Minute

// Manager is the service manager of a host.
type Manager interface {
	// Enablement returns the state of a unit file in systemctl's words.
	Enablement(ctx context.Context, unit string) (string, error)
	Enable(ctx context.Context, unit string) error
	Disable(ctx context.Context, unit string) error
	// DaemonReload lets systemd read the unit files again.
	DaemonReload(ctx context.Context) error
	Reload(ctx context.Context, unit string) error
	Restart(ctx context.Context, unit string) error
	Stop(ctx context.Context, unit string) error
	// ResetFailed lets systemd forget that a unit failed.
	ResetFailed(ctx context.Context, unit string) error
	// Service returns what systemd knows about a unit now.
	Service(ctx context.Context, unit string) (Service, error)
}

// Systemctl is the Manager of this machine. It calls systemctl.
type Systemctl struct {
	// Root is the directory whose unit files Enable and Disable change; empty for those of this machine.
	Root string
}

// Enablement returns the state of a unit file. systemctl exits with an error for some states, so the word counts.
func (s Systemctl) Enablement(ctx context.Context, unit string) (string, error) {
	out, err := s.run(ctx, "is-enabled", unit)
	word, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	switch {
	case word != "" && !strings.Contains(word, " "):
		return word, nil
	case err == nil || isMissing(err, unit):
		return NotFound, nil
	}
	return "", err
}

// isMissing recognises the message of versions of systemctl that print no word for a missing unit. The message names
// the unit, unlike that of a systemctl that cannot reach systemd.
func isMissing(err error, unit string) bool {
	failed := (*callError)(nil)
	if !errors.As(err, &failed) || !strings.Contains(failed.message, unit) {
		return false
	}
	return slices.ContainsFunc([]string{"No such file", "not found", "does not exist"}, func(text string) bool { return strings.Contains(failed.message, text) })
}

// callError is a call that failed, and what systemctl printed.
type callError struct {
	call, message string
	cause         error
}

func (e *callError) Error() string {
	return fmt.Sprintf("systemctl %s: %v: %s", e.call, e.cause, e.message)
}

func (e *callError) Unwrap() error { return e.cause }

// Enable creates the links that the unit's [Install] section names.
func (s Systemctl) Enable(ctx context.Context, unit string) error { return s.do(ctx, "enable", unit) }

// Disable removes the links to the unit.
func (s Systemctl) Disable(ctx context.Context, unit string) error { return s.do(ctx, "disable", unit) }

// DaemonReload lets systemd read the unit files again.
func (s Systemctl) DaemonReload(ctx context.Context) error { return s.do(ctx, "daemon-reload") }

// Reload lets a service read its configuration again.
func (s Systemctl) Reload(ctx context.Context, unit string) error { return s.do(ctx, "reload", unit) }

// Restart restarts a service, or starts it.
func (s Systemctl) Restart(ctx context.Context, unit string) error { return s.do(ctx, "restart", unit) }

// Stop stops a service.
func (s Systemctl) Stop(ctx context.Context, unit string) error { return s.do(ctx, "stop", unit) }

// ResetFailed lets systemd forget that a unit failed.
func (s Systemctl) ResetFailed(ctx context.Context, unit string) error {
	return s.do(ctx, "reset-failed", unit)
}

// Reboot begins a reboot, and does not wait for it.
func (s Systemctl) Reboot(ctx context.Context) error { return s.do(ctx, "reboot") }

func (s Systemctl) do(ctx context.Context, verb string, units ...string) error {
	_, err := s.run(ctx, verb, units...)
	return err
}

func (s Systemctl) run(ctx context.Context, verb string, units ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	args := append([]string{"--no-pager", "--no-ask-password"}, strings.Fields(verb)...)
	if s.Root != "" {
		args = append(args, "--root="+s.Root)
	}
	cmd := exec.CommandContext(ctx, "systemctl", append(append(args, "--"), units...)...)
	cmd.Env, cmd.WaitDelay = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"}, time.Second
	var message strings.Builder
	cmd.Stderr = &message
	out, err := cmd.Output()
	if err != nil {
		return string(out), &callError{verb + " " + strings.Join(units, " "), strings.TrimSpace(message.String()), err}
	}
	return string(out), nil
}

// Service is what systemd knows about a unit now, in its own words.
type Service struct {
	// Load is the state of the unit file, such as loaded, not-found or masked.
	Load string
	// Active is the state of the unit, such as active, inactive or failed.
	Active string
}

// CanStart reports whether systemd has a unit file from which it can start the unit.
func (s Service) CanStart() bool { return s.Load != NotFound && s.Load != Masked }

// Failed reports whether the unit ended with a failure, which systemd remembers also after its file is gone.
func (s Service) Failed() bool { return s.Active == "failed" }

// Runs reports whether the unit is started, or about to be.
func (s Service) Runs() bool {
	return !slices.Contains([]string{"", "inactive", "failed", "deactivating"}, s.Active)
}
