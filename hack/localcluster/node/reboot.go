// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/opcrew/opcrew/hack/localcluster/machine"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// Reboot reboots a node, and waits until its operating system runs again with a new boot ID. systemd first stops all
// units. With force it does not: all processes end at once, as after reboot(2).
//
// A node without systemd has no operating system that could reboot, so Reboot ends it and starts it again.
func Reboot(ctx context.Context, st *state.State, name string, force bool) error {
	n, err := st.Node(name)
	if err != nil {
		return err
	}
	if !n.Init.Alive() {
		return fmt.Errorf("%[1]s is down; start it with `localcluster node start %[1]s`", name)
	}
	if !n.Systemd {
		if err := Crash(st, name); err != nil {
			return err
		}
		return Start(ctx, st, name)
	}
	before, err := os.ReadFile(st.BootIDFile(name))
	if err != nil {
		return err
	}
	argv := []string{"systemctl", "reboot"}
	if force {
		argv = append(argv, "--force", "--force")
	}
	cmd, err := machine.Command(ctx, st, name, argv...)
	if err != nil {
		return err
	}
	// The command dies with the node, so its result says nothing. What counts is the new boot.
	out, _ := cmd.CombinedOutput()
	if err := awaitBoot(ctx, st, name, before); err != nil {
		return fmt.Errorf("%s did not reboot: %w: %s", name, err, bytes.TrimSpace(out))
	}
	return AwaitSystem(ctx, st, name)
}

// awaitBoot waits until a node has another boot ID.
func awaitBoot(ctx context.Context, st *state.State, name string, before []byte) error {
	for {
		if now, err := os.ReadFile(st.BootIDFile(name)); err == nil && !bytes.Equal(now, before) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
